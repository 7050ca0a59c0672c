// One simulated I/O board (or several on one bus): bytes in, bytes out, with the timing, the power-up state and the
// faults of real hardware. Its relay log is the ground truth of every test: entries beyond its bound are counted.
import type { FeatureName, InputName } from '../../src/core/events/event.ts';
import type { Cancel, Clock } from '../../src/ports.ts';
import type { SeededEntropy } from '../core/random.ts';
import { type BoardMap, type BoardName, boardMapOf, type WiringName } from './board-maps.ts';
import { createContacts, type RelayChange } from './contacts.ts';
import { type BoardPins, createSlaveUnit, isSoundFrame, type SlaveUnit } from './modbus-slave.ts';
import { damage } from './pipe.ts';

/** Faults of the board's answers; all zero and false is a good board. Probabilities are 0 to 1. */
export interface BoardFaults {
  /** Answers leave this much later. */
  readonly lateMs: number;
  readonly lost: number;
  /** At least two bytes of the answer are changed. */
  readonly garbled: number;
  /** The answer ends somewhere in its middle. */
  readonly cut: number;
  /** An RS485 adapter that echoes: the request comes back before the answer. */
  readonly echo: boolean;
  /** The board acts on requests but never answers. */
  readonly silent: boolean;
  /** Relay writes are answered as usual, but the contacts do not move. */
  readonly stuck: boolean;
  /** The common of the contacts is lost: every input reads 0. */
  readonly commonLost: boolean;
  /** Inputs read as they did when this began. */
  readonly repeatsBits: boolean;
  /** Bytes that are no part of any answer: a line without bias or termination, or its adapter. */
  readonly noise: NoiseKind | null;
}

/**
 * Places of noise bytes: right before or behind each answer, alone 4 ms after each request or 10 ms after each answer, or several
 * between request and answer. Also random on both sides, with the head of the answer, or on the line all the time.
 */
export const noiseKinds = [
  'before',
  'behind',
  'lone',
  'tail',
  'between',
  'random',
  'head',
  'babble',
] as const;
export type NoiseKind = (typeof noiseKinds)[number];

export const noBoardFaults: BoardFaults = {
  lateMs: 0,
  lost: 0,
  garbled: 0,
  cut: 0,
  echo: false,
  silent: false,
  stuck: false,
  commonLost: false,
  repeatsBits: false,
  noise: null,
};

interface BoardCounts {
  readonly requests: number;
  readonly answers: number;
  /** Frames with a wrong checksum, or two frames without a pause between them. */
  readonly unsound: number;
  /** Answers that a fault kept, changed or delayed. */
  readonly faulted: number;
}

export interface BoardOptions {
  readonly name: BoardName;
  /** `plain` unless given. */
  readonly wiring?: WiringName;
  readonly clock: Clock;
  readonly entropy: SeededEntropy;
  readonly baudRate?: number;
  /** Time a unit thinks before it answers, ms; off-the-shelf boards take 3 to 20. */
  readonly answerMs?: number;
  send(bytes: Uint8Array): void;
  /** Called before each request is answered: the place to bring inputs and voltages up to date. */
  refresh?(board: Board): void;
  onRelayChange?(change: RelayChange): void;
}

export interface Board {
  readonly map: BoardMap;
  receive(bytes: Uint8Array): void;
  /** True = the signal is active (ignition on, panic pressed, door open). A signal that is not wired is ignored. */
  setSignal(name: InputName, active: boolean): void;
  signal(name: InputName): boolean;
  /** Fraction of the tank, 0 to 1, as the sender shows it. */
  setFuel(fraction: number): void;
  setSupplyVolts(volts: number): void;
  /** State of the contact now: the truth, whatever the bus says. */
  isEnergised(relay: FeatureName | 'warning'): boolean;
  setFaults(change: Partial<BoardFaults>): void;
  faults(): BoardFaults;
  /** Off: no answers, all relays fall off. On: relays stay off, settings are as before. */
  setPower(isOn: boolean): void;
  /** The newest changes, oldest first, at most 1000; `forgotten` counts those before them. */
  relayLog(): { readonly changes: readonly RelayChange[]; readonly forgotten: number };
  counts(): BoardCounts;
}

const inputCount = 16;
/** Supply voltage that stands for 1 on the supply channel's scale. */
const fullSupplyVolts = 30;
/** SL 2.5.1.1: above 19 200 baud the silent interval is fixed. */
const fastBaudRate = 19_200;
const fastSilenceMs = 1.75;
/** A frame is at most 256 bytes (SL 2.5.1.1); what is longer is noise. */
const maxFrameBytes = 256;
const maxPendingAnswers = 8;
/** The time after a request at which a lone byte comes, and from one byte of a babbling line to the next. */
const loneMs = 4;
const tailMs = 10;
const babbleMs = 30;

