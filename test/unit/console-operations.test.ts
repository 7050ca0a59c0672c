// Each operation of the service is called by the console, or this file says why not. A new operation fails here until then.
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { routes } from '../../broker/console/api/operations.ts';
import { demoOperations as operations } from '../../broker/operations.ts';

const root = new URL('../../broker/console/', import.meta.url).pathname;

/** Read by their path and not by a call. File -> operations. */
const readByPath: Readonly<Record<string, string>> = {
  // For the person who has a link, without a session: a page of its own.
  'share/follow.ts': 'viewShare shareTrack streamShare',
};

/** Reason -> operations that have no place for it. */
const withoutPlace: Readonly<Record<string, string>> = {
  'For the unit, which calls it with its code': 'enrolDevice',
  'For the server of other trackers, and for phones': 'forwardTraccar phonePosition phoneLocation',
  "For the service's monitoring: the operator's page shows what waits": 'getFeeds',
  'Another form of what the console calls already': `commandFeatureEngineCutoff updateDeviceEngineCutoff updateDeviceCargoAccess commandSend latestEvent deviceData deviceMetadata
    deviceMetadataRange getDeviceActivations getDeviceActivationsRange activations activationSummary fleetDataRange fleetMetadata`,
  'An operator at a desk records nothing in the name of a vehicle': 'createActivation',
  'Kept for the apps of the former interface: the console shows the live picture': 'getMonitorMetaData',
  'The console judges by the code of the vehicles which of the zones, all of which it has, hold a place or a vehicle':
    'getGeozone getGeozonesAt getGeozonesOfDevice getGeozonesRange',
  'The words of the codes are in the catalogues of the console': 'getStatusCodes',
};

const idsOf = (table: Readonly<Record<string, string>>): readonly string[] =>
  Object.values(table).flatMap((text) => text.split(/\s+/));

const sourceOf = (file: string): string => readFileSync(root + file, 'utf8');

describe('an operation of the service', () => {
  it('is called by the console, read by its path, or has one reason why not', () => {
    const named = [...Object.keys(routes), ...[readByPath, withoutPlace].flatMap(idsOf)];
    const ids = operations.map(({ id }) => id);
    expect(ids.filter((id) => !named.includes(id))).toEqual([]);
    expect(named.filter((id) => !ids.includes(id))).toEqual([]);
    expect(named.filter((id, at) => named.indexOf(id) !== at)).toEqual([]);
  });

  it('that the console can call is called by one of its screens or services', () => {
    const source = readdirSync(root, { recursive: true })
      .map(String)
      .filter((name) => /^(?!api|words).*\.tsx?$/.test(name))
      .map(sourceOf)
      .join('\n');
    expect(Object.keys(routes).filter((id) => !source.includes(`'${id}'`))).toEqual([]);
  });

  it('that the console reads by its path stands there in that file', () => {
    for (const [file, text] of Object.entries(readByPath)) {
      const source = sourceOf(file);
      const paths = operations.filter(({ id }) => text.split(/\s+/).includes(id)).map(({ path }) => path);
      const absent = paths.filter((path) => !source.includes(path));
      expect([file, absent]).toEqual([file, []]);
    }
  });
});
