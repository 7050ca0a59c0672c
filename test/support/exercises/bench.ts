// What the steps of the exercise work with, and how the steps of an area are carried out: one after the other, until one fails.
import type { ServedOperation } from '../../../broker/operations.ts';
import { AppError, type ErrorCode, messageOf } from '../../../src/core/errors.ts';

export type OperationID = ServedOperation['id'];

/** Users of the account of the exercise. `admin` made the others; `second` is another administrator. */
export const userIDs = {
  admin: 'simulator',
  second: 'operations-second',
  operator: 'operations-operator',
  viewer: 'operations-viewer',
} as const;
export type UserName = keyof typeof userIDs;

/** Operations of which the exercise can see the refusal alone: its broker has no login provider and allows no host of releases. */
export const refusedHere: ReadonlySet<OperationID> = new Set([
  'beginProviderLogin',
  'finishProviderLogin',
  'beginLoginAgain',
  'finishLoginAgain',
  'firmware',
  'createRelease',
  'startReleaseStage',
  'stopRelease',
]);

/** Devices that get commands. No vehicle is behind them. */
export const truckIDs = ['operations-truck-1', 'operations-truck-2'] as const;

/** Caller: a user, the holder of a token, or null: no login. */
export type Caller = UserName | { readonly token: string } | null;

export interface Call {
  /** Absent: the administrator. */
  readonly as?: Caller;
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** The login of a device, over MQTT. */
export interface DeviceConnection {
  readonly isIn: boolean;
  /** @param verb of the topic. */
  publish(verb: 'events' | 'hello', payload: string): Promise<void>;
  close(): void;
}

/** A webhook. It refuses its first delivery. */
export interface Receiver {
  readonly url: string;
  readonly received: readonly {
    readonly isSigned: boolean;
    readonly isTaken: boolean;
    readonly body: Readonly<Record<string, unknown>>;
  }[];
  trust(secret: string): void;
  close(): void;
}

/** What a unit got with its code. */
export interface Enrolled {
  readonly deviceID: string;
  readonly secret: string;
}

export interface Bench {
  readonly accountID: string;
  /** @throws AppError as the service refuses it. */
  call<T>(operation: OperationID, call?: Call): Promise<T>;
  /** Reads at a path below `/api/v1`, without its last part. @throws AppError. */
  read<T>(path: string, as?: Caller): Promise<T>;
  /** The first bytes of a stream. */
  readBegin(operation: OperationID, as: Caller): Promise<string>;
  /** Notes a comparison. @param words when it is wrong. */
  look(isRight: boolean, words: string): void;
  /** Notes a change that must stand in the audit log. */
  changed(action: string, object: string, by?: UserName | 'device' | { readonly userID: string }): void;
  /** Notes a text that no log may hold. */
  secret(text: string): void;
  /** Whether it came about in time. */
  eventually(look: () => Promise<boolean>): Promise<boolean>;
  nowS(): number;
  /** A text that was not there before. */
  unique(): string;
  /** Password of a user of the bench. */
  passwordOf(user: UserName): string;
  /** A one-time code of the command line of the service. */
  loginCode(userID: string): Promise<string>;
  connect(device: Enrolled): Promise<DeviceConnection>;
  /** Enrols a unit with a code. @throws AppError. */
  enrol(code: string): Promise<Enrolled | null>;
  openReceiver(): Promise<Receiver>;
}

export interface Step<S> {
  /** The service must have carried it out when the step is over, unless its refusal is what is checked. */
  readonly operation: OperationID;
  run(bench: Bench, state: S): Promise<void>;
}

export interface Area {
  readonly operations: readonly OperationID[];
  carryOut(bench: Bench): Promise<void>;
}

/** The bench, and the operations that the service carried out with it. */
function recordDone(bench: Bench): Bench & { readonly done: ReadonlySet<OperationID> } {
  const done = new Set<OperationID>();
  const record = async <T>(operation: OperationID, answer: Promise<T>): Promise<T> => {
    const given = await answer;
    done.add(operation);
    return given;
  };
  return {
    ...bench,
    done,
    call: (operation, call) => record(operation, bench.call(operation, call)),
    readBegin: (operation, as) => record(operation, bench.readBegin(operation, as)),
    enrol: (code) => record('enrolDevice', bench.enrol(code)),
  };
}

/**
 * An area: steps that build on each other.
 * @param begin makes what they share.
 * @param end releases it, also after a failure.
 */
export function area<S>(
  begin: (bench: Bench) => S | Promise<S>,
  steps: readonly Step<S>[],
  end: (state: S) => void = () => undefined,
): Area {
  return {
    operations: steps.map(({ operation }) => operation),
    async carryOut(bench) {
      const state = await begin(bench);
      try {
        for (const { operation, run } of steps) {
          const recording = recordDone(bench);
          await run(recording, state).catch((thrown: unknown) => {
            const code = thrown instanceof AppError ? thrown.code : 'internal';
            throw new AppError(code, `${operation}: ${messageOf(thrown)}`, { cause: thrown });
          });
          const isDone = recording.done.has(operation) || refusedHere.has(operation);
          bench.look(isDone, `${operation} was not carried out`);
        }
      } finally {
        end(state);
      }
    },
  };
}

/** The code of a refusal; null: it was done. @throws what is no answer of the service. */
async function codeOf(ask: Promise<unknown>): Promise<ErrorCode | null> {
  try {
    await ask;
    return null;
  } catch (thrown) {
    if (thrown instanceof AppError && thrown.code !== 'unavailable') return thrown.code;
    throw thrown;
  }
}

/** A mistake that the service must refuse with this code. */
export async function mustRefuse(
  bench: Bench,
  operation: OperationID,
  { code, ...call }: Call & { readonly code: ErrorCode },
): Promise<void> {
  const answered = await codeOf(bench.call(operation, call));
  bench.look(answered === code, `${operation} answered ${answered ?? 'well'} instead of ${code}`);
}

/** A read that the service must refuse with this code. */
export async function mustHide(
  bench: Bench,
  path: string,
  { code, as = 'admin' }: { readonly code: ErrorCode; readonly as?: Caller },
): Promise<void> {
  const answered = await codeOf(bench.read(path, as));
  bench.look(answered === code, `${path} answered ${answered ?? 'well'} instead of ${code}`);
}

/** Compares members of what was read. */
export function mustShow(
  bench: Bench,
  what: string,
  of: { readonly shown: object | undefined; readonly wanted: Readonly<Record<string, unknown>> },
): void {
  const shown = new Map(Object.entries(of.shown ?? {}));
  for (const [name, value] of Object.entries(of.wanted)) {
    const is = JSON.stringify(shown.get(name));
    bench.look(is === JSON.stringify(value), `${what}: ${name} is ${is} instead of ${JSON.stringify(value)}`);
  }
}

/** Creates a device of the exercise. @returns its id. */
export async function createOwnDevice(bench: Bench, deviceID: string): Promise<string> {
  await bench.call('createDevice', { body: { deviceID } });
  bench.changed('device.create', deviceID);
  return deviceID;
}

/** Creates a device that is connected. */
export async function connectOwnDevice(bench: Bench, deviceID: string): Promise<DeviceConnection> {
  await createOwnDevice(bench, deviceID);
  const { secret } = await bench.call<Enrolled>('issueDeviceSecret', { body: { deviceID } });
  bench.changed('device.issuesecret', deviceID);
  bench.secret(secret);
  const connection = await bench.connect({ deviceID, secret });
  bench.look(connection.isIn, `${deviceID} was not let in with its own secret`);
  return connection;
}
