// Digital fuel senders of the LLS protocol: frames byte by byte, the faults of lines and senders, and the whole vehicle on one.
import { describe, expect, it } from 'vitest';
import { describeConfig, toAgentConfig } from '../../agent/config.ts';
import { crc8 } from '../../agent/core/crc8.ts';
import { createLls, type LlsReading } from '../../agent/core/fuel/lls.ts';
import { type LlsConfig, llsLevel } from '../../agent/core/fuel/lls-config.ts';
import { llsText } from '../../agent/core/fuel/lls-status.ts';
import { statusOfVehicle } from '../../agent/core/status/status.ts';
import { startLlsReader } from '../../agent/fuel/lls-reader.ts';
import { createVirtualClock, type VirtualClock } from '../../simulator/clock.ts';
import { createSeededEntropy } from '../../simulator/core/random.ts';
import {
  createLlsSenders,
  type LlsFaultKind,
  type LlsSenderOptions,
} from '../../simulator/hardware/lls-sender.ts';
import { createPipe } from '../../simulator/hardware/pipe.ts';
import { statusCodes } from '../../src/core/events/status-codes.ts';
import { agentFileOf, givenOfMachine } from '../support/vehicle/agent-file.ts';
import { createVehicleRig, type VehicleRig } from '../support/vehicle/vehicle-rig.ts';

const line = { baudRate: 19_200, dataBits: 8, parity: 'none', stopBits: 1 } as const;
const configOf = (more: Partial<LlsConfig> = {}): LlsConfig => ({
  port: { path: '/dev/fleet-fuel', ...line },
  addresses: [1],
  full: 4095,
  table: [
    [0, 0],
    [more.full ?? 4095, 1],
  ],
  ...more,
});

const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex.replaceAll(' ', ''), 'hex'));
const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex').toUpperCase();
const sealed = (head: string): string => hexOf(Uint8Array.from([...bytesOf(head), crc8(bytesOf(head))]));

/** What one asked machine shows of these pieces. */
function shown(pieces: readonly string[], more: Partial<LlsConfig> = {}) {
  const lls = createLls(configOf(more), 0);
  lls.ask(1);
  for (const piece of pieces) lls.bytes(bytesOf(piece), 10);
  // What is not whole when the next request is sent is noise.
  lls.ask(1);
  const { senders, portFault: _, ...reading } = lls.reading(20, '');
  return { ...reading, temperatureC: senders[0]?.temperatureC };
}

// Of the makers of UL202 (showdoc.com.cn): a request and an answer of 20 degrees and 1244, one of the periodic mode, and their checksums.
const answer = '3E 01 06 14 DC 04 DC 04 50';
const unasked = '3E 01 07 14 DC 04 DC 04 67';

