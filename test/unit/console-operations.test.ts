// Each operation of the service has a place in the console, or a stated reason why not. A new operation fails here until it has one.
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { operations as served } from '../../broker/api/operations.ts';
import { practiceOperations } from '../../broker/api/service/practice.ts';
import { routes } from '../../broker/console/api/operations.ts';

/** Those of a practice fleet, too: the console has a screen for it. */
const operations = [...served, ...practiceOperations];

const root = new URL('../../broker/console/', import.meta.url).pathname;

/** Folder of the console -> operations that are called there. */
const places: Readonly<Record<string, string>> = {
  components: 'getMaps',
  'screens/account': 'checkAccount getAccount updateAccount resetBreaker',
  'screens/alarms':
    'listAlarms getAlarm getAlarmSummary takeAlarm releaseAlarm shelveAlarm unshelveAlarm closeAlarm addAlarmNote takeAlarms closeAlarms assignAlarm',
  'screens/audit': 'checkAudit',
  'screens/approvals': 'commandLimits approveCommand refuseCommand',
  'screens/cut':
    'commandFeature commandDevices cancelCommand requestDiagnostic withdrawCommand getRequest showServiceCode getAllUsers',
  'screens/devices': `createDevice updateDevice deviceSettings importDevices deleteDevice issueDeviceSecret createEnrolmentCode
    getEnrolmentCodes revokeEnrolmentCode getDevice importDevicesWithSecrets deleteDevices lostVehicles lostVehiclesFor listQuarantine
    getQuarantined dropQuarantined retryQuarantined`,
  'screens/inbox': `getAllPushNotifications getDeviceNotifications setViewed getVapidKey subscribePush registerPush
    unregisterPush readMessages`,
  'screens/live': 'getGeozones',
  'screens/login': 'loginWays',
  'screens/people': `createUser updateUser deleteUser confirmUser changePassword groups updateGroup deleteGroup changeGroupDevices token
    getTokens revokeToken revokeTokens`,
  'screens/releases':
    'createRelease getReleases getRelease getReleaseUnits startReleaseStage stopRelease firmware',
  'screens/reports':
    'reportSummary fleetData getReportSchedules updateReportSchedule deleteReportSchedule sendReport',
  'screens/routes': 'getRoutes routeUpdate deleteRoute',
  'screens/settings': 'getAccountSettings saveAccountSettings saveDeviceSettings',
  'screens/rules': 'getRules updateRule deleteRule testRule tryRule getDeliveries retryDelivery',
  'screens/shares': 'createShare getShares revokeShare',
  'screens/vehicle': `deviceDataRange listCommands reportTrips reportStops readLog setMessages sentMessages diagnostic listRequests
    auditEntries passengerCount updateAddress`,
  'screens/zones': 'createGeozone updateGeozone deleteGeozone getDeviceSettings',
  service: `login loginByCode beginProviderLogin finishProviderLogin beginLoginAgain finishLoginAgain getUser getCommand listApprovals
    getAllDevices diagnosticAll getPracticeFleet actInPractice askInPractice getNotifications getMessages`,
  shell: 'logout getPreferences savePreferences',
};

/** Read by their path and not by a call: a stream, and files that are saved. File -> operations. */
const readByPath: Readonly<Record<string, string>> = {
  'service/stream.ts': 'streamEvents',
  'service/track.ts': 'exportGpx exportCsv exportGeojson',
  // For the person who has a link, without a session: a page of its own.
  'share/follow.ts': 'viewShare shareTrack streamShare',
};

/** Reason -> operations that have no place for it. */
const withoutPlace: Readonly<Record<string, string>> = {
  'For the unit, which calls it with its code': 'enrolDevice',
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

/** All sources below a path of the console, as one text. */
function sourceOf(place: string): string {
  if (place.endsWith('.ts')) return readFileSync(root + place, 'utf8');
  return readdirSync(root + place, { recursive: true })
    .map(String)
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => readFileSync(`${root}${place}/${name}`, 'utf8'))
    .join('\n');
}

describe('an operation of the service', () => {
  it('has one place in the console, or one reason why it has none', () => {
    const named = [places, readByPath, withoutPlace].flatMap(idsOf);
    const ids = operations.map(({ id }) => id);
    expect(ids.filter((id) => !named.includes(id))).toEqual([]);
    expect(named.filter((id) => !ids.includes(id))).toEqual([]);
    expect(named.filter((id, at) => named.indexOf(id) !== at)).toEqual([]);
  });

  it('is called at the place that the table names', () => {
    for (const [place, text] of Object.entries(places)) {
      const source = sourceOf(place);
      const absent = text.split(/\s+/).filter((id) => !source.includes(`'${id}'`));
      expect([place, absent]).toEqual([place, []]);
    }
  });

  it('that the console reads by its path stands there in that file', () => {
    for (const [file, text] of Object.entries(readByPath)) {
      const source = sourceOf(file);
      const paths = operations.filter(({ id }) => text.split(/\s+/).includes(id)).map(({ path }) => path);
      // The format of an export is chosen in the file: its path begins the same, and the format is named.
      const absent = paths.filter((path) =>
        path.startsWith('/export/')
          ? !source.includes('`/export/${format}/') || !source.includes(`'${path.split('/')[2]}'`)
          : !source.includes(path),
      );
      expect([file, absent]).toEqual([file, []]);
    }
  });

  it('is without a place only as long as the console does not call it', () => {
    const called = Object.keys(routes);
    expect(idsOf(withoutPlace).filter((id) => called.includes(id))).toEqual([]);
    expect(called.filter((id) => !idsOf(places).includes(id))).toEqual([]);
  });
});
