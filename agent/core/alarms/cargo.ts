// The cargo door where it must not be open: while the cargo lock is locked, or on the move. Ignition off alone is no
// breach, because that is how cargo is unloaded. What is not known of lock, door or speed raises nothing.
import { type Episode, resumeEpisode, stepEpisode } from './episode.ts';
import { type MotionState, speedNow } from './motion.ts';
import { type AlarmStep, keptBack, lasted, type Scene, type Told } from './scene.ts';

/** The read-back of a lock is a few seconds old: an unlock that was just carried out must not look like a breach. */
const lockedMs = 12_000;

export interface CargoState {
  readonly forced: Episode;
  readonly driving: Episode;
}

export function createCargo(was: { readonly forced: boolean; readonly driving: boolean }): CargoState {
  return { forced: resumeEpisode(was.forced), driving: resumeEpisode(was.driving) };
}

interface Breach {
  readonly reason: string;
  readonly holds: boolean | null;
  readonly onMs: number;
}

function stepBreach(before: Episode, scene: Scene, breach: Breach): AlarmStep<Episode> {
  const { episode, news } = stepEpisode(before, {
    atMs: scene.nowMs,
    holds: breach.holds,
    onMs: breach.onMs,
    offMs: 2000,
    repeatMs: scene.settings.repeatS * 1000,
  });
  if (news === null) return { state: episode, told: [] };
  const { reason } = breach;
  const told: Told =
    news.kind === 'begin'
      ? { name: 'BREACH_ON', atMs: scene.nowMs, attributes: { reason, ...keptBack(news) } }
      : { name: 'BREACH_OFF', atMs: scene.nowMs, attributes: { reason, ...lasted(news) } };
  return { state: episode, told: [told] };
}

/** `one` and `other`, where nobody knows as long as it depends on what is not known. */
function both(one: boolean | null, other: boolean | null): boolean | null {
  if (one === false || other === false) return false;
  return one === null || other === null ? null : true;
}

/** Takes in one step, after the motion. */
export function stepCargo(before: CargoState, scene: Scene, motion: MotionState): AlarmStep<CargoState> {
  const { settings, cargoDoor, isCargoLocked, nowMs } = scene;
  const speedKmh = speedNow(motion, nowMs);
  const forced = stepBreach(before.forced, scene, {
    reason: 'open while locked',
    holds: settings.breachLocked ? both(cargoDoor, isCargoLocked) : false,
    onMs: lockedMs,
  });
  const driving = stepBreach(before.driving, scene, {
    reason: 'open while moving',
    holds: both(cargoDoor, speedKmh === null ? null : speedKmh >= settings.motionStartKmh),
    onMs: settings.breachS * 1000,
  });
  return {
    state: { forced: forced.state, driving: driving.state },
    told: [...forced.told, ...driving.told],
  };
}
