// What the reader of SLCAN lines accepts, rejects and survives, and which commands an opening writes.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type CanFrame,
  createSlcanState,
  decodeSlcan,
  slcanLineMost,
} from '../../agent/core/bus/slcan-line.ts';
import {
  beginOpening,
  bitRates,
  type OpeningOptions,
  openingCommands,
  openingWakeMs,
  stepOpening,
} from '../../agent/core/bus/slcan-opening.ts';
import { slcanLine } from '../../simulator/hardware/j1939-frames.ts';
import { createSlcanAdapter, type SlcanDialect } from '../../simulator/hardware/slcan-adapter.ts';
import { latin1 } from '../support/serial/nmea-lines.ts';

const decode = (text: string) => decodeSlcan(createSlcanState(), latin1(text));
const frame = (id: number, ...data: number[]): CanFrame => ({
  id,
  isExtended: id > 0x7ff,
  data: Uint8Array.from(data),
});

const frames = fc
  .record({ isExtended: fc.boolean(), raw: fc.nat(0x1fffffff), data: fc.uint8Array({ maxLength: 8 }) })
  .map(({ isExtended, raw, data }): CanFrame => ({ id: isExtended ? raw : raw & 0x7ff, isExtended, data }));

describe('lines', () => {
  test('give frames of 11 and 29 bits, in upper and lower case, with and without a time stamp', () => {
    const { frames: found, rejected } = decode('t1232AABB\rT18fef1000\rT18FEF10021122EA5F\rt7FF0\r');
    expect(found).toEqual([
      frame(0x123, 0xaa, 0xbb),
      frame(0x18fef100),
      frame(0x18fef100, 0x11, 0x22),
      frame(0x7ff),
    ]);
    expect(rejected).toBe(0);
  });

  test('of remote frames are counted and give no data', () => {
    expect(decode('r1238\rR18FEF1008\r')).toMatchObject({ frames: [], remotes: 2, rejected: 0 });
  });

  test.each([
    ['an identifier beyond 11 bits', 't8000\r'],
    ['an identifier beyond 29 bits', 'T200000000\r'],
    ['a length above 8', 't1239AABBCCDDEEFF001122\r'],
    ['data that are short', 't1232AA\r'],
    ['data that are long', 't1231AABB\r'],
    ['a character that is no digit', 't1231AG\r'],
    ['two lines whose line end was lost', 't1231AAt1231AA\r'],
    ['a time stamp beyond a minute', 't1231AAEA60\r'],
    ['an identifier that is cut', 't12\r'],
    ['a letter alone', 'T\r'],
    ['a BEL in the middle', 't1231A\u0007'],
    ['a byte that is no text', '\u00fcV1013\r'],
    ['a line that is too long', `t1231${'A'.repeat(slcanLineMost)}\r`],
  ])('with %s are rejected, and the next line is read', (_, text) => {
    const { frames: found, rejected } = decode(`${text}t1231AA\r`);
    expect(found.map(({ id }) => id)).toEqual([0x123]);
    expect(rejected).toBe(1);
  });

  test('that answer a command are told apart from frames', () => {
    expect(decode('\r\u0007V1013\rt1230\r').answers).toEqual([
      { kind: 'ok' },
      { kind: 'refused' },
      { kind: 'text', text: 'V1013' },
    ]);
  });

  test('give the same frames however the bytes are cut', () => {
    fc.assert(
      fc.property(
        fc.array(frames, { maxLength: 30 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 40 })),
        (sent, sizes) => {
          const bytes = latin1(sent.map(slcanLine).join(''));
          let state = createSlcanState();
          const found: CanFrame[] = [];
          for (let at = 0; at < bytes.length; ) {
            const size = sizes.next().value;
            const lines = decodeSlcan(state, bytes.subarray(at, at + size));
            state = lines.state;
            found.push(...lines.frames);
            at += size;
          }
          expect(found).toEqual(sent);
        },
      ),
    );
  });

  test('of noise never throw, keep at most one line, and leave later frames readable', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 20 }), frames, (noise, last) => {
        let state = createSlcanState();
        for (const bytes of noise) {
          ({ state } = decodeSlcan(state, bytes));
          expect(state.pending.length).toBeLessThanOrEqual(slcanLineMost);
        }
        const { frames: found } = decodeSlcan(state, latin1(`\r${slcanLine(last)}`));
        expect(found.at(-1)).toEqual(last);
      }),
    );
  });
});

