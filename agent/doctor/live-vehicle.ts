// The vehicle for the relay test: board and receiver read by the agent's own machines, and the evidence for the
// agent's own interlock. It stores nothing, has no network connection, and writes a relay only when ordered.

import type { FeatureName, InputName } from '../../src/core/events/event.ts';
import { isAllowed } from '../../src/core/verdict/verdict.ts';
import type { ByteLink, Cancel, Clock, OpenByteLink } from '../../src/ports.ts';
import type { AgentConfig } from '../config.ts';
import { createBoard, stepBoard } from '../core/board/board.ts';
import type { AnalogName, RelayName } from '../core/board/board-profile.ts';
import type { BoardInput, BoardOutput } from '../core/board/board-types.ts';
import { alertTo, createInputs, stepInputs } from '../core/board/inputs.ts';
import type { ModbusRequest } from '../core/board/modbus-frame.ts';
import type { Sensed } from '../core/evidence/contact.ts';
import { recordFix, recordVoid, stepEvidence } from '../core/evidence/evidence.ts';
import { emptyEvidence } from '../core/evidence/evidence-record.ts';
import { createEvidence, type EvidenceState } from '../core/evidence/evidence-state.ts';
import { type Evidence, testimonyOf } from '../core/evidence/testimony.ts';
import {
  assembleEpochs,
  createEpochState,
  type EpochReport,
  flushEpoch,
  recordBytes,
} from '../core/gnss/epochs.ts';
import { createNmeaState, decodeNmea } from '../core/gnss/nmea.ts';
import { createPlausibilityState, judgeFix } from '../core/gnss/plausibility.ts';
import { causesOf, fittedWitnesses } from '../core/kernel/vehicle-evidence.ts';
import { factOfBoard, factsOfSentences, guardSetupOf } from '../core/kernel/vehicle-guard.ts';
import { vehicleLimits } from '../core/kernel/vehicle-state.ts';
import { judge } from '../core/protection/interlock.ts';
import { rulesOf } from '../core/protection/protection.ts';
import { inputRules } from '../core/vehicle/vehicle-start.ts';
import { createGuard, type GuardFact, recordFact } from '../guard/facts.ts';
import { askGuard, type Refusal } from '../guard/guard.ts';

export type LiveConfig = Pick<
  AgentConfig,
  'profile' | 'boardPort' | 'gnssPort' | 'earliestUtcMs' | 'settings' | 'protection' | 'owner'
>;

export interface RelayOutcome {
  readonly outcome: 'confirmed' | 'mismatch' | 'unknown' | 'refused';
  readonly reason: string | null;
}

export interface RelayOrder {
  readonly holdMs?: number | undefined;
  readonly agreedMs?: number;
}

