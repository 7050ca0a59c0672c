// Other people's suites for MQTT 3.1.1 servers, against our reader in front of aedes and against aedes alone. They are not
// part of this repository: FLEETWARD_TEST_MQTT_SUITES names a folder with checkouts of them, `paho` (eclipse/paho.mqtt.testing)
// and `mosquitto` (eclipse-mosquitto/mosquitto).
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { playSequence, readSequences } from '../support/mqtt/mosquitto-sequences.ts';
import { startOpenMqtt } from '../support/mqtt/open-mqtt.ts';

const folder = process.env['FLEETWARD_TEST_MQTT_SUITES'] ?? '';
const paho = join(folder, 'paho/interoperability');
const mosquitto = join(folder, 'mosquitto');
const hasPaho = folder !== '' && existsSync(join(paho, 'client_test.py'));
const hasMosquitto = folder !== '' && existsSync(join(mosquitto, 'test/broker/data'));
const why = (has: boolean, name: string): string =>
  has ? '' : ` [skipped: FLEETWARD_TEST_MQTT_SUITES names no folder with ${name}]`;

/**
 * Sequences that ask for something else than the specification, or for what the library cannot give, each with its reason.
 * Any other that fails is a fault of ours.
 */
const known = new Map<string, string>([
  ...['10 ok ', '14 ok '].map(
    (name) => [`v3.1   CONNECT ${name}`, 'flags that MQTT 3.1 ignored and 3.1.1 reserves'] as const,
  ),
  ...[
    'v3.1   CONNECT 10 proto ver 2',
    'v3.1   CONNECT 10 proto ver 6',
    'v3.1.1 CONNECT 10 proto ver 2 [MQTT-3.1.2-2]',
    'v3.1.1 CONNECT 10 proto ver 6 [MQTT-3.1.2-2]',
    'v3.1.1 CONNECT 10 missing keepalive',
  ].map((name) => [name, 'wants the answers of MQTT 5; 3.1.1 says CONNACK 1 for another level'] as const),
  ...[
    'QoS 1 receive ok',
    'QoS 1 PUBLISH-PUBREC',
    'QoS 1 PUBLISH-PUBCOMP',
    'QoS 2 receive ok',
    'QoS 2 PUBLISH-PUBACK',
    'QoS 2 PUBLISH-PUBCOMP',
    'QoS 2 PUBLISH-PUBREC-PUBREL-PUBACK',
    'QoS 2 PUBLISH-PUBREC-PUBREL-PUBREC',
  ].map(
    (name) => [`v3.1.1 FLOW ${name}`, 'wants packet ids that start at 1; aedes starts anywhere'] as const,
  ),
  ...['self publish qos1', 'self publish qos2', 'retain as normal qos1', 'retain as normal qos2'].map(
    (name) => [`v3.1.1 OTHER subpub ${name}`, 'wants delivery before PUBACK; the order is free'] as const,
  ),
  ['v3.1.1 PUBLISH 34 QoS 2 Dup flow*3', 'a limit of Mosquitto on how often a packet id may come again'],
]);

interface PahoResult {
  readonly passed: number;
  readonly failed: number;
  readonly output: string;
}

/** Its own `main` does not start on a newer Python, so the module is loaded and its globals are set as it would. */
const pahoMain = `
import sys, unittest, logging
logging.getLogger().setLevel(logging.ERROR)
import client_test as suite
suite.host, suite.port = '127.0.0.1', int(sys.argv[1])
suite.topics = ('TopicA', 'TopicA/B', 'Topic/C', 'TopicA/C', '/TopicA')
suite.wildtopics = ('TopicA/+', '+/C', '#', '/#', '/+', '+/+', 'TopicA/#')
suite.nosubscribe_topics = ('test/nosubscribe',)
result = unittest.TextTestRunner(verbosity=2).run(unittest.defaultTestLoader.loadTestsFromTestCase(suite.Test))
bad = {id(case) for case, _ in result.failures + result.errors}
print('FIGURES', result.testsRun - len(bad), len(bad))
`;

async function runPaho(port: number): Promise<PahoResult> {
  const child = spawn('python3', ['-c', pahoMain, String(port)], { cwd: paho, timeout: 240_000 });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => void (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => void (output += text));
  await new Promise((resolve) => child.once('close', resolve));
  const [, passed, failed] = /FIGURES (\d+) (\d+)/.exec(output) ?? [];
  return { passed: Number(passed), failed: Number(failed), output };
}

interface Tally {
  readonly total: number;
  readonly failures: readonly (readonly [name: string, failure: string])[];
}

async function playAll(isBare: boolean): Promise<Tally> {
  const server = await startOpenMqtt(isBare);
  const failures: [string, string][] = [];
  const sequences = readSequences(mosquitto);
  for (const [index, sequence] of sequences.entries()) {
    const failure = await playSequence(server.port, sequence, index);
    if (failure !== null) failures.push([sequence.name, failure]);
  }
  await server.close();
  return { total: sequences.length, failures };
}

describe.skipIf(!hasPaho)(`paho.mqtt.testing, client_test${why(hasPaho, 'paho')}`, () => {
  test.each([
    ['our reader before aedes', false],
    ['aedes alone', true],
  ])('%s', { timeout: 300_000 }, async (name, isBare) => {
    const server = await startOpenMqtt(isBare, isBare ? {} : undefined);
    const { passed, failed, output } = await runPaho(server.port);
    await server.close();
    console.log(`paho client_test, ${name}: ${passed} of ${passed + failed}`);
    if (isBare) expect(failed).toBeGreaterThan(0);
    else expect([passed, failed], output.slice(-4000)).toEqual([10, 0]);
  });
});

describe.skipIf(!hasMosquitto)(`Mosquitto’s byte-level sequences${why(hasMosquitto, 'mosquitto')}`, () => {
  test('pass with our reader before aedes, but for those listed with their reasons', async () => {
    const { total, failures } = await playAll(false);
    console.log(
      `mosquitto sequences, our reader before aedes: ${total - failures.length} of ${total}; not:\n`,
      failures.map(([name, failure]) => `${name}: ${failure} (${known.get(name) ?? 'a fault'})`).join('\n '),
    );
    // 2.0.18 has 270 of these, 2.1.2 has 292, and there will be more.
    expect(total).toBeGreaterThanOrEqual(270);
    expect(failures.filter(([name]) => !known.has(name))).toEqual([]);
  });

  test('fail in many places with aedes alone', async () => {
    const { total, failures } = await playAll(true);
    console.log(`mosquitto sequences, aedes alone: ${total - failures.length} of ${total}`);
    expect(failures.length).toBeGreaterThan(known.size);
  });
});
