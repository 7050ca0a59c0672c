// The vehicle as the relay test sees it: board and receiver read by the agent's own machines, and the evidence that the agent's
// own interlock asks for. It keeps nothing, connects to nobody, and writes a relay only when it is told to.

import type { InputName } from '../../src/core/event.ts';
import type { ByteLink, Cancel, Clock, OpenByteLink } from '../../src/ports.ts';
import type { AgentConfig } from '../config.ts';
import { createBoard, stepBoard } from '../core/board/board.ts';
import type { RelayName } from '../core/board/board-profile.ts';
import type { BoardInput, BoardOutput } from '../core/board/board-types.ts';
import { createInputs, readingOf, stepInputs } from '../core/board/inputs.ts';
import {
  assembleEpochs,
  createEpochState,
  type EpochReport,
  flushEpoch,
  noteBytes,
} from '../core/gnss/epochs.ts';
import { createNmeaState, decodeNmea } from '../core/gnss/nmea.ts';
import { createPlausibilityState, judgeFix } from '../core/gnss/plausibility.ts';
import {
  createSpeedState,
  type Evidence,
  noteFix,
  noteVoid,
  paceAt,
  type Sensed,
  speedAt,
  wasSuspectAt,
} from '../core/protection/evidence.ts';
import { fixRulesOf, type InterlockRules } from '../core/protection/interlock.ts';
import { inputRules } from '../core/vehicle/vehicle-start.ts';
import { vehicleLimits } from '../core/vehicle/vehicle-state.ts';

export type LiveConfig = Pick<
  AgentConfig,
  'profile' | 'boardPort' | 'gnssPort' | 'earliestUtcMs' | 'settings'
>;

export interface RelayOutcome {
  readonly outcome: 'confirmed' | 'mismatch' | 'unknown' | 'refused';
  readonly reason: string | null;
}

export interface LiveVehicle {
  evidence(): Evidence;
  /** As read within the last 15 s; null: not known. */
  relay(name: RelayName): boolean | null;
  /** One order, on the wire within 1.5 s or not at all; resolves with what was read back. */
  setRelay(name: RelayName, energised: boolean, holdMs?: number): Promise<RelayOutcome>;
  /** Why the board's port is gone; null while it is there. */
  fault(): string | null;
  close(): Promise<void>;
}

interface LivePorts {
  readonly clock: Clock;
  readonly openByteLink: OpenByteLink;
}

const stepMs = 100;
const orderMs = 1500;
/** An order has ended by then, whatever the bus does: its retries and read-backs included. */
const outcomeMs = 6000;

/** What the receiver proves. A port that does not open proves nothing, and the interlock waits. */
async function openSight(config: LiveConfig, rules: InterlockRules, { clock, openByteLink }: LivePorts) {
  let nmea = createNmeaState();
  let epochs = createEpochState({ earliestUtcMs: config.earliestUtcMs });
  let plausibility = createPlausibilityState();
  let speed = createSpeedState();
  const take = (reports: readonly EpochReport[]): void => {
    for (const report of reports) {
      if (report.kind === 'void') {
        speed = noteVoid(speed);
        continue;
      }
      const judged = judgeFix(plausibility, report.fix);
      plausibility = judged.state;
      speed = noteFix(speed, judged.fix, fixRulesOf(rules));
    }
  };
  const link = await openByteLink(config.gnssPort, {
    onBytes(bytes) {
      const atMs = clock.monoMs();
      const decoded = decodeNmea(nmea, bytes);
      nmea = decoded.state;
      epochs = noteBytes(epochs, atMs);
      for (const sentence of decoded.sentences) {
        const step = assembleEpochs(epochs, sentence, atMs);
        epochs = step.state;
        take(step.reports);
      }
    },
    onDown: () => undefined,
  }).catch(() => null);
  return {
    speed: () => speed,
    passTime(): void {
      const step = flushEpoch(epochs, clock.monoMs());
      epochs = step.state;
      take(step.reports);
    },
    close: async () => link?.close(),
  };
}

