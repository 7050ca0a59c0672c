// Answers of ELM327 adapters: words, messages of several control units, values by SAE J1979, and that nothing outside of the allow-list is
// ever written, whatever an adapter answers.
import { describe, expect, it } from 'vitest';
import { readElm } from '../../agent/core/obd/elm-answer.ts';
import { createElmLines, decodeElm } from '../../agent/core/obd/elm-lines.ts';
import {
  allowedCommands,
  commandBytes,
  isRequest,
  type ObdCommand,
  type Protocol,
} from '../../agent/core/obd/obd-commands.ts';
import { obdWakeMs, stepObd } from '../../agent/core/obd/obd-dialogue.ts';
import { obdPermission } from '../../agent/core/obd/obd-permission.ts';
import { createObdSession } from '../../agent/core/obd/obd-session.ts';
import {
  codesIn,
  obdSignals,
  pidsIn,
  readPid,
  readStatus,
  supportedIn,
  vinIn,
} from '../../agent/core/obd/obd-signals.ts';
import { createObdValues } from '../../agent/core/obd/obd-values.ts';
import { candumpFrames, tableFrames } from '../support/bus/candump.ts';
import { canFrames, createCar } from '../support/bus/elm-adapter.ts';
import { readShared, sharedData, sharedTitle } from '../support/machine/shared-data.ts';
import { latin1, seededRandom } from '../support/serial/nmea-lines.ts';

const read = (text: string, command: ObdCommand = '0100', protocol: Protocol | null = 6) => {
  const [answer] = decodeElm(createElmLines(), latin1(`${text}>`)).answers;
  if (answer === undefined) throw new Error('no prompt');
  return readElm(answer, { command, protocol });
};
const bytes = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text.replaceAll(' ', ''), 'hex'));
const message = (text: string, source = 0xe8) => ({ source, data: bytes(text) });

describe('lines of an adapter', () => {
  it('are the same however the bytes are cut, without NUL and 0xFC, and end at the prompt', () => {
    const text = '\u0000\u00fc\r\r41 0D 28 \r\r>ELM327 v1.5\r\n>';
    const whole = decodeElm(createElmLines(), latin1(text)).answers;
    let state = createElmLines();
    const pieces = text.split('').flatMap((letter) => {
      const step = decodeElm(state, latin1(letter));
      state = step.state;
      return step.answers;
    });
    expect(pieces).toEqual(whole);
    expect(whole.map(({ lines }) => lines)).toEqual([['41 0D 28'], ['ELM327 v1.5']]);
  });

  it('are limited: a flood without a prompt keeps at most 64 lines of 128 characters, and is marked', () => {
    const flood = `${'7'.repeat(500)}\r`.repeat(500);
    const { state, answers } = decodeElm(createElmLines(), latin1(`${flood}>`));
    expect(state).toEqual(createElmLines());
    expect(answers[0]?.lines).toHaveLength(64);
    expect(answers[0]?.isCut).toBe(true);
    expect(Math.max(...(answers[0]?.lines ?? []).map((line) => line.length))).toBe(128);
  });
});

describe('the words of an adapter', () => {
  it.each([
    ['OK', 'ok'],
    ['?', 'unknown'],
    ['SEARCHING...\rNO DATA', 'no_data'],
    ['SEARCHING...UNABLE TO CONNECT', 'unable'],
    ['BUS INIT: ...ERROR', 'bus_error'],
    ['BUS INIT: ERROR', 'bus_error'],
    ['CAN ERROR', 'bus_error'],
    ['BUS BUSY', 'bus_error'],
    ['FB ERROR', 'bus_error'],
    ['BUFFER FULL', 'bus_error'],
    ['STOPPED', 'stopped'],
    ['LV RESET', 'reset'],
    ['ELM327 v1.5', 'version'],
    ['ACT ALERT', 'alert'],
    ['7E8 06 41 00 <DATA ERROR', 'data_error'],
    ['<RX ERROR', 'data_error'],
  ] as const)('%j is %s', (text, word) => {
    expect(read(text)).toMatchObject({ words: [word], messages: [] });
  });

  it('are skipped before an answer: the echo, SEARCHING..., BUS INIT: ...OK', () => {
    const { messages, words } = read('0100\rSEARCHING...\r7E8 06 41 00 BE 3E B8 11\r');
    expect(words).toEqual([]);
    expect(messages).toEqual([message('4100BE3EB811')]);
    expect(read('BUS INIT: ...OK\r48 6B 10 41 00 BE 3E B8 11 FA', '0100', 3).messages).toEqual([
      message('4100BE3EB811', 0x10),
    ]);
  });
});

