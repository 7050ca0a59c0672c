// Shared by exercises: context, waiting and findings.
import { setTimeout as sleep } from 'node:timers/promises';
import { vehicleBreach } from '../../core/ledger/breach.ts';
import type { Ledger } from '../../core/ledger/ledger.ts';
import type { Breach, BreachKind, ShownEvent } from '../../core/ledger/ledger-types.ts';
import type { FleetDevice } from '../fleet/fleet.ts';
import type { BrokerAccess, OwnBroker } from '../service/broker-access.ts';
import type { Login, Service } from '../service/service.ts';
import type { RunPorts, RunTime } from '../shared/run-ports.ts';
import { createSecretText } from '../shared/secret-text.ts';
import type { Workers } from '../workers/workers.ts';

/** A change that must stand in the audit log. */
export interface AuditedChange {
  readonly userID: string;
  readonly action: string;
  readonly object: string;
}

export interface ExerciseContext {
  readonly access: BrokerAccess & { readonly own: OwnBroker };
  readonly ports: RunPorts;
  readonly time: RunTime;
  readonly ledger: Ledger;
  readonly workers: Pick<Workers, 'instruct'>;
  /** Vehicles that have reported a position to the service, in the order of their numbers; at least one. */
  readonly vehicles: readonly FleetDevice[];
  /** Of the whole run, seconds. */
  readonly durationS: number;
  /** Lifetime of cuts, seconds. */
  readonly ttlS: number;
  /** What exercises have changed so far. */
  readonly changes: AuditedChange[];
  /** Texts that no log may hold. */
  readonly secrets: string[];
  isStopped(): boolean;
}

export interface Outcome {
  /** Comparisons that were made. */
  readonly looked: number;
  readonly breaches: readonly Breach[];
}

/** Facts known when all vehicles are off the road. */
export interface Ends {
  /** With the notes of all vehicles. */
  readonly ledger: Ledger;
  /** Records of alerts of the run's vehicles, as the listing of the fleet gives them. */
  readonly alerts: readonly ShownEvent[];
}

/** Compares what came of it. */
export type Judge = (ends: Ends) => Promise<Outcome>;

/** Carries it out while vehicles are on the road. @throws AppError when it can't. */
export type Exercise = (context: ExerciseContext) => Promise<Judge>;

export interface Findings {
  /** Notes a comparison, and a breach where it is wrong. @param words null: all is well. */
  look(deviceID: string, words: string | null): void;
  outcome(): Outcome;
}

export function createFindings(kind: BreachKind): Findings {
  const breaches: Breach[] = [];
  let looked = 0;
  return {
    look(deviceID, words) {
      looked += 1;
      if (words !== null) breaches.push(vehicleBreach(kind, deviceID, words));
    },
    outcome: () => ({ looked, breaches }),
  };
}

/** Ends a hang, ms: a vehicle whose link was down for some seconds comes back within half a minute. */
const patienceMs = 120_000;
const pollMs = 250;

/** Waits until something is so. @returns whether it came about in time. */
export async function eventually(
  { isStopped }: Pick<ExerciseContext, 'isStopped'>,
  look: () => Promise<boolean>,
  forMs = patienceMs,
): Promise<boolean> {
  const untilMs = performance.now() + forMs;
  while (!isStopped()) {
    if (await look()) return true;
    if (performance.now() > untilMs) return false;
    await sleep(pollMs);
  }
  return false;
}

/** Posts to an operation. @param path below `/api/v1`, without its last part. */
export const post = <T>(service: Service, path: string, body: unknown): Promise<T> =>
  service.call<T>({ method: 'POST', path: `${path}/authorization`, body });

export const read = <T>(service: Service, path: string): Promise<T> =>
  service.call<T>({ path: `${path}/authorization` });

/** Records of one device or of the fleet. @param path below `/api/v1`, without its last part. */
export async function readRecords(service: Service, path: string): Promise<readonly ShownEvent[]> {
  const { eventdata } = await read<{ readonly eventdata: { readonly devices: readonly ShownEvent[] } }>(
    service,
    path,
  );
  return eventdata.devices;
}

/** The whole history of a device. */
export const readHistory = (service: Service, deviceID: string): Promise<readonly ShownEvent[]> =>
  readRecords(service, `/eventdata/devicedata/${deviceID}/0/0`);

/** Creates a user of the run's account. @returns the login. */
export async function createUser(
  { access, ports, changes, secrets }: ExerciseContext,
  of: { readonly userID: string; readonly roleID: 'viewer' | 'operator'; readonly groups: readonly string[] },
): Promise<Login> {
  const { accountID, userID: admin } = access.target.login;
  const password = createSecretText(ports.entropy);
  await post(access.service, '/user/createuser', { ...of, password });
  changes.push({ userID: admin, action: 'user.create', object: of.userID });
  secrets.push(password);
  return { accountID, userID: of.userID, password };
}
