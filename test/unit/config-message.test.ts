// A configuration on its way: cut, signed, lost, doubled, put together, inflated; and any other input.
import { createHash } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { agentFileSchema, standardSettings } from '../../agent/config.ts';
import { createConfigInbox, unpackConfig } from '../../agent/config-unpacking.ts';
import { type ReceivedConfig } from '../../agent/core/kernel/vehicle-types.ts';
import { packConfig } from '../../broker/rollout/config-compiler.ts';
import { createSigner, createVerifier, generateSigningKey } from '../../src/adapters/signing.ts';
import { canonicalJson } from '../../src/core/canonical-json.ts';
import { mergeChanges, type SettingsChange } from '../../src/core/settings/change.ts';
import { type Settings, settingsSchema } from '../../src/core/settings/settings.ts';
import { type DecodeZones, readConfigContent } from '../../src/core/wire/config-content.ts';
import {
  type Assembly,
  type ConfigPart,
  configLimits,
  decodeConfigPart,
  splitPacked,
  takePart,
} from '../../src/core/wire/config-message.ts';
import { encodeJsonMessage, signedTypes } from '../../src/core/wire/wire.ts';
import { createBenchLog, jsonBytes } from '../support/broker/broker-bench.ts';

const noZones: DecodeZones<never> = (zones) =>
  zones.length === 0
    ? { kind: 'ok', zones: [] }
    : { kind: 'faults', faults: [{ pointer: '/0', message: 'no' }] };
const mine = { accountID: 'acme', deviceID: 'truck-1', boot: 'b1' } as const;
const hashOf = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex');

function partsOf(text: string, changes: Partial<ConfigPart> = {}): readonly ConfigPart[] {
  const slices = splitPacked(deflateRawSync(Buffer.from(text)).toString('base64'));
  return slices.map((data, at) => ({
    ...mine,
    version: 3,
    sha256: hashOf(text),
    part: at + 1,
    parts: slices.length,
    data,
    ...changes,
  }));
}

/** Text that hardly deflates, of some length. */
const noise = (length: number, seed: number): string => {
  let text = '';
  for (let at = 0; text.length < length; at++) text += hashOf(`${seed} ${at}`);
  return text.slice(0, length);
};

describe('the parts of a configuration', () => {
  it('make the whole again, in any order, doubled, and mixed with an older version', () => {
    fc.assert(
      fc.property(
        fc.nat({ max: 60_000 }),
        fc.nat(),
        fc.array(fc.nat(), { maxLength: 30 }),
        (length, seed, more) => {
          const text = noise(length + 1, seed);
          const parts = partsOf(text);
          const older = partsOf(noise(9000, seed + 1), { version: 2 });
          const order = [...parts, ...more.map((at) => parts[at % parts.length]), ...older]
            .flatMap((part) => (part === undefined ? [] : [part]))
            .sort((one, other) =>
              hashOf(`${seed}${one.part}${one.version}`) < hashOf(`${seed}${other.part}${other.version}`)
                ? -1
                : 1,
            );
          // The first of the new version must come, or the old one is whole first: both are right.
          let assembly: Assembly | null = null;
          const wholes: ReceivedConfig[] = [];
          for (const part of order) {
            const decoded = decodeConfigPart(encodeJsonMessage(part));
            expect(decoded).toEqual(part);
            const step = takePart(assembly, part);
            assembly = step.assembly;
            if (step.whole !== null) wholes.push(unpackConfig(step.whole));
          }
          const ours = wholes.filter(({ version }) => version === 3);
          expect(ours.length).toBeGreaterThan(0);
          for (const whole of ours) expect(whole).toMatchObject({ kind: 'received', text });
        },
      ),
      { numRuns: 60 },
    );
  });

  it('of the largest size with the longest names still pass a verifier', () => {
    const id = 'x'.repeat(64);
    const body: ConfigPart = {
      accountID: id,
      deviceID: id,
      boot: id,
      version: configLimits.versionMost,
      sha256: 'f'.repeat(64),
      part: 64,
      parts: 64,
      data: 'A'.repeat(configLimits.dataCharacters),
    };
    const key = generateSigningKey();
    const token = createSigner(key.privatePem).sign(encodeJsonMessage(body), signedTypes.config);
    const verified = createVerifier(key.publicKey).verify(token, signedTypes.config);
    expect(token.length).toBeLessThanOrEqual(16 * 1024);
    expect(verified === null ? null : decodeConfigPart(verified)).toEqual(body);
    expect(createVerifier(key.publicKey).verify(token, signedTypes.command)).toBeNull();
  });

  it('that are none are refused, whatever they are', () => {
    const [good] = partsOf('{}');
    const wrong: Partial<Record<keyof ConfigPart, unknown>>[] = [
      { version: 0 },
      { version: 2 ** 49 },
      { version: '3' },
      { sha256: 'A'.repeat(64) },
      { sha256: 'a'.repeat(63) },
      { part: 0 },
      { part: 2 },
      { parts: 65, part: 65 },
      { data: '' },
      { data: '=AAA' },
      { data: 'A'.repeat(configLimits.dataCharacters + 4) },
      { boot: 'a b' },
      { accountID: undefined },
    ];
    for (const change of wrong)
      expect(decodeConfigPart(jsonBytes({ ...good, ...change })), JSON.stringify(change)).toBeNull();
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => void decodeConfigPart(bytes)));
    fc.assert(fc.property(fc.jsonValue(), (value) => decodeConfigPart(jsonBytes(value)) === null));
  });
});

