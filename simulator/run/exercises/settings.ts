// Saves settings of one vehicle: they come to its unit, it acts by them, and the service knows which it holds.
import { statusCodes } from '../../../src/core/events/status-codes.ts';
import type { Ledger } from '../../core/ledger/ledger.ts';
import type { ShownEvent, VehicleNotes } from '../../core/ledger/ledger-types.ts';
import { drivenSpans } from '../../core/ledger/trace.ts';
import {
  createFindings,
  type Exercise,
  type ExerciseContext,
  eventually,
  type Findings,
  post,
  read,
  readHistory,
} from './exercise.ts';

export interface ShownSettings {
  readonly settings: unknown;
  readonly configuration: {
    readonly state: string;
    readonly heldVersion: number;
    /** Since when, epoch seconds. */
    readonly heldOn: number;
    readonly reason: string;
  };
}

export const readSettings = ({ access }: ExerciseContext, deviceID: string): Promise<ShownSettings> =>
  read<ShownSettings>(access.service, `/settings/device/${deviceID}`);

/** Every so many seconds a position, and none for a way, turn or speed: a quarter of what other vehicles of the run report. */
const movingS = 8;
const settings = {
  reporting: { movingS, distanceM: 100_000, turnDeg: 180, cornerM: 0, speedDeltaKmh: 0 },
};
/** A shorter drive is not judged, ms. */
const drivenMs = 12_000;
const drivesKmh = 15;
/** The unit was looked at when the actions ended; what it took within this before is not compared, s. */
const lookS = 3;

/** Positions of a drive that are too many for what was saved. */
function wrongPace(
  records: readonly ShownEvent[],
  of: { readonly fromMs: number; readonly toMs: number },
): string | null {
  const positions = records.filter(
    ({ statusCode, timestamp }) =>
      statusCode === statusCodes.LOCATION.code &&
      timestamp * 1000 >= of.fromMs &&
      timestamp * 1000 <= of.toMs,
  ).length;
  const spanS = (of.toMs - of.fromMs) / 1000;
  const most = 2 + (spanS / movingS) * 1.4;
  return positions <= most
    ? null
    : `${positions} positions in ${Math.round(spanS)} s of driving; it was told to report one every ${movingS} s`;
}

/** Checks the pace of reports on each longer drive since the change. */
function lookAtPace(
  findings: Findings,
  vehicle: VehicleNotes,
  of: { records: readonly ShownEvent[]; fromMs: number },
): void {
  const stopMs = (vehicle.beganUtcMs ?? 0) + (vehicle.stopMs ?? 0);
  for (const driven of drivenSpans(vehicle.trace, drivesKmh)) {
    const span = { fromMs: Math.max(driven.fromMs, of.fromMs), toMs: Math.min(driven.toMs, stopMs) };
    if (span.toMs - span.fromMs < drivenMs) continue;
    findings.look(vehicle.deviceID, wrongPace(of.records, span));
  }
}

/** Checks that units hold the settings that the service says. */
async function lookAtUnits(findings: Findings, context: ExerciseContext, ledger: Ledger): Promise<void> {
  for (const { deviceID } of context.vehicles) {
    const vehicle = ledger.vehicles.get(deviceID);
    const version = vehicle?.crew.configVersion ?? null;
    if (vehicle === undefined || version === null) continue;
    const { configuration } = await readSettings(context, deviceID);
    const { heldVersion, heldOn } = configuration;
    const lookedS = ((vehicle.beganUtcMs ?? 0) + (vehicle.stopMs ?? 0)) / 1000;
    if (heldOn > lookedS - lookS) continue;
    const words = `configuration ${heldVersion} is shown as held, its unit holds ${version}`;
    findings.look(deviceID, version === heldVersion ? null : words);
  }
}

export const exerciseSettings: Exercise = async (context) => {
  const { access, vehicles, changes, ports } = context;
  const { service, target } = access;
  const findings = createFindings('settingsWrong');
  const deviceID = vehicles[0]?.deviceID ?? '';
  await post(service, '/settings/savedevice', { deviceID, settings });
  changes.push({ userID: target.login.userID, action: 'settings.savedevice', object: deviceID });
  const isHeld = await eventually(
    context,
    async () => (await readSettings(context, deviceID)).configuration.state === 'current',
  );
  // A position may be on its way by what held before.
  const fromMs = ports.clock.utcMs() + 2000;
  return async ({ ledger }) => {
    const shown = await readSettings(context, deviceID);
    const words = `its settings did not come to it: ${JSON.stringify(shown.configuration)}`;
    findings.look(deviceID, isHeld ? null : words);
    const isKept = JSON.stringify(shown.settings) === JSON.stringify(settings);
    const other = `settings ${JSON.stringify(shown.settings)} are not those that were saved`;
    findings.look(deviceID, isKept ? null : other);
    await lookAtUnits(findings, context, ledger);
    const vehicle = ledger.vehicles.get(deviceID);
    if (isHeld && vehicle !== undefined) {
      lookAtPace(findings, vehicle, { records: await readHistory(service, deviceID), fromMs });
    }
    return findings.outcome();
  };
};