export interface LiveVehicle {
  evidence(): Evidence;
  /** As read within the last 15 s; null: not known. */
  relay(name: RelayName): boolean | null;
  /** The input of the loop-back as last sampled; null: not known. */
  loopback(): { readonly on: boolean | null; readonly atMs: number } | null;
  /**
   * One order, on the wire within 1.5 s or not at all; resolves with what was read back. `agreedMs`: when the person at the unit typed the consent,
   * without which the relay guard lets no relay close.
   */
  setRelay(name: RelayName, energised: boolean, more?: RelayOrder): Promise<RelayOutcome>;
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
const analogAgeMs = 10_000;
/** An order has ended by then, whatever the state of the bus: its retries and read-backs included. */
const outcomeMs = 6000;

/** What the receiver proves. A port that does not open proves nothing, and the interlock waits. */
async function openSight(config: LiveConfig, guard: LiveGuard, { clock, openByteLink }: LivePorts) {
  const { profile, protection } = config;
  let nmea = createNmeaState();
  let epochs = createEpochState({ earliestUtcMs: config.earliestUtcMs });
  let plausibility = createPlausibilityState();
  let evidence: EvidenceState = createEvidence({
    record: emptyEvidence('doctor'),
    fitted: fittedWitnesses(profile),
    causes: causesOf(profile),
    hdopMost: rulesOf(protection, profile).hdopMost,
    poweredMs: clock.monoMs(),
    nowMs: clock.monoMs(),
  });
  const recordReports = (reports: readonly EpochReport[]): void => {
    for (const report of reports) {
      if (report.kind === 'void') {
        evidence = recordVoid(evidence, report);
        continue;
      }
      const judged = judgeFix(plausibility, report.fix);
      plausibility = judged.state;
      evidence = recordFix(evidence, judged.fix, { atMs: clock.monoMs(), utcMs: null });
    }
  };
  const link = await openByteLink(config.gnssPort, {
    onBytes(bytes) {
      const atMs = clock.monoMs();
      const decoded = decodeNmea(nmea, bytes);
      nmea = decoded.state;
      for (const fact of factsOfSentences(decoded.sentences, atMs)) guard.take(fact);
      epochs = recordBytes(epochs, atMs);
      for (const sentence of decoded.sentences) {
        const step = assembleEpochs(epochs, sentence, atMs);
        epochs = step.state;
        recordReports(step.reports);
      }
    },
    onDown: () => undefined,
  }).catch(() => null);
  return {
    /** What receiver and board show together now. */
    testimony(board: Pick<Hand, 'sensed' | 'analog'>) {
      const atMs = clock.monoMs();
      const seen = {
        ignition: board.sensed('ignition'),
        motion: board.sensed('motion'),
        rpm: board.analog('rpm'),
        supplyV: board.analog('supplyVoltage'),
        answering: [],
      };
      const now = { atMs, utcMs: clock.utcMs() };
      evidence = stepEvidence(evidence, seen, now);
      return testimonyOf(evidence, now);
    },
    passTime(): void {
      const step = flushEpoch(epochs, clock.monoMs());
      epochs = step.state;
      recordReports(step.reports);
    },
    close: async () => link?.close(),
  };
}

/** Keeps every value of an answer; absent counts as unknown. */
function keepAll<Name extends string, Value, Kept>(
  to: Map<Name, Kept>,
  values: Readonly<Partial<Record<Name, Value | null>>>,
  make: (value: Value | null) => Kept,
): void {
  for (const name of Object.keys(values) as Name[]) to.set(name, make(values[name] ?? null));
}

type Hand = Awaited<ReturnType<typeof openHand>>;

/** The relay guard, as the agent has it. A person at the unit is the only one that orders here. @param isAllowed the interlock's verdict. */
function createLiveGuard(config: LiveConfig, clock: Clock, isAllowed: (feature: FeatureName) => boolean) {
  const setup = guardSetupOf({ ...config, accountID: '', deviceID: '', boot: '', verifier: null });
  let facts = createGuard();
  let refused: readonly Refusal[] = [];
  return {
    take(fact: GuardFact): void {
      facts = recordFact(setup, facts, fact);
    },
    permit(request: ModbusRequest) {
      const { state, permit, refusals, feature } = askGuard(setup, facts, {
        request,
        nowMs: clock.monoMs(),
        isAllowed,
      });
      facts = state;
      if (feature !== null) refused = refusals;
      return permit;
    },
    /** The person at the unit agreed at this time that the relay may close. */
    agree(relay: RelayName, agreedMs: number | undefined): void {
      if (agreedMs === undefined || (relay !== 'enginecutoff' && relay !== 'cargoaccess')) return;
      const proof = { kind: 'attended', feature: relay, agreedMs } as const;
      facts = recordFact(setup, facts, { kind: 'order', atMs: clock.monoMs(), origin: 'new', proof });
    },
    /** The outcome with the guard's reasons, where it held the order until its time was over. */
    explain(outcome: RelayOutcome, energised: boolean): RelayOutcome {
      const isHeld = energised && outcome.outcome === 'refused' && refused.length > 0;
      return isHeld ? { ...outcome, reason: `the relay guard refuses it: ${refused.join(', ')}` } : outcome;
    },
  };
}
type LiveGuard = ReturnType<typeof createLiveGuard>;

/** What the board was read as. */
function createReadings(profile: LiveConfig['profile'], clock: Clock) {
  let inputs = createInputs<InputName>(inputRules({ profile }), clock.monoMs());
  const analogs = new Map<AnalogName, { readonly value: number | null; readonly atMs: number }>();
  const relays = new Map<RelayName, { readonly on: boolean | null; readonly atMs: number }>();
  let loopback: ReturnType<LiveVehicle['loopback']> = null;
  const relay = (name: RelayName): boolean | null => {
    const reading = relays.get(name);
    const isFresh = reading !== undefined && clock.monoMs() - reading.atMs <= vehicleLimits.relaysAgeMs;
    return isFresh ? reading.on : null;
  };
  return {
    relay,
    loopback: () => loopback,
    isAlive: (): boolean => [...relays.keys()].some((name) => relay(name) !== null),
    sensed: (name: InputName): Sensed => alertTo(inputs, name),
    /** In the unit of its table; null when it was not read within the last 10 s. */
    analog(name: AnalogName): number | null {
      const reading = analogs.get(name);
      return reading !== undefined && clock.monoMs() - reading.atMs <= analogAgeMs ? reading.value : null;
    },
    passTime(): void {
      inputs = stepInputs(inputs, { kind: 'time', atMs: clock.monoMs() }).state;
    },
    take(output: BoardOutput): void {
      const atMs = clock.monoMs();
      if (output.kind === 'inputs')
        inputs = stepInputs(inputs, { kind: 'sample', atMs: output.atMs, values: output.values }).state;
      if (output.kind === 'loopback') loopback = { on: output.on, atMs };
      if (output.kind === 'analogs') keepAll(analogs, output.values, (value) => ({ value, atMs }));
      if (output.kind === 'relays') keepAll(relays, output.values, (on) => ({ on, atMs }));
      if (output.kind === 'relayResult' && output.readBack !== null)
        relays.set(output.relay, { on: output.readBack, atMs });
    },
  };
}

/** Outputs of the board, and the orders to it. */
async function openHand(config: LiveConfig, guard: LiveGuard, { clock, openByteLink }: LivePorts) {
  const { profile } = config;
  let board = createBoard(profile);
  const readings = createReadings(profile, clock);
  let link: ByteLink | null = null;
  let cancel: Cancel = () => undefined;
  let down: string | null = null;
  let orders = 0;
  const waiting = new Map<string, (outcome: RelayOutcome) => void>();
  const handleOutput = (output: BoardOutput): void => {
    readings.take(output);
    if (output.kind === 'write') link?.write(output.bytes);
    if (output.kind !== 'relayResult') return;
    waiting.get(output.token)?.({ outcome: output.outcome, reason: output.reason });
    waiting.delete(output.token);
  };
  const feed = (input: BoardInput): void => {
    guard.take({ kind: 'step', atMs: input.atMs });
    const stepped = stepBoard(board, input, guard.permit);
    board = stepped.state;
    for (const output of stepped.outputs) {
      const fact = factOfBoard(profile, board, output);
      if (fact !== null) guard.take(fact);
      handleOutput(output);
    }
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
  return {
    ...readings,
    fault: () => down,
    isAlive: (): boolean => down === null && readings.isAlive(),
    passTime(): void {
      guard.take({ kind: 'step', atMs: clock.monoMs() });
      readings.passTime();
    },
    setRelay(name: RelayName, energised: boolean, more: RelayOrder = {}): Promise<RelayOutcome> {
      const { holdMs, agreedMs } = more;
      const token = `doctor:${orders++}`;
      return new Promise((resolve) => {
        waiting.set(token, (outcome) => resolve(guard.explain(outcome, energised)));
        clock.after(outcomeMs, () => resolve({ outcome: 'unknown', reason: 'no result in time' }));
        const atMs = clock.monoMs();
        guard.agree(name, agreedMs);
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
export async function openLiveVehicle(config: LiveConfig, ports: LivePorts): Promise<LiveVehicle> {
  const { clock } = ports;
  const rules = rulesOf(config.protection, config.profile);
  const guard = createLiveGuard(config, clock, (feature) =>
    isAllowed(judge({ feature, state: '1', occasion: 'attended' }, evidence(), rules)),
  );
  const hand = await openHand(config, guard, ports);
  const sight = await openSight(config, guard, ports);
  let cancel: Cancel = () => undefined;
  const again = (): void => {
    cancel = clock.after(stepMs, () => {
      hand.passTime();
      sight.passTime();
      again();
    });
  };
  again();
  const evidence = (): Evidence => {
    const nowMs = clock.monoMs();
    // Expiry does not matter here: a person at the vehicle is asked now.
    const utcMs = clock.utcMs();
    return {
      nowMs,
      ...sight.testimony(hand),
      panic: hand.sensed('panic'),
      trustedUtcMs: utcMs,
      latestUtcMs: utcMs,
      isTimeBehind: false,
      isServerBehind: false,
      isTimeConfirmed: true,
      boardAlive: hand.isAlive(),
      askedMs: nowMs,
      heldUpMs: Number.NEGATIVE_INFINITY,
    };
  };
  return {
    relay: hand.relay,
    loopback: hand.loopback,
    setRelay: hand.setRelay,
    fault: hand.fault,
    evidence,
    async close() {
      cancel();
      await hand.close();
      await sight.close();
    },
  };
}