describe('the vehicle', () => {
  const key = generateSigningKey();
  const inbox = () => {
    const received: ReceivedConfig[] = [];
    const log = createBenchLog();
    const { handle } = createConfigInbox({
      verifier: createVerifier(key.publicKey),
      log,
      mine,
      onConfig: (config) => void received.push(config),
    });
    const send = (part: ConfigPart, type: string = signedTypes.config, pem = key.privatePem) =>
      handle(createSigner(pem).sign(encodeJsonMessage(part), type));
    return { received, log, send };
  };

  it('takes only what is signed as a configuration, by its broker, for itself and this boot', () => {
    const [part] = partsOf('{"settings":{},"zones":[]}');
    if (part === undefined) throw new Error('no part');
    const { received, log, send } = inbox();
    send(part, signedTypes.command);
    send(part, signedTypes.config, generateSigningKey().privatePem);
    for (const other of [{ accountID: 'rival' }, { deviceID: 'truck-2' }, { boot: 'b0' }])
      send({ ...part, ...other });
    expect(received).toEqual([]);
    expect(log.lines.map(({ level }) => level)).toEqual(['error', 'error', 'error', 'error', 'error']);
    send(part);
    expect(received).toMatchObject([{ kind: 'received', version: 3 }]);
  });

  it('inflates a zip bomb no further than the size limit, and refuses it', () => {
    const bomb = deflateRawSync(Buffer.alloc(300 * 1024 * 1024));
    const slices = splitPacked(bomb.toString('base64'));
    expect(slices.length).toBeLessThanOrEqual(configLimits.parts);
    const { received, send } = inbox();
    for (const [at, data] of slices.entries())
      send({ ...mine, version: 3, sha256: 'a'.repeat(64), part: at + 1, parts: slices.length, data });
    // It is given up at the limit, and not after all of it was inflated.
    const reason = expect.stringContaining(`larger than ${configLimits.wholeBytes} bytes`);
    expect(received).toMatchObject([{ kind: 'refused', version: 3, reason }]);
  });

  it('refuses a whole whose hash does not fit, that is no deflated data, or no UTF-8', () => {
    const packed = (bytes: Buffer): string => deflateRawSync(bytes).toString('base64');
    const notText = Buffer.from([0xff, 0xfe, 0x00]);
    const wholes = [
      { packed: packed(Buffer.from('{}')), sha256: 'a'.repeat(64) },
      { packed: Buffer.from('what is this').toString('base64'), sha256: 'a'.repeat(64) },
      { packed: packed(notText), sha256: hashOf(notText) },
    ];
    for (const whole of wholes) expect(unpackConfig({ version: 1, ...whole }).kind).toBe('refused');
  });
});

const settingsChange: fc.Arbitrary<SettingsChange> = fc
  .record(
    {
      movingS: fc.integer({ min: 1, max: 3600 }),
      stoppedS: fc.integer({ min: 10, max: 86_400 }),
      heartbeatS: fc.integer({ min: 30, max: 86_400 }),
    },
    { requiredKeys: [] },
  )
  .map((reporting) => (Object.keys(reporting).length === 0 ? {} : { reporting }));

const read = (text: string) => readConfigContent(text, { base: standardSettings, decodeZones: noZones });