describe('messages', () => {
  // ELM327 data sheet, "Multiline Responses".
  const vin = '7E8 10 14 49 02 01 31 44 34\r7E8 21 47 50 30 30 52 35 35\r7E8 22 42 31 32 33 34 35 36';

  it('of several frames are put together, of each control unit apart', () => {
    const { messages, dropped } = read(vin, '0902');
    expect(dropped).toBe(0);
    expect(vinIn(messages)).toBe('1D4GP00R55B123456');
    const [first, second, third] = vin.split('\r');
    const other = canFrames('4902014F5345565F5F20424D53000000000000000000', '7EB');
    const mixed = read([first, other[0], second, other[1], third, ...other.slice(2)].join('\r'), '0902');
    expect(mixed.messages.map(({ source }) => source)).toEqual([0xe8, 0xeb]);
    expect(vinIn(mixed.messages.filter(({ source }) => source === 0xe8))).toBe('1D4GP00R55B123456');
    // The text of a recorded EV, which is no number of a vehicle.
    expect(vinIn(mixed.messages.filter(({ source }) => source === 0xeb))).toBeNull();
  });

  it('with a gap, without a beginning, or with a wrong length are left out and counted', () => {
    const [first, second, third] = vin.split('\r');
    expect(read([first, third].join('\r'), '0902')).toMatchObject({ messages: [], dropped: 1 });
    expect(read([second, third].join('\r'), '0902')).toMatchObject({ messages: [], dropped: 2 });
    expect(read([first, second].join('\r'), '0902')).toMatchObject({ messages: [], dropped: 1 });
    expect(read('7E8 07 41 0D 10')).toMatchObject({ messages: [], dropped: 1 });
    expect(read('7E8 1F FF 41 0D 10 11 12 13')).toMatchObject({ messages: [], dropped: 1 });
  });

  it('of 29 bits are read by their own identifiers, and those that are no control unit are not', () => {
    expect(read('18DAF110 03 41 0D 28', '010D', 7).messages).toEqual([message('410D28', 0x10)]);
    expect(read('7E0 02 01 0D\r123 03 41 0D 28\r7E8 03 41 0D ZZ', '010D').messages).toEqual([]);
  });

  it('of the older protocols have a header and a checksum, and a VIN of five messages', () => {
    const lines = [
      '49 02 01 00 00 00 31',
      '49 02 02 44 34 47 50',
      '49 02 03 30 30 52 35',
      '49 02 04 35 42 31 32',
      '49 02 05 33 34 35 36',
    ];
    const { messages } = read(lines.map((line) => `48 6B 10 ${line} AA`).join('\r'), '0902', 2);
    expect(vinIn(messages)).toBe('1D4GP00R55B123456');
    expect(codesIn(message('43 01 33 00 00 00 00'), 3, false)).toEqual(['P0133']);
  });

  it('of two units of a recorded hybrid are both read (Ircama/ELM327-emulator, issue 45)', () => {
    const { messages } = read('7EA0641208001A001\r7E80641209015B015', '0120');
    expect(messages.map(({ source }) => source)).toEqual([0xea, 0xe8]);
    expect(messages.map((one) => supportedIn(one, 1, 0x20))).toEqual([
      [0x21, 0x30, 0x31, 0x33, 0x40],
      [0x21, 0x24, 0x2c, 0x2e, 0x30, 0x31, 0x33, 0x34, 0x3c, 0x3e, 0x40],
    ]);
  });
});