/** What the board says, and the orders to it. */
async function openHand(config: LiveConfig, { clock, openByteLink }: LivePorts) {
  const { profile, settings } = config;
  let board = createBoard(profile);
  let inputs = createInputs<InputName>(inputRules({ profile }), clock.monoMs());
  let link: ByteLink | null = null;
  let cancel: Cancel = () => undefined;
  let down: string | null = null;
  let orders = 0;
  let turnedMs = Number.NEGATIVE_INFINITY;
  const relays = new Map<RelayName, { readonly on: boolean | null; readonly atMs: number }>();
  const waiting = new Map<string, (outcome: RelayOutcome) => void>();
  const take = (output: BoardOutput): void => {
    const atMs = clock.monoMs();
    if (output.kind === 'write') link?.write(output.bytes);
    if (output.kind === 'inputs')
      inputs = stepInputs(inputs, { kind: 'sample', atMs: output.atMs, values: output.values }).state;
    // An engine that turns is ignition on, whatever the wire says.
    if (output.kind === 'analogs' && (output.values.rpm ?? 0) >= settings.alarms.engineRpm) turnedMs = atMs;
    if (output.kind === 'relays')
      for (const [name, on] of Object.entries(output.values))
        relays.set(name as RelayName, { on: on ?? null, atMs });
    if (output.kind !== 'relayResult') return;
    if (output.readBack !== null) relays.set(output.relay, { on: output.readBack, atMs });
    waiting.get(output.token)?.({ outcome: output.outcome, reason: output.reason });
    waiting.delete(output.token);
  };
  const feed = (input: BoardInput): void => {
    const stepped = stepBoard(board, input);
    board = stepped.state;
    for (const output of stepped.outputs) take(output);
    cancel();
    if (board.wakeAtMs === null || down !== null) return;
    const delayMs = Math.max(0, board.wakeAtMs - clock.monoMs());
    cancel = clock.after(delayMs, () => feed({ kind: 'time', atMs: clock.monoMs() }));
  };
  link = await openByteLink(config.boardPort, {
    onBytes: (bytes) => feed({ kind: 'bytes', bytes, atMs: clock.monoMs() }),
    onDown(reason) {
      down = reason;
      feed({ kind: 'down', atMs: clock.monoMs(), reason });
    },
  });
  feed({ kind: 'up', atMs: clock.monoMs() });
  const relay = (name: RelayName): boolean | null => {
    const reading = relays.get(name);
    const isFresh = reading !== undefined && clock.monoMs() - reading.atMs <= vehicleLimits.relaysAgeMs;
    return isFresh ? reading.on : null;
  };
  return {
    relay,
    fault: () => down,
    isAlive: (): boolean => down === null && [...relays.keys()].some((name) => relay(name) !== null),
    /** A contact that closes counts at its first sample. */
    sensed(name: InputName): Sensed {
      const candidate = inputs.sensors[name]?.candidate;
      if (candidate?.reading === 'on') return { value: true, sinceMs: candidate.sinceMs };
      const { reading, sinceMs } = readingOf(inputs, name);
      if (name === 'ignition' && clock.monoMs() - turnedMs < 2000) return { value: true, sinceMs: turnedMs };
      const value = reading === 'unknown' ? null : reading === 'on';
      return { value, sinceMs: name === 'ignition' ? Math.max(sinceMs, turnedMs) : sinceMs };
    },
    passTime(): void {
      inputs = stepInputs(inputs, { kind: 'time', atMs: clock.monoMs() }).state;
    },
    setRelay(name: RelayName, energised: boolean, holdMs?: number): Promise<RelayOutcome> {
      const token = `doctor:${orders++}`;
      return new Promise((resolve) => {
        waiting.set(token, resolve);
        clock.after(outcomeMs, () => resolve({ outcome: 'unknown', reason: 'no result in time' }));
        const atMs = clock.monoMs();
        const hold = holdMs === undefined ? {} : { holdMs };
        feed({ kind: 'setRelay', relay: name, energised, ...hold, token, deadlineMs: atMs + orderMs, atMs });
      });
    },
    async close() {
      down ??= 'closed';
      cancel();
      await link?.close();
    },
  };
}

/** Opens both ports and begins to watch. @throws AppError `serial` when the board's port does not open. */
export async function openLiveVehicle(
  config: LiveConfig,
  rules: InterlockRules,
  ports: LivePorts,
): Promise<LiveVehicle> {
  const { clock } = ports;
  const hand = await openHand(config, ports);
  const sight = await openSight(config, rules, ports);
  let cancel: Cancel = () => undefined;
  const again = (): void => {
    cancel = clock.after(stepMs, () => {
      hand.passTime();
      sight.passTime();
      again();
    });
  };
  again();
  return {
    relay: hand.relay,
    setRelay: hand.setRelay,
    fault: hand.fault,
    evidence() {
      const nowMs = clock.monoMs();
      const speed = sight.speed();
      // Expiry is no matter here: a person stands at the vehicle and is asked now.
      const utcMs = clock.utcMs();
      return {
        nowMs,
        ignition: hand.sensed('ignition'),
        panic: hand.sensed('panic'),
        motion: hand.sensed('motion'),
        speed: speedAt(speed, nowMs),
        trustedUtcMs: utcMs,
        latestUtcMs: utcMs,
        boardAlive: hand.isAlive(),
        pace: paceAt(speed, nowMs),
        wasSuspect: wasSuspectAt(speed, nowMs),
        zone: false,
      };
    },
    async close() {
      cancel();
      await hand.close();
      await sight.close();
    },
  };
}