describe('frames of the LLS protocol', () => {
  it.each([
    [0, '310006A8'],
    [1, '3101066C'],
    [2, '31020639'],
  ])('ask address %i with %s, as published', (address, request) => {
    expect(hexOf(createLls(configOf(), 0).ask(address))).toBe(request);
  });

  const good = { measure: 1244, temperatureC: 20, fault: null, answers: 1, otherAddress: null };
  it.each<[string, readonly string[], number]>([
    ['by itself', [answer], 0],
    ['sent periodically', [unasked], 0],
    ['byte by byte', answer.split(' '), 0],
    ['behind the echo of the request', [`31 01 06 6C ${answer}`], 0],
    ['behind an echo that comes in pieces', ['31 01', `06 6C ${answer}`], 0],
    ['behind 00', [`00 ${answer}`], 1],
    ['behind FF FF', [`FF FF ${answer}`], 2],
    ['behind bytes that look like its beginning', [`3E 3E 01 ${answer}`], 3],
    ['behind the beginning of an answer that was cut', [`3E 01 06 14 ${answer}`], 4],
    ['behind the beginning of a request', [`31 01 06 ${answer}`], 3],
    ['before FF 00', [`${answer} FF 00`], 2],
    ['before bytes that look like a next one', [`${answer} 3E 01 06 14`], 4],
    ['behind a damaged echo', [`31 01 07 6C ${answer}`], 4],
    ['behind a text of the periodic mode', [`463D30414639 ${answer}`], 6],
  ])('are read %s', (_, pieces, noise) => {
    expect(shown(pieces)).toEqual({ ...good, noise });
  });

  const none = { measure: 'unknown', temperatureC: null, fault: null, answers: 0, otherAddress: null };
  it.each<[string, string, object]>([
    ['a wrong checksum', '3E 01 06 14 DC 04 DC 04 51', { noise: 9 }],
    ['a changed level', '3E 01 06 14 DD 04 DC 04 50', { noise: 9 }],
    ['another address', sealed('3E 02 06 14 DC 04 DC 04'), { noise: 0, otherAddress: 2 }],
    ['another command', sealed('3E 01 10 14 DC 04 DC 04'), { noise: 9 }],
    ['a refusal of five bytes', sealed('3E 01 06 01'), { noise: 5 }],
    ['its echo only', '31 01 06 6C', { noise: 0 }],
    ['a cut answer', '3E 01 06 14 DC 04', { noise: 6 }],
    ['text', '463D3041463920743D31412020204E3D303346462E300D0A', { noise: 24 }],
    ['silence', '', { noise: 0 }],
  ])('do not count with %s', (_, bytes, counts) => {
    expect(shown([bytes])).toEqual({ ...none, ...counts });
  });

  it('join no bytes of two answers', () => {
    const lls = createLls(configOf(), 0);
    const [head, tail] = [answer.slice(0, 12), answer.slice(12)];
    lls.ask(1);
    lls.bytes(bytesOf(head), 10);
    lls.ask(1);
    lls.bytes(bytesOf(tail), 1010);
    expect(lls.reading(1020, '')).toMatchObject({ measure: 'unknown', answers: 0 });
  });

  it.each<[number, number, number | null, number?]>([
    // Raw level, raw temperature, measure, top of the scale.
    [0, 0x14, 0],
    [4095, 0x14, 4095],
    [4096, 0x14, null],
    [6500, 0x14, null],
    [7000, 0x14, null],
    [65_535, 0x14, null],
    [1023, 0x14, 1023, 1023],
    [1024, 0x14, null, 1023],
    [6500, 0x14, 6500, 10_000],
    [100, 0xe4, 100],
    [0, 0, null],
  ])('with level %i and temperature byte %i measure %s', (raw, temperature, measure, full = 4095) => {
    const frequency = raw === 0 && temperature === 0 ? 0 : 700;
    const head = [0x3e, 1, 6, temperature, raw & 255, raw >> 8, frequency & 255, frequency >> 8];
    expect(shown([sealed(hexOf(Uint8Array.from(head)))], { full })).toMatchObject({
      measure,
      temperatureC: temperature > 127 ? temperature - 256 : temperature,
      fault: measure === null ? 'no_level' : null,
      answers: 1,
    });
  });
});

