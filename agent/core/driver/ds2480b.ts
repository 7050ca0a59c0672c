// iButtons over a serial 1-Wire line driver DS2480B (Maxim data sheet 19-5047; DS9097U adapters, LINK, and USB adapters with that chip), at 9600
// baud. A reset twice a second; where a presence pulse answers, READ ROM (33h) gives 64 bits: family, 48 bits of serial number, CRC-8. Of two
// iButtons at once the bits mix and the CRC does not fit, so that neither counts. Nothing but resets and READ ROM is ever sent.
import { crc8 } from '../crc8.ts';
import { keyOf } from './key-id.ts';
import { type KeyProtocol, type KeyStep, noStep, type ReaderFault } from './key-protocol.ts';

const toDataMode = 0xe1;
const toCommandMode = 0xe3;
/** Reset at regular speed; after power-up the same byte is the one from which the chip learns the speed, and has no answer. */
const reset = 0xc1;
const readRom = 0x33;
const romBytes = 8;

const timing = {
  /** Between two resets, ms. */
  pollMs: 500,
  /** The speed is learnt, and an answer to a byte that was data is here, within this. */
  calibrateMs: 50,
  /** Ten bytes at 9600 baud take 11 ms; USB adapters keep bytes for 16. */
  answerMs: 300,
  /** Answers that may be missing one after the other. */
  misses: 3,
} as const;

/** An answer to a reset: 11x0 1 v pp; v: the revision of the chip, pp: what the bus did. */
const isResetAnswer = (byte: number): boolean => (byte & 0xd8) === 0xc8;
const shorted = 0;
const absent = 3;

/** DS2502 (09h, 89h): the chip by which an adapter names itself is no key. */
const adapterFamilies: readonly number[] = [0x09, 0x89];

/** `calibrating`: the chip learns the speed; `resting`: until the next reset. */
type Phase = 'calibrating' | 'resting' | 'reset' | 'rom';

/** One line driver from the opening of its port on. */
interface Line {
  phase: Phase;
  /** When the phase ends by itself, monotonic ms. */
  dueMs: number;
  /** Bytes of the answer to READ ROM so far. */
  answer: number[];
  /** Answers that were missing one after the other. */
  misses: number;
  fault: ReaderFault | null;
  /** Unknown at first; a byte that switches to the mode in which the chip is already changes nothing. */
  isDataMode: boolean;
}

const damaged: KeyStep = { ...noStep, rejected: 1 };

/** The key of an answer to READ ROM. */
function stepOfRom(answer: readonly number[]): KeyStep {
  const [echo, ...rom] = answer;
  const isEmpty = rom.every((byte) => byte === 0);
  if (echo !== readRom || isEmpty || crc8(rom) !== 0) return damaged;
  return adapterFamilies.includes(rom[0] ?? 0) ? noStep : { ...noStep, keys: [keyOf(rom.toReversed())] };
}

function enter(line: Line, phase: Phase, untilMs: number): void {
  line.phase = phase;
  line.dueMs = untilMs;
  line.answer = [];
}

function begin(line: Line, nowMs: number): KeyStep {
  line.isDataMode = true;
  enter(line, 'calibrating', nowMs + timing.calibrateMs);
  return { ...noStep, writes: [reset] };
}

function ask(line: Line, nowMs: number): KeyStep {
  const writes = line.isDataMode ? [toCommandMode, reset] : [reset];
  line.isDataMode = false;
  enter(line, 'reset', nowMs + timing.answerMs);
  return { ...noStep, writes };
}

function miss(line: Line, nowMs: number): void {
  line.misses += 1;
  if (line.misses >= timing.misses) line.fault = 'no_answer';
  line.isDataMode = true;
  enter(line, 'resting', nowMs + timing.pollMs);
}

function handleReset(line: Line, byte: number, nowMs: number): KeyStep {
  if (!isResetAnswer(byte)) {
    miss(line, nowMs);
    return damaged;
  }
  const bus = byte & 3;
  line.misses = 0;
  line.fault = bus === shorted ? 'shorted' : null;
  if (bus === shorted || bus === absent) {
    enter(line, 'resting', nowMs + timing.pollMs);
    return noStep;
  }
  line.isDataMode = true;
  enter(line, 'rom', nowMs + timing.answerMs);
  return { ...noStep, writes: [toDataMode, readRom, ...Array.from({ length: romBytes }, () => 0xff)] };
}

function handleByte(line: Line, byte: number, nowMs: number): KeyStep {
  if (line.phase === 'reset') return handleReset(line, byte, nowMs);
  if (line.phase !== 'rom') return { ...noStep, noise: line.phase === 'resting' ? 1 : 0 };
  line.answer.push(byte);
  if (line.answer.length <= romBytes) return noStep;
  const step = stepOfRom(line.answer);
  enter(line, 'resting', nowMs + timing.pollMs);
  return step;
}

function passTime(line: Line, nowMs: number): KeyStep {
  if (nowMs < line.dueMs) return noStep;
  if (line.phase === 'calibrating') return ask(line, nowMs);
  if (line.phase !== 'resting') {
    miss(line, nowMs);
    return noStep;
  }
  return line.misses >= timing.misses ? begin(line, nowMs) : ask(line, nowMs);
}

/** A line driver that is asked for an iButton. */
export function createDs2480b(): KeyProtocol {
  const line: Line = {
    phase: 'calibrating',
    dueMs: Number.POSITIVE_INFINITY,
    answer: [],
    misses: 0,
    fault: null,
    isDataMode: true,
  };
  return {
    begin: (nowMs) => begin(line, nowMs),
    bytes(bytes, nowMs) {
      const steps = Array.from(bytes, (byte) => handleByte(line, byte, nowMs));
      return {
        writes: steps.flatMap(({ writes }) => writes),
        keys: steps.flatMap(({ keys }) => keys),
        rejected: steps.reduce((sum, step) => sum + step.rejected, 0),
        noise: steps.reduce((sum, step) => sum + step.noise, 0),
      };
    },
    time: (nowMs) => passTime(line, nowMs),
    wakeMs: () => line.dueMs,
    fault: () => line.fault,
  };
}