/** A simulated adapter: what it answers to each command, at once. */
type Adapter = (command: string) => string;

const lawicel: Adapter = (command) =>
  ({ C: '\r', V: 'V1013\r', v: '\u0007', L: '\r' })[command] ?? (/^S\d$/.test(command) ? '\r' : '\u0007');
const usbtin: Adapter = (command) => (command === 'v' ? 'v0107\r' : lawicel(command));
const canable: Adapter = (command) =>
  command === 'V' ? '8ca5d39 git@github.com:normaldotcom/canable-fw.git\r' : '';
const canableOf =
  (version: string): Adapter =>
  (command) =>
    command === 'V' ? `${version}\r` : '';
/** Nakakiyo092/canable2-fw: long lines, a filter in place of `M1`. */
const canableOfNakakiyo: Adapter = (command) =>
  command === 'V'
    ? 'VL2K4\r'
    : command === 'v'
      ? `v: hardware="CANable2.0", software="0a1b2c3", url="git@github.com:Nakakiyo092/canable2-fw.git"\r`
      : lawicel(command);
/** The first versions named firmware and address after it. */
const firstOfNakakiyo: Adapter = (command) =>
  command === 'V' ? 'VL2K0 0a1b2c3 git@github.com:Nakakiyo092/canable2-fw.git\r' : lawicel(command);

/** The simulated adapter; its answers come at once. */
function simulated(dialect: SlcanDialect, version?: string): Adapter {
  let said = '';
  const adapter = createSlcanAdapter({ dialect, send: (text) => (said += text) });
  return (command) => {
    said = '';
    adapter.receive(latin1(`${command}\r`));
    return command === 'V' && version !== undefined ? `${version}\r` : said;
  };
}
/** As versions of 2025 print it: other boards, several channels. */
const longVersion = `+Board: OleksiiDual\tMCU: STM32G473\tDevID: 1129\tFirmware: 2427156\tSlcan: 101\tClock: 160\tChannels: 3\tQuartz: Yes\tLimits: 512,256,128,128,32,32,16,16\tHAL: 1.2.5\tSerial: 209F336F4E4D5018209F336F4E4D5018`;

/** Runs an opening against an adapter; gives all that was written and how it ended. */
function open(adapter: Adapter, options: Partial<OpeningOptions> = {}) {
  const full: OpeningOptions = { bitRate: 250_000, ...options };
  let nowMs = 1000;
  let lines = createSlcanState();
  const written: string[] = [];
  let step = beginOpening(nowMs);
  for (let turn = 0; turn < 200; turn += 1) {
    const inputs = step.commands.flatMap((command) => {
      written.push(command);
      const read = decodeSlcan(lines, latin1(adapter(command)));
      lines = read.state;
      return read.answers;
    });
    const commands: string[] = [];
    let { state } = step;
    for (const answer of inputs) {
      const next = stepOpening(state, { kind: 'answer', answer }, { options: full, nowMs });
      state = next.state;
      commands.push(...next.commands);
    }
    if (commands.length === 0) {
      if (openingWakeMs(state) === Number.POSITIVE_INFINITY) return { written, state };
      nowMs = openingWakeMs(state);
      const next = stepOpening(state, { kind: 'time' }, { options: full, nowMs });
      state = next.state;
      commands.push(...next.commands);
    }
    step = { state, commands };
  }
  throw new Error('the opening does not end');
}