describe('a content', () => {
  it('has one canonical text, in whatever order it was written', async () => {
    const one = {
      zones: [{ b: 1, a: [2, { d: -0, c: null }] }],
      settings: { reporting: { stoppedS: 20, movingS: 5 } },
    };
    expect(canonicalJson(one)).toBe(
      '{"settings":{"reporting":{"movingS":5,"stoppedS":20}},"zones":[{"a":[2,{"c":null,"d":0}],"b":1}]}',
    );
    await fc.assert(
      fc.asyncProperty(
        settingsChange,
        fc.array(fc.jsonValue(), { maxLength: 3 }),
        async (settings, zones) => {
          const made = await packConfig(settings, canonicalJson(zones));
          expect(made).toMatchObject({
            kind: 'ok',
            sha256: hashOf(canonicalJson({ settings, zones })),
          });
          expect(JSON.parse(canonicalJson(zones))).toEqual(JSON.parse(JSON.stringify(zones)));
        },
      ),
      { numRuns: 100 },
    );
  });

  it('overrides the file of the installer, and lists what it set', () => {
    const text = canonicalJson({ settings: { reporting: { movingS: 5 } }, zones: [] });
    const base = {
      ...standardSettings,
      reporting: { ...standardSettings.reporting, movingS: 7, stoppedS: 77 },
    };
    const verdict = readConfigContent(text, { base, decodeZones: noZones });
    expect(verdict).toMatchObject({
      kind: 'ok',
      settings: { reporting: { movingS: 5, stoppedS: 77 } },
      chosen: ['reporting.movingS'],
    });
  });

  it('is refused whole for one value out of its limits, in every table and member', () => {
    for (const [table, { properties }] of Object.entries(settingsSchema.properties)) {
      for (const [member, schema] of Object.entries(
        properties as Record<string, { minimum?: number; maximum?: number }>,
      )) {
        const values: unknown[] = ['5', null, [], {}];
        if (schema.minimum !== undefined) values.push(schema.minimum - 1, Number.MIN_SAFE_INTEGER);
        if (schema.maximum !== undefined) values.push(schema.maximum + 1, 1e308);
        for (const value of values) {
          const text = JSON.stringify({ settings: { [table]: { [member]: value } }, zones: [] });
          expect(read(text), text).toMatchObject({
            kind: 'faults',
            faults: [{ pointer: expect.stringContaining(`/settings/${table}/${member}`) as string }],
          });
        }
      }
    }
  });

  it('reaches nothing but settings: no wiring, no storage, no broker, no rule of the cut-off', () => {
    const tables = [
      ...Object.keys(agentFileSchema.properties),
      'protection',
      'interlock',
      'interlockLimits',
      'commands',
      'relays',
      '__proto__',
      'constructor',
      'toString',
    ].filter((table) => !Object.hasOwn(settingsSchema.properties, table));
    for (const table of ['device', 'broker', 'storage', 'board', 'gnss', 'log', 'protection'])
      expect(tables).toContain(table);
    for (const table of tables) {
      for (const content of [{}, { a: 1 }]) {
        const settings = `{${JSON.stringify(table)}:${JSON.stringify(content)}}`;
        expect(read(`{"settings":${settings},"zones":[]}`), settings).toMatchObject({ kind: 'faults' });
        expect(read(`{${JSON.stringify(table)}:1,"settings":{},"zones":[]}`)).toMatchObject({
          kind: 'faults',
        });
      }
    }
    for (const table of Object.keys(settingsSchema.properties)) {
      for (const member of ['cutMode', 'ignitionOffMs', 'standstillKmh', '__proto__'])
        expect(read(`{"settings":{"${table}":{"${member}":1}},"zones":[]}`)).toMatchObject({
          kind: 'faults',
        });
    }
  });

  it('never makes the reader throw', () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => void read(text)));
    expect(read('['.repeat(1_000_000))).toMatchObject({ kind: 'faults' });
    expect(read(`{"settings":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}}`)).toMatchObject({
      kind: 'faults',
    });
  });

  it('that two layers chose has the members of both, the upper one first', () => {
    fc.assert(
      fc.property(settingsChange, settingsChange, (under, over) => {
        const merged = mergeChanges(under, over);
        const flat = (change: SettingsChange): Settings['reporting'] =>
          ({ ...change.reporting }) as Settings['reporting'];
        expect(flat(merged)).toEqual({ ...flat(under), ...flat(over) });
      }),
    );
  });

  it('that is too long is refused with the reason when it is made', async () => {
    const zones = (length: number): string => `["${noise(length, 1)}"]`;
    expect(await packConfig({}, zones(600_000))).toMatchObject({ kind: 'ok' });
    expect(await packConfig({}, zones(1_500_000))).toMatchObject({
      kind: 'fault',
      fault: expect.stringContaining('packed') as string,
    });
    expect(await packConfig({}, zones(2_100_000))).toMatchObject({
      kind: 'fault',
      fault: expect.stringContaining('2048 KiB') as string,
    });
  });
});