/** The screw terminals: what the outside applies to the inputs. */
interface Terminals {
  readonly pins: Pick<BoardPins, 'input' | 'analog'>;
  /** True when it changed. */
  setInput(index: number, isOn: boolean): boolean;
  /** `fraction` of the scale that is wired to the channel. */
  setAnalog(scale: AnalogScale | null, fraction: number): void;
}

type AnalogScale = NonNullable<BoardMap['wiring']['fuel']>;

function createTerminals(): Terminals {
  const inputs = new Map<number, boolean>();
  const volts = new Map<number, number>();
  const input = (index: number): boolean => inputs.get(index) ?? false;
  return {
    pins: { input, analog: (index) => volts.get(index) ?? 0 },
    setInput(index, isOn) {
      const isChange = input(index) !== isOn;
      inputs.set(index, isOn);
      return isChange;
    },
    setAnalog(scale, fraction) {
      if (scale !== null) volts.set(scale.channel, scale.atZero + fraction * (scale.atOne - scale.atZero));
    },
  };
}

interface Receiver {
  push(bytes: Uint8Array): void;
  clear(): void;
}

/** Collects bytes into frames: a frame ends with 3.5 characters of silence (SL 2.5.1.1). */
function createReceiver(options: BoardOptions, onFrame: (frame: Uint8Array) => void): Receiver {
  const baudRate = options.baudRate ?? 9600;
  const silenceMs = baudRate > fastBaudRate ? fastSilenceMs : (3.5 * 11 * 1000) / baudRate;
  let received: number[] = [];
  let frameEnd: Cancel | null = null;
  return {
    push(bytes) {
      for (const byte of bytes) if (received.length <= maxFrameBytes) received.push(byte);
      frameEnd?.();
      frameEnd = options.clock.after(silenceMs, () => {
        const frame = Uint8Array.from(received);
        received = [];
        onFrame(frame);
      });
    },
    clear() {
      received = [];
      frameEnd?.();
    },
  };
}

/** What an idle line without bias reads as. */
const idleBytes = (entropy: SeededEntropy, count: number): Uint8Array =>
  Uint8Array.from({ length: count }, () => (entropy.chance(0.5) ? 0x00 : 0xff));

/** An answer with the noise right before and behind it. */
function amidNoise(answer: Uint8Array, noise: NoiseKind, entropy: SeededEntropy): Uint8Array {
  const some = (): Uint8Array => entropy.bytes(entropy.integer(0, 6));
  const [before, behind] = ((): readonly [Uint8Array, Uint8Array] => {
    switch (noise) {
      case 'before':
        return [idleBytes(entropy, entropy.integer(1, 3)), new Uint8Array(0)];
      case 'behind':
        return [new Uint8Array(0), idleBytes(entropy, entropy.integer(1, 5))];
      case 'random':
        return [some(), some()];
      case 'head':
        return [answer.slice(0, entropy.integer(1, 3)), answer.slice(0, entropy.integer(1, 3))];
      default:
        return [new Uint8Array(0), new Uint8Array(0)];
    }
  })();
  return Uint8Array.from([...before, ...answer, ...behind]);
}

interface Bus {
  readonly units: readonly SlaveUnit[];
  receive(bytes: Uint8Array): void;
  /** Drops bytes in transit: power loss. */
  clear(): void;
  counts(): BoardCounts;
}

/** The units behind one pair of wires, with the faults of their answers. */
function createBus(
  options: BoardOptions,
  parts: { map: BoardMap; pins: BoardPins; faults(): BoardFaults; refresh(): void },
): Bus {
  const { clock, entropy } = options;
  const units = parts.map.units.map((unit) => createSlaveUnit(unit, parts.pins));
  const counts = { requests: 0, answers: 0, unsound: 0, faulted: 0 };
  let cycle = 0;
  let pendingAnswers = 0;
  const sendLater = (bytes: Uint8Array, delayMs: number): void => {
    if (pendingAnswers >= maxPendingAnswers) return;
    pendingAnswers += 1;
    const ofCycle = cycle;
    clock.after(delayMs, () => {
      pendingAnswers -= 1;
      if (ofCycle === cycle) options.send(bytes);
    });
  };
  const sendAnswer = (bytes: Uint8Array): void => {
    const { lateMs, lost: loss, garbled: garble, cut, silent, noise } = parts.faults();
    const arriving = damage(bytes, { delayMs: 0, loss, garble, cut }, entropy);
    const answerMs = (options.answerMs ?? 5) + lateMs;
    counts.answers += 1;
    if (silent || arriving !== bytes || lateMs > 0 || noise !== null) counts.faulted += 1;
    if (arriving === null || silent) return;
    sendLater(noise === null ? arriving : amidNoise(arriving, noise, entropy), answerMs);
    if (noise === 'tail') sendLater(idleBytes(entropy, 1), answerMs + tailMs);
  };
  const sendNoise = (noise: NoiseKind | null): void => {
    if (noise === 'lone') sendLater(idleBytes(entropy, 1), loneMs);
    if (noise === 'between') sendLater(idleBytes(entropy, 3), 1);
  };
  const receiver = createReceiver(options, (frame) => {
    const { echo, noise } = parts.faults();
    if (echo) sendLater(frame, 0);
    sendNoise(noise);
    if (!isSoundFrame(frame)) {
      counts.unsound += 1;
      return;
    }
    counts.requests += 1;
    parts.refresh();
    for (const unit of units) {
      const isForIt = frame[0] === 0 || frame[0] === unit.address();
      const bytes = isForIt ? unit.answer(frame) : null;
      if (bytes !== null) sendAnswer(bytes);
    }
  });
  return {
    units,
    receive: (bytes) => receiver.push(bytes),
    clear() {
      cycle += 1;
      receiver.clear();
    },
    counts: () => ({ ...counts }),
  };
}

