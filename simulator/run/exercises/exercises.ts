// All exercises of a run: begun when vehicles are on the road, judged when they are off it.
import { messageOf } from '../../../src/core/errors.ts';
import type { Breach } from '../../core/ledger/ledger-types.ts';
import type { ShownDevice } from '../../core/ledger/shown-views.ts';
import type { ExerciseName, ExerciseResult } from '../../core/scenario/exercises.ts';
import type { Scenario } from '../../core/scenario/scenario-schema.ts';
import type { FleetDevice } from '../fleet/fleet.ts';
import type { BrokerAccess } from '../service/broker-access.ts';
import { spreadOf } from '../service/read-views.ts';
import type { RunPorts } from '../shared/run-ports.ts';
import { exerciseApprovals } from './approvals.ts';
import { exerciseAudit } from './audit.ts';
import { type Ends, type Exercise, type ExerciseContext, eventually, type Judge, read } from './exercise.ts';
import { exerciseGroups } from './groups.ts';
import { exerciseMessages } from './messages.ts';
import { exerciseSecrets } from './secrets.ts';
import { exerciseServiceCodes } from './service-codes.ts';
import { exerciseSettings } from './settings.ts';
import { exerciseWebhook } from './webhook.ts';
import { exerciseZones } from './zones.ts';

const exercises: Readonly<Record<ExerciseName, Exercise>> = {
  settings: exerciseSettings,
  zones: exerciseZones,
  messages: exerciseMessages,
  webhook: exerciseWebhook,
  groups: exerciseGroups,
  secrets: exerciseSecrets,
  approvals: exerciseApprovals,
  serviceCodes: exerciseServiceCodes,
  audit: exerciseAudit,
};

/** What exercises need of a run. */
export interface ExercisedRun extends BrokerAccess, Pick<ExerciseContext, 'time' | 'ledger' | 'workers'> {
  readonly options: { readonly scenario: Scenario; readonly ports: RunPorts };
  readonly devices: readonly FleetDevice[];
}

/** Vehicles that must have reported before anything begins, of a fleet that has as many. */
const vehiclesLeast = 4;

export interface RunningExercises {
  /** Resolves when each is carried out and units were looked at; nothing may be under way when vehicles leave the road. */
  finish(): Promise<void>;
  /** @returns what each has compared, and the breaches. */
  judge(
    ends: Ends,
  ): Promise<{ readonly results: readonly ExerciseResult[]; readonly breaches: readonly Breach[] }>;
}

interface Begun extends Omit<ExerciseResult, 'looked'> {
  readonly judge: Judge | null;
}

/** Devices of the run that have reported a position, once there are enough of them. */
async function awaitVehicles(
  context: ExercisedRun,
  isStopped: () => boolean,
): Promise<ExerciseContext['vehicles']> {
  const { devices, service, options } = context;
  let reporting: readonly FleetDevice[] = [];
  await eventually(
    { isStopped },
    async () => {
      const shown = await read<{ devices: readonly ShownDevice[] }>(service, '/device/getalldevices');
      const ids = new Set(
        shown.devices
          .filter(({ deviceLastValidTimestamp }) => deviceLastValidTimestamp > 0)
          .map(({ deviceID }) => deviceID),
      );
      reporting = devices.filter(({ deviceID }) => ids.has(deviceID));
      return reporting.length >= Math.min(vehiclesLeast, devices.length);
    },
    options.scenario.durationS * 1000,
  );
  return reporting;
}

/** Begins the exercises of a scenario. Those that change the account need a broker of the run's own: elsewhere none is carried out. */
export function beginExercises(context: ExercisedRun, stop: { readonly isAsked: boolean }): RunningExercises {
  const { own, options, time, ledger, workers } = context;
  const { scenario, ports } = options;
  const isStopped = (): boolean => stop.isAsked;
  const begin = async (name: ExerciseName, shared: ExerciseContext): Promise<Begun> => {
    const none = { name, isPossible: true, judge: null };
    if (shared.vehicles.length === 0) return { ...none, reason: 'no vehicle reported a position' };
    try {
      return { ...none, judge: await exercises[name](shared), reason: '' };
    } catch (thrown) {
      return { ...none, reason: messageOf(thrown) };
    }
  };
  const beginAll = async (): Promise<readonly Begun[]> => {
    if (scenario.exercises.length === 0) return [];
    if (own === null || scenario.fleet.kind !== 'agent') {
      const reason =
        own === null
          ? 'it changes the account, and is done with a broker of its own only'
          : 'light trackers have no unit that takes anything';
      return scenario.exercises.map((name) => ({ name, isPossible: false, judge: null, reason }));
    }
    looked = await awaitVehicles(context, isStopped);
    const shared: ExerciseContext = {
      access: { ...context, own },
      ports,
      time,
      ledger,
      workers,
      vehicles: looked,
      durationS: scenario.durationS,
      ttlS: scenario.commands.ttlS,
      changes: [],
      secrets: [],
      isStopped,
    };
    return Promise.all(scenario.exercises.map((name) => begin(name, shared)));
  };
  let looked: ExerciseContext['vehicles'] = [];
  const begun = beginAll();
  begun.catch(() => undefined); // awaited by `finish`
  return {
    async finish() {
      await begun;
      for (const { deviceID } of spreadOf(looked))
        workers.instruct({ kind: 'crew', deviceID, act: { kind: 'look' } });
    },
    async judge(ends) {
      const results: ExerciseResult[] = [];
      const breaches: Breach[] = [];
      for (const { judge, ...one } of await begun) {
        const outcome = judge === null ? { looked: 0, breaches: [] } : await judge(ends);
        results.push({ ...one, looked: outcome.looked });
        for (const breach of outcome.breaches) breaches.push(breach);
      }
      return { results, breaches };
    },
  };
}
