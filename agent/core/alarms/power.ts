// Supply cut, vehicle battery low, backup battery low: from voltages, where they are measured. The contact
// `externalPower` reports a cut itself (`sensor-events.ts`); the voltage only adds cuts that it missed. Starting the
// engine lowers the voltage for seconds and must raise no alarm. Any dip may be the last moment of power, so it
// requests a commit.
import type { AlarmSettings } from '../../../src/core/settings/alarms.ts';
import {
  type AlarmInput,
  type AlarmReport,
  type AlarmStep,
  durationOf,
  suppressedCount,
} from './alarm-types.ts';
import { type Episode, resumeEpisode, stepEpisode } from './episode.ts';

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
  /** The contact reported this cut and will report its end. */
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

type Part = Pick<AlarmStep<Episode>, 'state' | 'reports'>;

function stepCut(before: Episode, input: AlarmInput, given: { factor: number; isByContact: boolean }): Part {
  const { factor, isByContact } = given;
  const { supplyV, settings, nowMs } = input;
  const limitV = (settings.powerCutV + (before.isOn ? powerLimits.backV : 0)) * factor;
  const { episode, change } = stepEpisode(before, {
    atMs: nowMs,
    holds: settings.powerCutV === 0 ? false : supplyV === null ? null : supplyV < limitV,
    onMs: settings.powerCutS * 1000,
    offMs: powerLimits.backMs,
    repeatMs: 0,
    mayReport: !isByContact,
  });
  if (change === null) return { state: episode, reports: [] };
  const volts = supplyV === null ? {} : { supplyV };
  const report: AlarmReport =
    change.kind === 'begin'
      ? {
          name: 'POWER_FAILURE',
          atMs: change.sinceMs,
          attributes: { by: 'voltage', ...volts, ...suppressedCount(change) },
        }
      : {
          name: 'POWER_RESTORED',
          atMs: change.endMs,
          attributes: { by: 'voltage', ...volts, ...durationOf(change) },
        };
  return { state: episode, reports: [report] };
}

interface Battery {
  readonly name: 'vehicle' | 'backup';
  readonly volts: number | null;
  readonly lowV: number;
  readonly backV: number;
  readonly holdS: number;
}

function stepBattery(before: Episode, input: AlarmInput, battery: Battery): Part {
  const { volts, lowV, backV, holdS } = battery;
  const limitV = lowV + (before.isOn ? backV : 0);
  const { episode, change } = stepEpisode(before, {
    atMs: input.nowMs,
    holds: lowV === 0 ? false : volts === null ? null : volts < limitV,
    onMs: holdS * 1000,
    offMs: holdS * 1000,
    repeatMs: input.settings.repeatS * 1000,
  });
  if (change === null) return { state: episode, reports: [] };
  const facts = { battery: battery.name, ...(volts === null ? {} : { volts }) };
  const report: AlarmReport =
    change.kind === 'begin'
      ? {
          name: 'LOW_BATTERY',
          atMs: input.nowMs,
          attributes: { ...facts, limitV: lowV, ...suppressedCount(change) },
        }
      : { name: 'BATTERY_RESTORED', atMs: input.nowMs, attributes: { ...facts, ...durationOf(change) } };
  return { state: episode, reports: [report] };
}

/** A battery that is cut off altogether is a power failure, not a low battery. */
function supplyVolts(input: AlarmInput, factor: number): number | null {
  const { supplyV, settings } = input;
  return supplyV !== null && supplyV < settings.powerCutV * factor ? null : supplyV;
}

function lowSupply(settings: AlarmSettings, factor: number): Pick<Battery, 'lowV' | 'backV' | 'holdS'> {
  const { lowSupplyV, lowSupplyS } = settings;
  return { lowV: lowSupplyV * factor, backV: powerLimits.supplyBackV * factor, holdS: lowSupplyS };
}

/**
 * One step.
 * @param factor 1 on a 12 V system, 2 on a 24 V one.
 * @returns besides, `isDip`: commit pending events now, because the supply may fail.
 */
export function stepPower(
  before: PowerState,
  input: AlarmInput,
  factor: 1 | 2,
): AlarmStep<PowerState> & { readonly isDip: boolean } {
  const { supplyV, backupV, settings, nowMs } = input;
  const isByContact = input.externalPower === false || (before.isByContact && before.cut.isOn);
  const cut = stepCut(before.cut, input, { factor, isByContact });
  const supply = stepBattery(before.supply, input, {
    name: 'vehicle',
    volts: supplyVolts(input, factor),
    ...lowSupply(settings, factor),
  });
  const backup = stepBattery(before.backup, input, {
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
    reports: [...cut.reports, ...supply.reports, ...backup.reports],
    isDip,
  };
}