describe('the settings of a fuel sender', () => {
  const read = (tables: string) => toAgentConfig(agentFileOf(tables), givenOfMachine);

  it('are a port with standards, and none without it', async () => {
    expect(await read('')).not.toHaveProperty('fuelSender');
    expect(await read('[fuelSender]\nbaud = 9600')).not.toHaveProperty('fuelSender');
    const config = await read('[fuelSender]\nport = "/dev/fleet-fuel"');
    expect(config.fuelSender).toEqual(configOf());
    expect(JSON.stringify(describeConfig(config))).toContain(
      'LLS 1 at /dev/fleet-fuel, 19200 baud, 0 to 4095',
    );
  });

  it('map the scale straight, or by the table of the tank', () => {
    expect(llsLevel(configOf({ full: 1023 }), 1023)).toBe(1);
    const table: [number, number][] = [
      [100, 0],
      [1000, 0.5],
      [4000, 1],
    ];
    expect([0, 100, 550, 1000, 2500, 4095].map((measure) => llsLevel(configOf({ table }), measure))).toEqual([
      0, 0, 0.25, 0.5, 0.75, 1,
    ]);
  });

  const port = '[fuelSender]\nport = "/dev/fleet-fuel"\n';
  const analog =
    '[board.overrides.polls.analog]\nunit = "io"\nfunction = 4\nfirst = 0\ncount = 1\nperiodMs = 1000\n' +
    '[board.overrides.analogs.fuel]\npoll = "analog"\naddress = 0\nscale = 1\noffset = 0\nvalid = [0, 5000]\n';
  it.each([
    ['[fuelSender]\nport = "/dev/fleet-gnss"', 'is gnss.port already'],
    [`${port}table = [[10, 0], [10, 1]]`, 'must rise'],
    [`${port}table = [[0, 0], [5000, 1]]`, 'ends above fuelSender.full (4095)'],
    [port + analog, 'board.overrides.analogs.fuel = false'],
  ])('are refused: %j', async (tables, words) => {
    await expect(read(tables)).rejects.toThrow(words);
  });

  it.each(['[]', '[1, 1]', '[256]', '[-1]', '[1, 2, 3, 4, 5]', '"1"'])('refuse the addresses %s', (list) => {
    expect(() => agentFileOf(`${port}addresses = ${list}`)).toThrow('fuelSender.addresses');
  });
});

/** A reader on a simulated line with its senders. */
function startLine(
  clock: VirtualClock,
  given: {
    readonly config: LlsConfig;
    readonly senders: Omit<LlsSenderOptions, 'clock' | 'send'>;
    readonly onReading?: (reading: LlsReading) => void;
  },
) {
  const pipe = createPipe({
    clock,
    entropy: createSeededEntropy('lls'),
    line,
    onBytes: (bytes) => senders.receive(bytes),
  });
  const senders = createLlsSenders({ clock, ...given.senders, send: (bytes) => void pipe.send(bytes) });
  let last: LlsReading | null = null;
  const reader = startLlsReader({
    config: given.config,
    clock,
    openByteLink: pipe.open,
    log: { info: () => undefined, warn: () => undefined },
    onReading(reading) {
      last = reading;
      given.onReading?.(reading);
    },
  });
  const shows = (): LlsReading => {
    if (last === null) throw new Error('nothing was read');
    return last;
  };
  const run = async (seconds: number): Promise<void> => {
    for (let n = 0; n < seconds; n++) {
      // A port opens between two timers.
      for (let turn = 0; turn < 5; turn++) await Promise.resolve();
      clock.advance(1000);
    }
  };
  return { pipe, senders, reader, run, shows };
}