describe('values by SAE J1979', () => {
  it.each([
    ['410D28', 'speed', 40],
    ['410C1AF8', 'rpm', 1726],
    ['41057B', 'coolant', 83],
    ['412F80', 'fuelLevel', 50.196],
    ['4142371C', 'batteryVolts', 14.108],
    ['411F0258', 'engineRunTime', 600],
    ['415E0046', 'fuelRate', 3.5],
    ['41A60001E240', 'odometer', 12_345.6],
  ] as const)('%s is %s %d', (text, name, value) => {
    const [[pid, data] = [0, new Uint8Array(0)]] = pidsIn(message(text)) ?? [];
    const signal = obdSignals.find((one) => one.pid === pid);
    expect(signal?.name).toBe(name);
    expect(signal === undefined ? null : readPid(signal, data)).toBeCloseTo(value, 2);
  });

  it('of a long request come in any order, and a part that is not complete voids it', () => {
    expect(pidsIn(message('410C1AF80D28'))?.map(([pid]) => pid)).toEqual([0x0c, 0x0d]);
    expect(pidsIn(message('410C1AF80D'))).toBeNull();
    expect(pidsIn(message('41FF00'))).toBeNull();
    expect(pidsIn(message('7F0112'))).toBeNull();
  });

  it('are none where they are markers: an engine speed of 0xFFFF, an odometer or a voltage of 0', () => {
    const values = createObdValues();
    const messages = ['410CFFFF', '41A600000000', '41420000'].map((text) => message(text));
    for (let n = 0; n < 20; n += 1) values.take([{ kind: 'answers', messages }], n * 1000);
    const view = values.view(19_000, 0);
    expect(view.values.map(({ value }) => value)).toEqual([null, null, null]);
    expect(view.engine).toBeNull();
  });

  it('are the lamp and the number of codes, and codes of all systems without padding', () => {
    expect(readStatus(bytes('8307E500'))).toEqual({ isLampOn: true, codes: 3 });
    expect(codesIn(message('43 04 01 33 C1 23 82 01 41 5A'), 3, true)).toEqual([
      'P0133',
      'U0123',
      'B0201',
      'C015A',
    ]);
    expect(codesIn(message('43 00'), 3, true)).toEqual([]);
    expect(codesIn(message('43 02 01 33'), 3, true)).toEqual(['P0133']);
    expect(codesIn(message('47 00'), 3, true)).toBeNull();
  });
});

describe('the permission', () => {
  const on = { value: true, sinceMs: 0 };
  const facts = { ignition: on, isDoubtful: false, supplyV: 12.5 };

  it('is there with an ignition that has been on for 3 s, and never on doubt or a low battery', () => {
    expect(obdPermission(facts, 3000)).toBe('granted');
    expect(obdPermission(facts, 2999)).toBe('ignition_new');
    expect(obdPermission({ ...facts, ignition: { value: false, sinceMs: 0 } }, 60_000)).toBe('ignition_off');
    expect(obdPermission({ ...facts, ignition: { value: null, sinceMs: 0 } }, 60_000)).toBe(
      'ignition_unknown',
    );
    expect(obdPermission({ ...facts, isDoubtful: true }, 60_000)).toBe('ignition_unknown');
    expect(obdPermission({ ...facts, supplyV: 11.7 }, 60_000)).toBe('battery_low');
    expect(obdPermission({ ...facts, supplyV: 23.5 }, 60_000)).toBe('battery_low');
    expect(obdPermission({ ...facts, supplyV: null }, 60_000)).toBe('granted');
  });
});

