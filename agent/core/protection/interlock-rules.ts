// The limits of the interlock, and what an installer may choose within them. No setting weakens a limit, and no
// message reaches any of this.
import { evidenceLimits } from '../evidence/evidence-state.ts';
import { gnssLimits } from '../evidence/gnss-standing.ts';

export const interlockLimits = {
  /** Ignition must have been off this long when standstill is proven by GNSS (edge-agents 2.3 rule 1). */
  ignitionOffMs: 10_000,
  /** ... and this long when there is no fix. */
  ignitionOffNoFixMs: evidenceLimits.offNoFixMs,
  /** Standstill must have lasted this long. */
  standstillMs: gnssLimits.windowMs,
  /** Where the relay can stop a running engine, ignition off and standstill must have lasted this long. */
  runningCircuitMs: 30_000,
  /** The warning output must have sounded this long before any action with ignition on (rule 13). */
  warningMs: 30_000,
  /** Least time between two changes of a relay (rule 11). */
  betweenChangesMs: 10_000,
  /** Most changes of a relay in an hour (rule 11); every change counts, also those of other sources. */
  changesPerHour: 6,
  /** No automatic cut for this long after a panic press was released, nor after a start, because a press before it is unknown. */
  panicCalmMs: 300_000,
  /** An order to a restrictive state is on the wire this soon or not at all: what was proven is about this moment only. */
  promptDriveMs: 500,
  /** Independent proven witnesses that must agree. */
  witnesses: 2,
  /** What rests on a receiver is decided this soon after its epoch would have been taken in at the least latency: a filtered speed is old enough by then. */
  fixAgeMs: 300,
  /** No input that a decision rests on was asked for longer ago. */
  inputAgeMs: 600,
  /** What came while this process was held up is read this soon after it, over a second hold-up that is too short to be seen. */
  unreadMs: 130,
  /**
   * Re-applying a cut whose relay opened by itself needs only this long of ignition off, if the vehicle stood for
   * `settledMs` without interruption.
   */
  reapplyOffMs: 1000,
  settledMs: 60_000,
} as const;

/**
 * `ignition_off`: prevent start. `at_standstill`: also on a standing vehicle with ignition on, after a warning; of the starter circuit only, as a
 * vehicle may set off while the order is on its way.
 */
export type CutMode = 'ignition_off' | 'at_standstill';

/** What the installer chose, in ms. Made by `createRules` only, which keeps every limit above. */
export interface InterlockRules {
  readonly cutMode: CutMode;
  /** The relay is in a circuit (ignition, fuel) in which it stops a running engine. */
  readonly canStopEngine: boolean;
  /** `wait`: no restrictive change without a fix. */
  readonly noGnss: 'wait' | 'ignition_off_only';
  readonly ignitionOffMs: number;
  readonly ignitionOffNoFixMs: number;
  readonly standstillMs: number;
  readonly warningMs: number;
  readonly hdopMost: number;
  /** Automatic cuts of geozones. */
  readonly zoneCuts: boolean;
  /** How long an unlocked cargo lock stays open. */
  readonly unlockMs: number;
  /** A panic input is wired, so an unknown state of it does not count as calm. */
  readonly isPanicFitted: boolean;
}

/** Rules from the installer's choices; none is ever weaker than its limit. */
export function createRules(chosen: Partial<InterlockRules> = {}): InterlockRules {
  const canStopEngine = chosen.canStopEngine ?? false;
  const floorMs = canStopEngine ? interlockLimits.runningCircuitMs : 0;
  const least = (name: 'ignitionOffMs' | 'ignitionOffNoFixMs' | 'standstillMs' | 'warningMs') =>
    Math.max(interlockLimits[name], chosen[name] ?? 0);
  return {
    cutMode: canStopEngine ? 'ignition_off' : (chosen.cutMode ?? 'ignition_off'),
    canStopEngine,
    noGnss: canStopEngine ? 'wait' : (chosen.noGnss ?? 'ignition_off_only'),
    ignitionOffMs: Math.max(floorMs, least('ignitionOffMs')),
    ignitionOffNoFixMs: least('ignitionOffNoFixMs'),
    standstillMs: Math.max(floorMs, least('standstillMs')),
    warningMs: least('warningMs'),
    hdopMost: Math.min(gnssLimits.hdop, chosen.hdopMost ?? gnssLimits.hdop),
    zoneCuts: chosen.zoneCuts ?? false,
    unlockMs: chosen.unlockMs ?? 30_000,
    isPanicFitted: chosen.isPanicFitted ?? false,
  };
}

/** The default mode: prevent start by the starter circuit, no automatic cuts. */
export const standardRules: InterlockRules = createRules();