describe('the reader of fuel senders', () => {
  it('asks once a second and sends nothing but readings', async () => {
    const { senders, run, reader, shows } = startLine(createVirtualClock(0), {
      config: configOf(),
      senders: { level: () => 0.5, temperatureC: () => -7 },
    });
    await run(60);
    expect(senders.commands()).toEqual({ 6: expect.any(Number) as number });
    expect(Math.abs((senders.commands()[6] ?? 0) - 60)).toBeLessThan(3);
    expect(shows()).toMatchObject({ portFault: '', fault: null, measure: 2048, noise: 0 });
    expect(shows().senders[0]?.temperatureC).toBe(-7);
    await reader.close();
    await run(10);
    expect(senders.commands()[6]).toBeLessThan(63);
  });

  it.each<[LlsFaultKind, object]>([
    ['noise', { fault: null, measure: 2048 }],
    ['echo', { fault: null, measure: 2048, noise: 0 }],
    ['periodic', { fault: null, measure: 2048 }],
    ['silent', { fault: 'no_answer', measure: null }],
    ['garble', { fault: 'no_answer', measure: null }],
    ['short', { fault: 'no_answer', measure: null }],
    ['address', { fault: 'no_answer', measure: null, otherAddress: 7 }],
    ['code', { fault: 'no_level', measure: null }],
    ['blank', { fault: 'no_level', measure: null }],
  ])('reads what can be read of a line with %s, then the good line again', async (kind, expected) => {
    const { senders, run, shows } = startLine(createVirtualClock(0), {
      config: configOf(),
      senders: { level: () => 0.5 },
    });
    await run(3);
    senders.setFault(kind);
    await run(10);
    expect(shows()).toMatchObject(expected);
    senders.setFault('none');
    await run(3);
    expect(shows()).toMatchObject({ fault: null, measure: 2048 });
  });

  it('bridges lost answers for five seconds, never with another value', async () => {
    const measures: unknown[] = [];
    const { pipe, run } = startLine(createVirtualClock(0), {
      config: configOf(),
      senders: { level: () => 0.5 },
      onReading: ({ measure }) => void measures.push(measure),
    });
    await run(3);
    pipe.setFaults({ loss: 1 });
    await run(8);
    pipe.setFaults({ loss: 0 });
    await run(3);
    expect(measures.filter((measure, at) => measure !== measures[at - 1])).toEqual([
      'unknown',
      2048,
      'unknown',
      null,
      2048,
    ]);
  });

  it('takes the mean of two senders in one tank, and no level of one alone', async () => {
    const clock = createVirtualClock(0);
    const { run, shows } = startLine(clock, {
      config: configOf({ addresses: [1, 2] }),
      senders: { addresses: [1, 2], level: (address) => (address === 1 ? 0.4 : 0.6) },
    });
    await run(5);
    expect(shows()).toMatchObject({ fault: null, measure: (1638 + 2457) / 2 });
    const lone = startLine(clock, {
      config: configOf({ addresses: [1, 2] }),
      senders: { addresses: [1], level: () => 0.5 },
    });
    await lone.run(8);
    expect(lone.shows()).toMatchObject({ fault: 'no_answer', measure: null });
    const { words } = llsText({ ...lone.shows(), level: null }, false);
    expect(words).toContain('no answer from address 2');
  });

  it('opens a port that is lost again, and knows no level meanwhile', async () => {
    const { pipe, run, shows } = startLine(createVirtualClock(0), {
      config: configOf(),
      senders: { level: () => 0.5 },
    });
    await run(3);
    pipe.unplug();
    await run(2);
    expect(shows()).toMatchObject({
      portFault: expect.stringContaining('/dev/fleet-fuel is not there') as string,
      fault: 'port',
      measure: null,
    });
    pipe.plug();
    await run(4);
    expect(shows()).toMatchObject({ portFault: '', fault: null, measure: 2048 });
  });

  it('reads at another speed than the sender nothing, and says so', async () => {
    const { run, shows } = startLine(createVirtualClock(0), {
      config: configOf({ port: { path: '/dev/fleet-fuel', ...line, baudRate: 9600 } }),
      senders: { level: () => 0.5 },
    });
    await run(10);
    expect(shows()).toMatchObject({ fault: 'no_answer', measure: null });
  });
});

