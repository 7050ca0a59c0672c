// Supply cut, vehicle battery low, backup battery low: from voltages, where they are measured. The contact `externalPower`
// tells of a cut by itself (`sensor-events.ts`); the voltage only adds what the contact did not see. Starting the engine
// pulls the voltage down for seconds and must raise nothing; any dip may be the last breath, so it asks to save what waits.
import type { AlarmSettings } from '../../../src/core/settings/alarms.ts';
import { type Episode, resumeEpisode, stepEpisode } from './episode.ts';
import { type AlarmStep, keptBack, lasted, type Scene, type Told } from './scene.ts';

const powerLimits = {
  /** Supply counts as back this far above `powerCutV`, for this long. */
  backV: 2,
  backMs: 5000,
  /** A battery is good again this far above its low limit (12 V system), for as long as it took to be low. */
  supplyBackV: 0.6,
  backupBackV: 0.2,
  /** Below this (12 V system) what waits is saved at once, but not more often than this. */
  dipV: 9,
  dipAgainMs: 60_000,
} as const;

export interface PowerState {
  readonly cut: Episode;
  /** The contact told of this cut, and tells of its end. */
  readonly isByContact: boolean;
  readonly supply: Episode;
  readonly backup: Episode;
  readonly dippedMs: number | null;
}

export function createPower(was: {
  readonly cut: boolean;
  readonly supply: boolean;
  readonly backup: boolean;
}): PowerState {
  return {
    cut: resumeEpisode(was.cut),
    isByContact: false,
    supply: resumeEpisode(was.supply),
    backup: resumeEpisode(was.backup),
    dippedMs: null,
  };
}

type Part = Pick<AlarmStep<Episode>, 'state' | 'told'>;

function stepCut(before: Episode, scene: Scene, given: { factor: number; isByContact: boolean }): Part {
  const { factor, isByContact } = given;
  const { supplyV, settings, nowMs } = scene;
  const limitV = (settings.powerCutV + (before.isOn ? powerLimits.backV : 0)) * factor;
  const { episode, news } = stepEpisode(before, {
    atMs: nowMs,
    holds: settings.powerCutV === 0 ? false : supplyV === null ? null : supplyV < limitV,
    onMs: settings.powerCutS * 1000,
    offMs: powerLimits.backMs,
    repeatMs: 0,
    mayTell: !isByContact,
  });
  if (news === null) return { state: episode, told: [] };
  const volts = supplyV === null ? {} : { supplyV };
  const told: Told =
    news.kind === 'begin'
      ? {
          name: 'POWER_FAILURE',
          atMs: news.sinceMs,
          attributes: { by: 'voltage', ...volts, ...keptBack(news) },
        }
      : {
          name: 'POWER_RESTORED',
          atMs: news.endMs,
          attributes: { by: 'voltage', ...volts, ...lasted(news) },
        };
  return { state: episode, told: [told] };
}

interface Battery {
  readonly name: 'vehicle' | 'backup';
  readonly volts: number | null;
  readonly lowV: number;
  readonly backV: number;
  readonly holdS: number;
}

function stepBattery(before: Episode, scene: Scene, battery: Battery): Part {
  const { volts, lowV, backV, holdS } = battery;
  const limitV = lowV + (before.isOn ? backV : 0);
  const { episode, news } = stepEpisode(before, {
    atMs: scene.nowMs,
    holds: lowV === 0 ? false : volts === null ? null : volts < limitV,
    onMs: holdS * 1000,
    offMs: holdS * 1000,
    repeatMs: scene.settings.repeatS * 1000,
  });
  if (news === null) return { state: episode, told: [] };
  const facts = { battery: battery.name, ...(volts === null ? {} : { volts }) };
  const told: Told =
    news.kind === 'begin'
      ? { name: 'LOW_BATTERY', atMs: scene.nowMs, attributes: { ...facts, limitV: lowV, ...keptBack(news) } }
      : { name: 'BATTERY_RESTORED', atMs: scene.nowMs, attributes: { ...facts, ...lasted(news) } };
  return { state: episode, told: [told] };
}

/** A battery that is cut off altogether is a power failure, not a low battery. */
function supplyVolts(scene: Scene, factor: number): number | null {
  const { supplyV, settings } = scene;
  return supplyV !== null && supplyV < settings.powerCutV * factor ? null : supplyV;
}

function lowSupply(settings: AlarmSettings, factor: number): Pick<Battery, 'lowV' | 'backV' | 'holdS'> {
  const { lowSupplyV, lowSupplyS } = settings;
  return { lowV: lowSupplyV * factor, backV: powerLimits.supplyBackV * factor, holdS: lowSupplyS };
}

/**
 * Takes in one step.
 * @param factor 1 on a 12 V system, 2 on a 24 V one.
 * @returns besides, `isDip`: save now what waits, because the supply may be about to go.
 */
export function stepPower(
  before: PowerState,
  scene: Scene,
  factor: 1 | 2,
): AlarmStep<PowerState> & { readonly isDip: boolean } {
  const { supplyV, backupV, settings, nowMs } = scene;
  const isByContact = scene.externalPower === false || (before.isByContact && before.cut.isOn);
  const cut = stepCut(before.cut, scene, { factor, isByContact });
  const supply = stepBattery(before.supply, scene, {
    name: 'vehicle',
    volts: supplyVolts(scene, factor),
    ...lowSupply(settings, factor),
  });
  const backup = stepBattery(before.backup, scene, {
    name: 'backup',
    volts: backupV,
    lowV: settings.lowBackupV,
    backV: powerLimits.backupBackV,
    holdS: settings.lowBackupS,
  });
  const isLow = supplyV !== null && supplyV < powerLimits.dipV * factor;
  const isDip = isLow && (before.dippedMs === null || nowMs - before.dippedMs >= powerLimits.dipAgainMs);
  return {
    state: {
      cut: cut.state,
      isByContact,
      supply: supply.state,
      backup: backup.state,
      dippedMs: isDip ? nowMs : before.dippedMs,
    },
    told: [...cut.told, ...supply.told, ...backup.told],
    isDip,
  };
}
