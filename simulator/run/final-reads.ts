// The end of a run: everything that people read of its vehicles is read back; users without rights must be refused.
import { messageOf } from '../../src/core/errors.ts';
import type { FinalViews } from '../core/judgement/judgement.ts';
import type { Ledger } from '../core/ledger/ledger.ts';
import type { ExerciseResult } from '../core/scenario/exercises.ts';
import { checkAccess } from './access-checks.ts';
import type { RunningExercises } from './exercises/exercises.ts';
import type { RunOptions } from './run-context.ts';
import type { BrokerAccess } from './service/broker-access.ts';
import type { Provisioned } from './service/provision.ts';
import { type ReadBack, readBackEvents, readBackStates } from './service/read-back.ts';
import { readAlertViews, readVehicleViews, spreadOf } from './service/read-views.ts';

interface FinalReads {
  readonly options: RunOptions;
  readonly access: BrokerAccess;
  readonly ledger: Ledger;
  readonly devices: readonly Provisioned[];
  /** The newest event of the service before the run. */
  readonly since: string;
  readonly streamSights: FinalViews['streamSights'];
  readonly exercises: RunningExercises;
  /** A run that a signal ended reads its records back and nothing else. */
  readonly isStopped: boolean;
  /** Called with the reason when the service did not let everything be read: the records are judged all the same. */
  onUnread(reason: string): void;
}

interface FinallyRead {
  /** Null for a run that was stopped, or when not everything could be read. */
  readonly views: FinalViews | null;
  readonly exercised: readonly ExerciseResult[];
}

const unread: FinallyRead = { views: null, exercised: [] };

export async function readFinally(run: FinalReads): Promise<FinallyRead> {
  const { access, ledger, since, isStopped } = run;
  const { service, own } = access;
  const isSameClock = own !== null;
  // Skips vehicles without an event: they may never have started.
  const read = isStopped ? [] : spreadOf([...ledger.vehicles.keys()].sort());
  const { kept, alerts } = await readBackEvents(service, ledger, { since, isSameClock, keep: read });
  await readBackStates(service, ledger);
  if (isStopped) return unread;
  try {
    return await readViews(run, { kept, alerts });
  } catch (thrown) {
    run.onUnread(messageOf(thrown));
    return unread;
  }
}

async function readViews(
  { options, access, ledger, devices, streamSights, exercises }: FinalReads,
  { kept, alerts }: ReadBack,
): Promise<FinallyRead> {
  const { service, own } = access;
  const isSameClock = own !== null;
  const [device] = devices;
  if (device !== undefined) await checkAccess(options.ports, access, { device, ledger });
  const vehicles = await readVehicleViews(service, kept);
  const views = { records: alerts, views: await readAlertViews(service) };
  const { results, breaches } = await exercises.judge({ ledger, alerts });
  for (const breach of breaches) ledger.breach(breach);
  const { userID } = access.target.login;
  return { views: { vehicles, alerts: views, streamSights, isSameClock, userID }, exercised: results };
}