/** The board in its box. It is powered from the start and all its relays are off. */
export function createBoard(options: BoardOptions): Board {
  const map = boardMapOf(options.name, options.wiring ?? 'plain');
  const { wiring } = map;
  const terminals = createTerminals();
  let faults = noBoardFaults;
  let isPowered = true;
  const relays = createContacts(options, () => faults.stuck);
  const loopback = wiring.proof?.loopback ?? null;
  /** Signal applied to an input, the loop-back's wire included. */
  const applied = (index: number): boolean =>
    loopback?.input === index ? relays.pins.relay(loopback.relay) : terminals.pins.input(index);
  let repeated: readonly boolean[] = [];
  const pins: BoardPins = {
    ...relays.pins,
    ...terminals.pins,
    input: (index) =>
      faults.repeatsBits ? (repeated[index] ?? false) : !faults.commonLost && applied(index),
  };
  const refresh = (): void => options.refresh?.(board);
  const bus = createBus(options, { map, pins, faults: () => faults, refresh });

  const setInput = (index: number, isOn: boolean): void => {
    if (!terminals.setInput(index, isOn) || !isPowered) return;
    // The inside wiring of the Waveshare boards: the trap of the control mode registers 0x1000 to 0x1007.
    const action = bus.units.map((unit) => unit.inputAction(index)).find((mode) => mode !== 0);
    const cause = `input ${index}`;
    if (action === 1) pins.setRelay(index, isOn, cause);
    if ((action === 2 && isOn) || action === 3) pins.setRelay(index, !pins.relay(index), cause);
  };
  /** The line is never silent while this fault lasts. */
  const babble = (): void => {
    if (faults.noise !== 'babble') return;
    options.send(options.entropy.bytes(1));
    options.clock.after(babbleMs, babble);
  };
  const board: Board = {
    map,
    receive(bytes) {
      if (isPowered) bus.receive(bytes);
    },
    setSignal(name, active) {
      const wire = wiring.inputs[name];
      if (wire !== undefined) setInput(wire.channel, active !== (wire.inverted ?? false));
      if (name === 'ignition' && wiring.proof !== null) setInput(wiring.proof.ignitionOff, !active);
    },
    signal(name) {
      const wire = wiring.inputs[name];
      return wire !== undefined && applied(wire.channel) !== (wire.inverted ?? false);
    },
    setFuel: (fraction) => terminals.setAnalog(wiring.fuel, fraction),
    setSupplyVolts: (value) => terminals.setAnalog(wiring.supply, value / fullSupplyVolts),
    isEnergised: (relay) => pins.relay(relay === 'warning' ? wiring.warning : wiring.relays[relay]),
    setFaults(change) {
      if (change.repeatsBits === true && !faults.repeatsBits)
        repeated = Array.from({ length: inputCount }, (_, index) => pins.input(index));
      const babbled = faults.noise === 'babble';
      faults = { ...faults, ...change };
      if (faults.noise === 'babble' && !babbled) babble();
    },
    faults: () => faults,
    setPower(isOn) {
      if (isOn === isPowered) return;
      isPowered = isOn;
      bus.clear();
      if (!isOn) relays.dropAll();
    },
    relayLog: () => relays.log(),
    counts: () => bus.counts(),
  };
  if (wiring.proof !== null) setInput(wiring.proof.life, true);
  board.setSignal('ignition', false);
  board.setSignal('externalPower', true);
  board.setSupplyVolts(12.6);
  board.setFuel(0.5);
  return board;
}