describe('the allow-list', () => {
  it('holds settings of the adapter and reads of modes 01, 03, 07, 09 and 0A only', () => {
    for (const command of allowedCommands) {
      if (!isRequest(command)) {
        expect(command).toMatch(/^(AT|STI$)/);
        // Headers, raw frames, monitors, bypasses, stored parameters and other adapters' words are not among them.
        expect(command).not.toMatch(
          /^AT(SH|CP|CRA|CF|CM|FC|MA|MP|MR|MT|BD|PP\d|BRD|SI|WM|TA|SR|R0|LP|CTM5|CSM0|SPA|SPB|SPC)/,
        );
        continue;
      }
      expect(command).toMatch(/^(01([0-9A-F]{2}){1,2}1?|03|07|0A|090[02])$/);
    }
    expect(() => commandBytes('04' as ObdCommand)).toThrow('not an allowed command');
    expect(() => commandBytes('' as ObdCommand)).toThrow('not an allowed command');
  });

  it('begins after a silence with a command of which no end is a request', () => {
    for (let from = 0; from < 'ATZ'.length; from += 1) expect('ATZ'.slice(from)).not.toMatch(/^[0-9A-F]+$/);
  });

  it('holds every command that is written in 100,000 steps of random answers, times and permissions', () => {
    const random = seededRandom(20_261_126);
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
    const words = [
      'OK',
      '?',
      'NO DATA',
      'SEARCHING...',
      'UNABLE TO CONNECT',
      'BUS INIT: ...ERROR',
      'STOPPED',
      'CAN ERROR',
    ];
    const texts = [
      ...words,
      'LV RESET',
      'ELM327 v1.4b',
      'ELM327 v2.1',
      'ELM327 v1.5',
      'STN1110 v4.0.4',
      '12.6V',
      '11.0V',
      'A6',
      'A1',
      '7',
      'AA',
      '0',
      '41 00 BE 3E B8 11',
      '00:FF F',
    ];
    const allowed = new Set<string>(allowedCommands);
    const seen = new Set<string>();
    const answerOf = (asked: string): readonly string[] => {
      const { car } = createCar({ speed: Math.floor(random() * 2) * 50, rpm: 900, codes: ['0301'] });
      const isSound = random() >= faultShare;
      const isCar = isSound && asked.startsWith('0');
      const frames = isCar
        ? car(asked.length % 2 === 1 && asked.length > 2 ? asked.slice(0, -1) : asked)
        : null;
      if (frames !== null) return frames;
      if (isSound) {
        if (asked === 'ATZ' || asked === 'ATI') return [pick(['ELM327 v1.4b', 'ELM327 v2.1', 'ELM327 v1.5'])];
        if (asked === 'ATRV') return ['12.6V'];
        if (asked === 'ATDPN') return [pick(['A6', 'A8', 'A3', '6'])];
        if (asked === 'STI') return [pick(['?', 'STN1110 v4.0.4'])];
        if (asked.startsWith('AT')) return ['OK'];
        return ['7E8064100BE3EB811', '41 00 BE 3E B8 11'];
      }
      return Array.from({ length: 1 + Math.floor(random() * 3) }, () =>
        random() < 0.7
          ? pick(texts)
          : Array.from({ length: Math.floor(random() * 30) }, () =>
              pick('0123456789ABCDEF XYZ<'.split('')),
            ).join(''),
      );
    };
    let nowMs = 0;
    /** Of the answers of one session. */
    let faultShare = 0;
    let wrong = 0;
    let state = createObdSession(nowMs, null);
    const phases = new Set<string>();
    for (let n = 0; n < 100_000; n += 1) {
      if (state.phase === 'ended') {
        faultShare = pick([0.01, 0.05, 0.3]);
        state = createObdSession(nowMs, random() < 0.5 ? state.protocol : null);
      }
      const permission =
        random() < 0.9 ? 'granted' : pick(['ignition_off', 'ignition_unknown', 'battery_low'] as const);
      const isAnswer = random() < (state.asked === null ? 0.02 : 0.98 - faultShare / 4);
      if (!isAnswer)
        nowMs +=
          Math.min(70_000, Math.max(0, obdWakeMs(state, nowMs) - nowMs)) * (random() < 0.2 ? random() : 1);
      else nowMs += Math.floor(random() * 200);
      const before = state;
      const step = stepObd(
        state,
        isAnswer
          ? {
              kind: 'answer',
              answer: { lines: answerOf(state.asked?.command ?? 'ATZ'), isCut: random() < 0.02 },
            }
          : { kind: 'time' },
        { nowMs, permission },
      );
      state = step.state;
      phases.add(state.phase);
      if (step.command === null) continue;
      seen.add(step.command);
      // Without the prompt of the command before only the reset is written.
      const hasPrompt = before.asked === null || isAnswer || step.command === 'ATZ';
      const written = String.fromCharCode(...commandBytes(step.command));
      const isListed = allowed.has(step.command) && written === `${step.command}\r`;
      if (permission !== 'granted' || !isListed || !hasPrompt) wrong += 1;
    }
    expect(wrong).toBe(0);
    expect(phases).toEqual(new Set(['reset', 'setup', 'search', 'learn', 'poll', 'ended']));
    expect(seen.size).toBeGreaterThan(35);
  }, 120_000);
});