describe('a vehicle with a digital fuel sender', () => {
  async function vehicleOn(level: () => number) {
    const config = configOf();
    const rig = await createVehicleRig({ fuelSender: config });
    const { run, senders, pipe } = startLine(rig.clock, {
      config,
      senders: { level },
      onReading: (reading) => rig.dispatch({ kind: 'fuelSender', reading }),
    });
    return { rig, run, senders, pipe };
  }
  const levelOf = (rig: VehicleRig) => {
    rig.within(() => undefined);
    rig.dispatch({ kind: 'driverMessage', text: 'how much?' });
    return rig.told.at(-1)?.fuelLevel;
  };
  const { FUEL_LEVEL, FUEL_REFILL, FUEL_SENSOR, FUEL_SENSOR_OK, FUEL_THEFT } = statusCodes;
  const codes: readonly number[] = [FUEL_LEVEL, FUEL_REFILL, FUEL_SENSOR, FUEL_SENSOR_OK, FUEL_THEFT].map(
    ({ code }) => code,
  );
  /** Codes of the tank, in order. */
  const fuelOf = ({ told }: VehicleRig) =>
    told.map(({ statusCode }) => statusCode).filter((code) => codes.includes(code));
  const statusOf = (rig: VehicleRig) =>
    statusOfVehicle(rig.state(), {
      nowMs: rig.nowMs(),
      paths: { board: 'b', gnss: 'g' },
      config: rig.config(),
    });

  it('reports level, theft and refill as with an analog one', async () => {
    let level = 0.8;
    const { rig, run } = await vehicleOn(() => level);
    await run(600);
    expect(levelOf(rig)).toBeCloseTo(0.8, 3);
    for (; level > 0.5; level -= 0.005) await run(1);
    await run(600);
    for (; level < 0.9; level += 0.005) await run(1);
    await run(600);
    expect(fuelOf(rig)).toEqual([FUEL_LEVEL.code, FUEL_THEFT.code, FUEL_REFILL.code]);
    const { fuelSender } = statusOf(rig);
    expect(fuelSender?.level).toBeCloseTo(0.9, 2);
    if (fuelSender === null) throw new Error('no sender in the status');
    expect(llsText(fuelSender, false)).toMatchObject({
      level: 'ok',
      words: expect.stringMatching(/^90\.\d % \(address 1: 3\d+ at 21 °C\)$/) as string,
    });
  });

  it.each<['silent' | 'code' | 'unplug', string]>([
    ['silent', 'no answer from address 1'],
    ['code', 'address 1 answers 6500, which is no level'],
    ['unplug', 'cannot be opened'],
  ])(
    'knows no level of a sender that is lost by %s, never zero, and reports the sender',
    async (how, words) => {
      const { rig, run, senders, pipe } = await vehicleOn(() => 0.8);
      rig.board.setSignal('ignition', true);
      await run(120);
      expect(levelOf(rig)).toBeCloseTo(0.8, 3);
      if (how === 'unplug') pipe.unplug();
      else senders.setFault(how);
      await run(60);
      expect(levelOf(rig)).toBeUndefined();
      expect(statusOf(rig).fuelSender?.level).toBeNull();
      const { fuelSender } = statusOf(rig);
      if (fuelSender === null) throw new Error('no sender in the status');
      expect(llsText(fuelSender, false)).toMatchObject({
        level: 'fault',
        words: expect.stringContaining(words) as string,
      });
      if (how === 'unplug') pipe.plug();
      else senders.setFault('none');
      await run(120);
      expect(levelOf(rig)).toBeCloseTo(0.8, 3);
      expect(fuelOf(rig)).toEqual([FUEL_LEVEL.code, FUEL_SENSOR.code, FUEL_SENSOR_OK.code]);
    },
  );

  it('raises nothing when its supply goes with the ignition', async () => {
    const { rig, run, senders } = await vehicleOn(() => 0.8);
    await run(120);
    senders.setFault('silent');
    await run(600);
    expect(fuelOf(rig).filter((code) => code === FUEL_SENSOR.code)).toEqual([]);
    const { fuelSender } = statusOf(rig);
    if (fuelSender === null) throw new Error('no sender in the status');
    expect(llsText(fuelSender, true)).toMatchObject({ level: 'note', todo: '' });
  });

  it('keeps its level while the board is silent', async () => {
    const { rig, run } = await vehicleOn(() => 0.8);
    await run(60);
    rig.board.setFaults({ silent: true });
    await run(60);
    expect(levelOf(rig)).toBeCloseTo(0.8, 3);
  });
});
