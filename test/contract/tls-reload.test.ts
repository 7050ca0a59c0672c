// Certificates of a running broker at SIGHUP: each listener is renewed completely or not at all, and independently of the others.
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { inspectTls, openTls } from '../../broker/cli/listening.ts';
import { loadBrokerConfig } from '../../broker/config/broker-config.ts';
import { createSystemClock } from '../../src/adapters/system.ts';
import type { Log, LogFields } from '../../src/ports.ts';
import { createAuthority } from '../support/broker/certificates.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';

const dayMs = 24 * 3600_000;
const folder = temporaryFolder('tls-reload');
const at = (name: string): string => join(folder, name);
const authority = createAuthority(folder);
mkdirSync(at('other'));
const foreign = createAuthority(at('other'));
/** Good for 30 days, while the authority itself is for 2. */
const old = authority.issue('old', 30);
const renewed = authority.issue('renewed', 30);
const shortLived = authority.issue('short', 3);

function use(listener: 'http' | 'mqtt', from: typeof old): void {
  copyFileSync(from.certFile, at(`${listener}.crt`));
  copyFileSync(from.keyFile, at(`${listener}.key`));
  chmodSync(at(`${listener}.key`), 0o600);
}

const { value: config } = loadBrokerConfig({
  file: null,
  env: {},
  flags: {
    ...Object.fromEntries(
      ['http', 'mqtt'].flatMap((name) => [
        [`${name}-tls-cert-file`, at(`${name}.crt`)],
        [`${name}-tls-key-file`, at(`${name}.key`)],
      ]),
    ),
    'mqtt-tls-client-ca-file': at('bundle.pem'),
    'mqtt-tls-client-cert': 'optional',
    'enrolment-mqtt-ca-file': at('trusted.pem'),
  },
});

beforeEach(() => {
  use('http', old);
  use('mqtt', old);
  for (const name of ['bundle.pem', 'trusted.pem']) copyFileSync(authority.caFile, at(name));
});

/** The keeper at a clock that is this many days ahead, and its log. */
function open(daysAhead = 0) {
  const lines: (readonly [string, LogFields | undefined])[] = [];
  const write = (msg: string, fields?: LogFields): void => void lines.push([msg, fields]);
  const system = createSystemClock();
  const clock = { ...system, utcMs: () => Date.now() + daysAhead * dayMs };
  const log: Log = { debug: write, info: write, warn: write, error: write, with: () => log };
  const keeper = openTls(config, { clock, log });
  onTestFinished(() => keeper.close());
  const reload = () => {
    lines.length = 0;
    keeper.reload(() => undefined);
    const { http, mqtt, vehicleCa } = keeper.current();
    const lineOf = (name: string) => lines.find(([msg]) => msg === name)?.[1];
    return {
      isRenewed: { http: http?.cert === renewed.cert, mqtt: mqtt?.cert === renewed.cert },
      vehicleCa,
      clientCa: mqtt?.clientCa,
      refused: lineOf('certificate_reload_refused'),
      reloaded: lineOf('certificates_reloaded'),
      expired: lines
        .filter(([msg]) => msg === 'certificate_not_valid')
        .map(([, fields]) => fields?.['setting']),
    };
  };
  return reload;
}

it('renews every listener when all files are good', () => {
  const reload = open();
  use('http', renewed);
  use('mqtt', renewed);
  const done = reload();
  expect(done.isRenewed).toEqual({ http: true, mqtt: true });
  expect(done.refused).toBeUndefined();
});

it('takes an authority that has expired as a start does, and says so: the others of a bundle go on', () => {
  const reload = open(3);
  use('http', renewed);
  use('mqtt', renewed);
  const done = reload();
  expect(done.isRenewed).toEqual({ http: true, mqtt: true });
  expect(done.refused).toBeUndefined();
  expect(done.expired).toEqual(['mqtt.tls.clientCaFile', 'enrolment.mqttCaFile']);
});

it.each([
  ['a key of another certificate', () => copyFileSync(foreign.issue('x', 2).keyFile, at('mqtt.key')), 'mqtt'],
  ['a bundle without a certificate', () => writeFileSync(at('bundle.pem'), 'nothing'), 'mqtt'],
  ['a key that others can read', () => chmodSync(at('mqtt.key'), 0o644), 'mqtt'],
  ['no authority for vehicles', () => writeFileSync(at('trusted.pem'), ''), 'enrolment'],
])('keeps what one listener had and renews the other, with %s', (_what, spoil, part) => {
  const reload = open();
  use('http', renewed);
  use('mqtt', renewed);
  spoil();
  const done = reload();
  expect(done.isRenewed).toEqual({ http: true, mqtt: part !== 'mqtt' });
  expect(done.refused).toMatchObject({ parts: [part] });
  expect(done.vehicleCa).not.toBeNull();
  expect(done.clientCa).not.toBeNull();
  expect(done.reloaded?.['parts']).toContain('http');
});

it("refuses a listener's own certificate that is not good now, and no other listener's", () => {
  const reload = open(5);
  use('http', renewed);
  use('mqtt', shortLived);
  const done = reload();
  expect(done.isRenewed.http).toBe(true);
  expect(done.refused).toMatchObject({ parts: ['mqtt'], reason: expect.stringContaining('has expired on') });
});

it('is inspected with every fault, and what has expired as a note', () => {
  copyFileSync(foreign.issue('y', 2).keyFile, at('http.key'));
  writeFileSync(at('trusted.pem'), '');
  const { faults, notes } = inspectTls(config, Date.now() + 3 * dayMs);
  expect(faults.map(String)).toEqual([
    expect.stringContaining('http.tls.keyFile'),
    expect.stringContaining('enrolment.mqttCaFile'),
  ]);
  expect(notes).toEqual([expect.stringMatching(/mqtt\.tls\.clientCaFile .* has expired on/)]);
});