const kona = 'can/kona-ev-2021-elm327-on-dcan.csv.gz';

describe.skipIf(sharedData(kona) === null)(
  sharedTitle('a recorded electric car that an ELM327 asked', kona),
  () => {
    const frames = () =>
      Buffer.from(readShared(kona))
        .toString('latin1')
        .trim()
        .split('\n')
        .slice(1)
        .map((line) => line.split(','))
        .map(([, id = '', , , length = '0', ...data]) => ({
          id: id.slice(-3),
          data: data.slice(0, Number(length)).join('').trim(),
        }));

    it('offers two identifiers, gives no VIN and no value, and nothing is invented', () => {
      const values = createObdValues();
      const offered = new Set<number>();
      let bitmaps = 0;
      let asked = '';
      let lines: string[] = [];
      let atMs = 0;
      const end = (): void => {
        const command = asked.slice(2, 6) as ObdCommand;
        const { messages } = read(lines.join('\r'), command);
        lines = [];
        atMs += 250;
        if (!asked.startsWith('02')) return;
        for (const one of messages) {
          const pids = supportedIn(one, 1, 0x00);
          if (pids !== null) bitmaps += 1;
          for (const pid of pids ?? []) offered.add(pid);
        }
        const mode = asked.slice(2, 4);
        if (mode === '01') values.take([{ kind: 'answers', messages }], atMs);
        if (mode === '09') expect(vinIn(messages)).toBeNull();
      };
      for (const { id, data } of frames()) {
        if (id === '7DF') {
          end();
          asked = data;
        } else if (/^7E[89A-F]$/.test(id)) lines.push(`${id}${data}`);
      }
      end();
      expect(bitmaps).toBeGreaterThan(600);
      expect([...offered].sort((a, b) => a - b)).toEqual([0x01, 0x20]);
      const { movement, engine, vin, values: shown } = values.view(atMs, 0);
      expect({ movement, engine, vin }).toEqual({ movement: null, engine: null, vin: null });
      expect(shown.filter(({ name }) => name === 'speed' || name === 'rpm')).toEqual([]);
    });
  },
);

/** `[identifier, length, bytes]` of every message of several frames, by tshark. */
type Reassembled = readonly [string, number, string];

const isotp = 'can/expected-isotp-tshark.json';

describe.skipIf(sharedData(isotp) === null)(sharedTitle('messages that tshark put together', isotp), () => {
  const text = (file: string): string => Buffer.from(readShared(file)).toString('latin1');

  it.each([
    { file: 'can/ev-uds-isotp.log', framesOf: candumpFrames },
    { file: kona, framesOf: tableFrames },
  ])('are put together of the lines of an adapter, of $file', ({ file, framesOf }) => {
    const expected = (JSON.parse(text(isotp)) as Readonly<Record<string, readonly Reassembled[]>>)[
      file.slice('can/'.length)
    ];
    const found = new Map<string, Reassembled[]>();
    let lines: string[] = [];
    const end = (): void => {
      for (const { source, data } of read(lines.join('\r'), '0100').messages) {
        const id = `7${source.toString(16).toUpperCase()}`;
        const bytesText = Buffer.from(data).toString('hex').toUpperCase();
        // A message of one frame is not put together.
        if (data.length > 7) found.set(id, [...(found.get(id) ?? []), [id, data.length, bytesText]]);
      }
      lines = [];
    };
    for (const { frame } of framesOf(text(file))) {
      const id = frame.id.toString(16).toUpperCase().padStart(3, '0');
      const isFlowControl = (frame.data[0] ?? 0) >>> 4 === 3;
      if (/^7E[89A-F]$/.test(id)) lines.push(`${id}${Buffer.from(frame.data).toString('hex')}`);
      else if (!isFlowControl) end();
    }
    end();
    // A reader of OBD listens to the control units of ISO 15765-4 only.
    const known = (expected ?? []).filter(([id]) => /^7E[89A-F]$/.test(id));
    expect(known.length).toBeGreaterThan(4);
    for (const id of new Set(known.map(([one]) => one)))
      expect(found.get(id)).toEqual(known.filter(([one]) => one === id));
    expect([...found.values()].flat()).toHaveLength(known.length);
  });
});
