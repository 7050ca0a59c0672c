// Evidence for tests of what is decided by it: a commissioned vehicle as it would testify, from what its sensors read. The claims
// of the witnesses follow from the readings, so that no test can describe a vehicle that contradicts itself by mistake.
import type { Causes } from '../../../agent/core/evidence/common-causes.ts';
import type { Sensed } from '../../../agent/core/evidence/contact.ts';
import { evidenceLimits } from '../../../agent/core/evidence/evidence-state.ts';
import { type GnssClaim } from '../../../agent/core/evidence/gnss-claim.ts';
import { type GnssFault, gnssLimits } from '../../../agent/core/evidence/gnss-standing.ts';
import { type Evidence, type Witness } from '../../../agent/core/evidence/testimony.ts';
import type { WitnessName, WitnessState } from '../../../src/core/verdict/witness.ts';
import { plainCauses } from './plain-causes.ts';

export const fixtureUtcMs = 1_790_000_000_000;

/** What a vehicle reads; what is left out is as on a commissioned vehicle that has been parked for two minutes. */
export interface Readings extends Partial<Omit<Evidence, 'nowMs' | 'witnesses'>> {
  /** Null: not fitted. */
  readonly motion?: Sensed | null;
  readonly rpm?: 'rest' | 'active' | null;
  readonly voltage?: 'rest' | 'active' | null;
  /** Of witnesses that are fitted; `proven` where nothing stands here. */
  readonly states?: Readonly<Partial<Record<WitnessName, WitnessState>>>;
  /** How it is wired; plain contacts where nothing stands here. */
  readonly causes?: Causes;
}

const standingMs = 120_000;

/** @param quietMs how long an input must be inactive to be at rest. */
function contactWitness(
  { state, causes }: Pick<Witness, 'state' | 'causes'>,
  seen: Sensed,
  now: { readonly nowMs: number; readonly quietMs: number },
): Witness {
  if (seen.value === true) return { state, causes, claim: 'active', restForMs: null };
  const isCounted = seen.value === false && state !== 'suspended';
  const restForMs = isCounted ? now.nowMs - seen.sinceMs : null;
  return { state, causes, claim: restForMs !== null && restForMs >= now.quietMs ? 'rest' : null, restForMs };
}

const absent: Witness = { state: 'absent', claim: null, restForMs: null, causes: [] };

/** The evidence of a commissioned vehicle at `nowMs`, monotonic; GNSS and ignition are its proven witnesses. */
export function evidenceAt(nowMs: number, readings: Readings = {}): Evidence {
  const { motion = null, rpm = null, voltage = null } = readings;
  const { states = {}, causes = plainCauses, ...given } = readings;
  const ignition = given.ignition ?? { value: false, sinceMs: nowMs - standingMs };
  const claimed = given.gnss ?? still(standingMs);
  // Its fixes are as fresh as can be.
  const gnss: GnssClaim =
    claimed.kind === 'still' && claimed.fixMs === freshly
      ? { ...claimed, fixMs: nowMs, arrivedMs: nowMs }
      : claimed;
  const level = (claim: 'rest' | 'active' | null, name: WitnessName): Witness =>
    claim === null
      ? absent
      : {
          state: states[name] ?? 'proven',
          causes: causes[name],
          claim,
          restForMs: claim === 'rest' ? standingMs : null,
        };
  const isStanding = gnss.kind === 'still' && gnss.forMs >= gnssLimits.windowMs;
  const position: Witness = {
    state: states.gnss ?? 'proven',
    causes: causes.gnss,
    claim: gnss.kind === 'moving' ? 'active' : isStanding ? 'rest' : null,
    restForMs: gnss.kind === 'still' ? gnss.forMs : null,
  };
  const drive = gnss.kind === 'moving' ? 'driving' : isStanding ? 'standing' : 'unknown';
  return {
    nowMs,
    ignition,
    ignitionSuspension: states.ignition === 'suspended' ? 'start' : null,
    offSinceMs: ignition.value === false ? ignition.sinceMs : null,
    panic: { value: false, sinceMs: 0 },
    suspectMs: null,
    drive: { state: drive, by: drive === 'unknown' ? null : 'gnss', sinceMs: nowMs - standingMs },
    trustedUtcMs: fixtureUtcMs + nowMs,
    latestUtcMs: fixtureUtcMs + nowMs,
    isTimeBehind: false,
    isServerBehind: false,
    isTimeConfirmed: true,
    boardAlive: true,
    askedMs: nowMs,
    heldUpMs: Number.NEGATIVE_INFINITY,
    ...given,
    gnss,
    witnesses: {
      gnss: position,
      ignition: contactWitness({ state: states.ignition ?? 'proven', causes: causes.ignition }, ignition, {
        nowMs,
        quietMs: 0,
      }),
      motion:
        motion === null
          ? absent
          : contactWitness({ state: states.motion ?? 'proven', causes: causes.motion }, motion, {
              nowMs,
              quietMs: evidenceLimits.quietMs,
            }),
      rpm: level(rpm, 'rpm'),
      voltage: level(voltage, 'voltage'),
    },
  };
}

/** Stands for the moment of the evidence. */
const freshly = Number.POSITIVE_INFINITY;

/** @param speedKmh of the newest fix; the one before it showed 0.3 km/h. */
export function still(forMs: number, fixMs = freshly, speedKmh = 0.1, arrivedMs = fixMs): GnssClaim {
  const at = { latitude: 43.65, longitude: -79.34 };
  return { kind: 'still', forMs, at, arrivedMs, fixMs, speedKmh, beforeKmh: 0.3 };
}

export function moving(speedKmh: number): GnssClaim {
  return { kind: 'moving', speedKmh, fixes: 5 };
}

export function unknownGnss(fault: GnssFault): GnssClaim {
  return { kind: 'unknown', fault };
}

/** On the road for a minute, ignition on. */
export function drivingAt(nowMs: number, readings: Readings = {}): Evidence {
  return evidenceAt(nowMs, {
    ignition: { value: true, sinceMs: nowMs - 60_000 },
    gnss: moving(62.4),
    ...readings,
  });
}