describe('the opening of an adapter', () => {
  test.each([
    ['lawicel', lawicel, ['C', 'C', 'C', 'V', 'v', 'S5', 'L']],
    ['usbtin', usbtin, ['C', 'C', 'C', 'V', 'v', 'S5', 'L']],
    ['canable', canable, ['C', 'C', 'C', 'V', 'S5', 'M1', 'O']],
    [
      'canable',
      canableOf('16e7497-dirty github.com/normaldotcom/canable2.git'),
      ['C', 'C', 'C', 'V', 'S5', 'M1', 'O'],
    ],
    ['canable25', simulated('canable25'), ['C', 'C', 'C', 'V', 'S5', 'M1', 'O']],
    ['canable25', simulated('canable25', longVersion), ['C', 'C', 'C', 'V', 'S5', 'M1', 'O']],
    ['lawicel', canableOfNakakiyo, ['C', 'C', 'C', 'V', 'v', 'S5', 'L']],
    ['lawicel', firstOfNakakiyo, ['C', 'C', 'C', 'V', 'v', 'S5', 'L']],
  ] as const)('of a %s sets it to listen only', (dialect, adapter, commands) => {
    const { written, state } = open(adapter);
    expect(written).toEqual(commands);
    expect(state).toMatchObject({ stage: 'done', dialect });
  });

  test.each([
    ['that answers nothing', (): string => '', 'no_answer'],
    [
      'that acknowledges, and does not tell its version',
      (command: string) => (command === 'V' ? '' : lawicel(command)),
      'no_answer',
    ],
    [
      'that gives another version',
      (command: string) => (command === 'V' ? 'ELM327 v1.5\r' : ''),
      'unknown_adapter',
    ],
    [
      'that has no listen-only mode',
      (command: string) => (command === 'L' ? '\u0007' : lawicel(command)),
      'not_silent',
    ],
    [
      'that does not acknowledge listen-only',
      (command: string) => (command === 'L' ? '' : lawicel(command)),
      'not_silent',
    ],
    [
      'that refuses the bit rate',
      (command: string) => (command === 'S5' ? '\u0007' : lawicel(command)),
      'no_bit_rate',
    ],
    [
      'of CANable 2.5 that refuses to be silent',
      (command: string) => (command === 'M1' ? '\u0007' : simulated('canable25')(command)),
      'not_silent',
    ],
    [
      'of CANable 2.5 that does not acknowledge to be silent',
      (command: string) => (command === 'M1' ? '' : simulated('canable25')(command)),
      'not_silent',
    ],
    [
      'that never ends its version',
      (command: string) => (command === 'V' ? '+Board: '.repeat(slcanLineMost) : ''),
      'no_answer',
    ],
    [
      'that names itself CANable and acknowledges',
      (command: string) => (command === 'V' ? canable('V') : lawicel(command)),
      'not_silent',
    ],
  ])('%s is refused, and `O` is not written', (_, adapter, refusal) => {
    const { written, state } = open(adapter);
    expect(state).toMatchObject({ stage: 'refused', refusal });
    expect(written).not.toContain('O');
  });

  test('writes no command that transmits, whatever the adapter answers', () => {
    const answers = fc.constantFrom(
      '',
      '\r',
      '\u0007',
      'V1013\r',
      'v0107\r',
      'F00\r',
      'z\r',
      canable('V'),
      `${longVersion}\r`,
      'VL2K4\r',
      't1230\r',
      'x',
    );
    fc.assert(
      fc.property(fc.infiniteStream(answers), fc.constantFrom(...bitRates), (stream, bitRate) => {
        const { written, state } = open(() => stream.next().value, { bitRate });
        for (const command of written) {
          expect(openingCommands).toContain(command);
          expect(command).not.toMatch(/^[tTrRdDbB]/);
        }
        // `O` follows `M1` alone, on an adapter of which it is known that it then is silent.
        if (written.includes('O')) {
          expect(written.at(-2)).toBe('M1');
          expect(state.dialect).toMatch(/^canable/);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
