// The judge of the hostile world: every closing of a restrictive contact against the truth, never against what the agent read.
import { ofVehicle } from '../../../agent/core/protection/witness-rules.ts';
import { type FeatureName } from '../../../src/core/events/event.ts';
import { type WitnessName, witnessNames } from '../../../src/core/verdict/witness.ts';
import { type Alarm, honestAlarms, isVehicleMisled, misleading } from './hostile-causes.ts';
import { breach, count, latencyMs, type World } from './hostile-life.ts';

/** What speaks of the vehicle itself, and not of its engine. */
const ofMovement: readonly Alarm[] = [...ofVehicle, 'bus speed'];

/** The witnesses that are proven and say "at rest" now: what a verdict can rest on. */
function resting(world: World): readonly WitnessName[] {
  const { witnesses } = world.vehicle.evidence();
  return witnessNames.filter(
    (name) => witnesses[name].state === 'proven' && witnesses[name].claim === 'rest',
  );
}

/** No contact closes while a healthy sensor has been showing the opposite for longer than anything takes. */
function judgeAlarms(world: World, relay: FeatureName): void {
  const { truth, nowMs, senses, rules } = world;
  const alarms = honestAlarms(senses, truth, {
    hasBus: world.bus !== null,
    atMs: nowMs,
    sinceMs: nowMs - latencyMs - 1000,
  });
  const isAboutEngine = relay === 'enginecutoff' && rules.cutMode === 'ignition_off';
  // A unit that was started after the engine has not seen the voltage rise, and takes it for a charger's.
  const hasSeenRise = truth.ignitionSinceMs >= world.freshMs && truth.ignitionSinceMs > world.startedMs;
  const counted = alarms.filter(
    (name) => ofMovement.includes(name) || (isAboutEngine && (name !== 'voltage' || hasSeenRise)),
  );
  if (counted.length > 0) breach(world, `${relay} closed against ${counted.join(' and ')}`);
}

/** A contact closes on a vehicle that moves: allowed only where two proven witnesses mislead at the same time. */
export function judgeMotion(world: World, relay: FeatureName): void {
  const { truth, counts, nowMs } = world;
  const movingMs = truth.movingSinceMs === null ? 0 : nowMs - truth.movingSinceMs;
  count(counts.speeds, `${Math.floor(truth.speedKmh / 10) * 10}`);
  judgeAlarms(world, relay);
  if (movingMs <= latencyMs) return;
  const rest = resting(world);
  const lies = misleading(world.senses, rest, { atMs: nowMs, freshMs: world.freshMs });
  // With the key off an ignition that reads "off" is honest, and the engine does not run.
  if (!truth.ignition && (lies.length > 0 || isVehicleMisled(world.senses, rest, nowMs))) {
    counts.towed += 1;
    return;
  }
  if (lies.length >= 2) return count(counts.doubleLies, lies.join(' + '));
  breach(
    world,
    `${relay} closed at ${truth.speedKmh.toFixed(1)} km/h; misled by: ${lies.join(', ') || 'nothing'}`,
  );
}

export function judgeEngineCut(world: World, token: string): void {
  const { truth, rules, nowMs, counts } = world;
  const onMs = truth.ignition ? nowMs - truth.ignitionSinceMs : 0;
  const isSeen = !world.senses.faults.some(
    ({ part }) => part === 'ignition' || part === 'board' || part === 'supply',
  );
  if (onMs <= 1600 || world.senses.unwired.includes('ignition') || !isSeen) return;
  counts.withIgnitionOn += 1;
  const soundedMs = world.contacts.warning ? nowMs - world.warningSinceMs : 0;
  if (rules.cutMode === 'ignition_off' || !token.startsWith('drive:'))
    breach(world, `closed ${onMs} ms after the key was turned`);
  else if (soundedMs < rules.warningMs) breach(world, `closed after ${soundedMs} ms of warning`);
}

/** Geozones cut only where the installer allows it, and never while or shortly after panic was pressed. */
function judgeAutomatic(world: World, commandID: string): void {
  const { rules, nowMs, panicMs, truth } = world;
  if (!rules.zoneCuts) breach(world, `${commandID} closed without permission`);
  if (rules.isPanicFitted && nowMs - panicMs < 290_000) breach(world, `${commandID} closed after panic`);
  if (
    truth.ignition &&
    nowMs - truth.ignitionSinceMs > latencyMs &&
    !world.senses.unwired.includes('ignition')
  )
    judgeAlarms(world, 'enginecutoff');
}

/** Asked for, in time, once, and known to the disk before. */
export function judgeCommand(world: World, relay: FeatureName, token: string): void {
  const { record } = world.disk.now;
  const { nowMs } = world;
  if (token.startsWith('repair:')) {
    if (record.confirmed[relay]?.state !== '1') breach(world, 'closed by a repair of nothing');
    return;
  }
  if (!token.startsWith('drive:')) return breach(world, `closed by ${token}`);
  const commandID = token.slice('drive:'.length);
  const sinceMs = nowMs - world.changedMs[relay];
  if (sinceMs < 9000) breach(world, `${relay} closed ${sinceMs} ms after its last change`);
  if (commandID.startsWith('local-')) return judgeAutomatic(world, commandID);
  const body = world.issued.find((item) => item.commandID === commandID);
  if (body?.state !== '1') breach(world, `closed for ${commandID}, which was not ordered`);
  else {
    const lateMs = nowMs - (world.sentMs.get(commandID) ?? 0) - (body.expiresMs - body.issuedMs);
    if (lateMs >= 0) breach(world, `closed ${lateMs} ms after the end of ${commandID}`);
  }
  const active = record.active[relay];
  if (active?.commandID !== commandID || active.phase !== 'executing')
    breach(world, `closed for ${commandID} before the disk knew`);
  if (world.movedBy.get(commandID) === true) breach(world, `closed twice for ${commandID}`);
  world.movedBy.set(commandID, true);
  world.lastMover.set(relay, commandID);
}
