// Limits of the interlock, and the installer's choices within them. No setting weakens a limit, and no message changes any of this.
import { evidenceLimits } from '../evidence/evidence-state.ts';
import { gnssLimits } from '../evidence/gnss-standing.ts';

export const interlockLimits = {
  /** Minimum time of ignition off, if GNSS proves the standstill (edge-agents 2.3 rule 1). */
  ignitionOffMs: 10_000,
  /** Minimum time of ignition off without a fix. */
  ignitionOffNoFixMs: evidenceLimits.offNoFixMs,
  standstillMs: gnssLimits.windowMs,
  /** Minimum time of ignition off and of standstill, if the relay can stop a running engine. */
  runningCircuitMs: 30_000,
  /** Minimum time for which the warning output sounds before any action with ignition on (rule 13). */
  warningMs: 30_000,
  /** Minimum time between two changes of a relay (rule 11). */
  betweenChangesMs: 10_000,
  /** Maximum number of relay changes in an hour (rule 11); changes from all sources count. */
  changesPerHour: 6,
  /** No automatic cut within this time after a panic button is released, or after a start, because an earlier press is unknown. */
  panicCalmMs: 300_000,
  /** An order to a restrictive state is on the wire within this time or not at all: the proof holds for this moment only. */
  promptDriveMs: 500,
  /** Number of independent proven witnesses that must agree. */
  witnesses: 2,
  /** Maximum time from the recording of a fix at the least latency to a decision on it. A filtered speed is already old by then. */
  fixAgeMs: 300,
  /** Maximum time from the request for an input to a decision on it. */
  inputAgeMs: 600,
  /**
   * Data that arrived during a hold-up is read within this time after its end, even over a second hold-up that is too short to detect. A fix read
   * within it counts as old.
   */
  unreadMs: 130,
  /** A cut whose relay opened by itself needs only this time of ignition off, if the vehicle stood for `settledMs` without interruption. */
  reapplyOffMs: 1000,
  settledMs: 60_000,
} as const;

/**
 * `ignition_off`: prevents a start. `at_standstill`: also cuts a standing vehicle with ignition on, after a warning. The latter is for the starter
 * circuit only, because a vehicle may set off while the order is on its way.
 */
export type CutMode = 'ignition_off' | 'at_standstill';

/** Choices of the installer, in ms. Made only by `createRules`, which keeps every limit above. */
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
  readonly zoneCuts: boolean;
  /** Time for which an unlocked cargo lock stays open. */
  readonly unlockMs: number;
  /** A panic input is wired, so its unknown state does not count as calm. */
  readonly isPanicFitted: boolean;
}

/** Rules from the installer's choices; none is weaker than its limit. */
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
