// The command ledger: issue, sign, deliver, confirm, expire. A command is recorded before it leaves, bound to one boot
// with a counter that only grows, and its end is what the device reports. It must never send what has expired and never
// forget a command whose outcome is unknown.
import { AppError, messageOf } from '../src/core/errors.ts';
import type { FeatureName, FeatureState } from '../src/core/event.ts';
import { hexId } from '../src/core/ids.ts';
import type { Hello } from '../src/core/wire.ts';
import type { Cancel, Database, Entropy } from '../src/ports.ts';
import { type CommandSender, createSender, type SenderOptions } from './command-sender.ts';
import type { Committed } from './ingest.ts';
import { createQueues } from './queues.ts';
import {
  type CommandRow,
  cancelUnsent,
  expireCommands,
  findCommand,
  newestCommand,
  receivedRank,
  requestCancel,
  supersedeAndInsert,
  unfinishedOf,
} from './store/commands.ts';
import { type DeviceRef, type DeviceRow, findDevice, recordHello, setOnline } from './store/devices.ts';
import { insertBoot } from './store/projections.ts';
import { numberOf, textOf } from './store/row.ts';

export interface LedgerOptions extends SenderOptions {
  readonly entropy: Entropy;
}

export interface CommandRequest {
  readonly accountID: string;
  readonly deviceID: string;
  readonly feature: FeatureName;
  readonly state: FeatureState;
  /** Who asked, for the device's own record; at most 200 characters. */
  readonly issuer: string;
  /** Why; at most 500 characters. */
  readonly reason: string;
  /** Life of the command in seconds, 10 to 86,400; by default 24 h for enginecutoff and 60 s for cargoaccess. */
  readonly ttlS?: number;
}

interface CancelRequest {
  readonly accountID: string;
  readonly commandID: string;
  readonly issuer: string;
}

export interface CommandLedger {
  /**
   * Records a command and sends it at once when the device is online. The same wish of the same issuer within 10 s is
   * the same command. @throws AppError `not_found`, `unsupported`, `invalid_content`, `storage`.
   */
  request(request: CommandRequest): Promise<CommandRow>;
  /** Withdraws a command. @throws AppError `not_found`, or `conflict` when it executes or has ended otherwise. */
  cancel(request: CancelRequest): Promise<CommandRow>;
  /** Records the hello, then sends the welcome, then what is pending. @throws AppError `not_found`, `storage`. */
  onHello(device: DeviceRef, hello: Hello): Promise<void>;
  onCommitted(committed: Committed): void;
  /** The device's connection ended and no newer one has taken its place. */
  onOffline(device: DeviceRef): Promise<void>;
  /** Ends what is past its time; returns how many. Runs by itself every second. */
  expireDue(): Promise<number>;
  close(): Promise<void>;
}

const defaultTtlS: Readonly<Record<FeatureName, number>> = { enginecutoff: 86_400, cargoaccess: 60 };
const ttlRangeS = { low: 10, high: 86_400 };
const sameCommandMs = 10_000;
const expiryPeriodMs = 1000;

function lifeMs(request: CommandRequest): number {
  const ttlS = request.ttlS ?? defaultTtlS[request.feature];
  if (!Number.isFinite(ttlS) || ttlS < ttlRangeS.low || ttlS > ttlRangeS.high) {
    const message = `must be ${ttlRangeS.low} to ${ttlRangeS.high} seconds`;
    throw new AppError('invalid_content', `ttlS ${message}`, { details: [{ pointer: '/ttlS', message }] });
  }
  return Math.round(ttlS * 1000);
}

function textFault(request: CommandRequest): AppError | null {
  for (const [name, most] of [['reason', 500] as const, ['issuer', 200] as const]) {
    if (request[name].length <= most) continue;
    const message = `must have at most ${most} characters`;
    return new AppError('invalid_content', `${name} ${message}`, {
      details: [{ pointer: `/${name}`, message }],
    });
  }
  return null;
}

/** Whether a command goes out on this hello: not yet received, withdrawn, or received by an earlier boot only. */
function isDue(row: CommandRow, boot: string): boolean {
  return row.stateRank < receivedRank || row.cancelBy !== null || row.sentBoot !== boot;
}

interface Parts {
  readonly options: LedgerOptions;
  readonly sender: CommandSender;
  /** Boot of each device that said hello on its present connection. */
  readonly boots: Map<number, string>;
  lastIssuedMs: number;
}

function issueTime(parts: Parts): number {
  const nowMs = Math.round(parts.options.clock.utcMs());
  // Two commands of one millisecond still have an order.
  parts.lastIssuedMs = nowMs === parts.lastIssuedMs ? nowMs + 1 : nowMs;
  return parts.lastIssuedMs;
}

async function issue(parts: Parts, deviceNo: number, request: CommandRequest): Promise<CommandRow> {
  const { db, entropy, log } = parts.options;
  const { feature, state, reason, issuer, accountID } = request;
  const issuedMs = issueTime(parts);
  const commandID = hexId(entropy.bytes(16));
  const times = { issuedMs, expiresMs: issuedMs + lifeMs(request), sameSinceMs: issuedMs - sameCommandMs };
  const results = await db.write(
    supersedeAndInsert({ deviceNo, commandID, feature, state, reason, issuer, ...times }),
  );
  const isNew = results[1]?.changes === 1;
  const find = (): Promise<CommandRow | null> =>
    isNew ? findCommand(db, { accountID, commandID }) : newestCommand(db, { deviceNo, feature });
  const row = await find();
  if (row === null) throw new AppError('not_found', 'the device was deleted meanwhile');
  log.info(isNew ? 'command requested' : 'command repeated', { ...request, commandID: row.commandID });
  const boot = parts.boots.get(deviceNo);
  if (boot === undefined || row.stateRank > 0 || row.isFinal) return row;
  await parts.sender.command(row, boot);
  return (await find()) ?? row;
}

async function withdraw(parts: Parts, row: CommandRow, request: CancelRequest): Promise<CommandRow> {
  const { db, clock, log } = parts.options;
  const change = { commandID: row.commandID, by: request.issuer, atMs: Math.round(clock.utcMs()) };
  const results = await db.write([cancelUnsent(change), requestCancel(change)]);
  const fresh = (await findCommand(db, request)) ?? row;
  if (results.every((result) => result.changes === 0) && fresh.commandState !== 'cancelled') {
    throw new AppError('conflict', `the command cannot be withdrawn: it is ${fresh.commandState}`);
  }
  log.info('command withdrawn', { ...request, commandState: fresh.commandState });
  const boot = parts.boots.get(row.deviceNo);
  if (!fresh.isFinal && boot !== undefined) await parts.sender.command(fresh, boot);
  return fresh;
}

async function greet(parts: Parts, device: DeviceRef, hello: Hello): Promise<void> {
  const { db, clock } = parts.options;
  const { deviceNo } = device;
  const nowMs = Math.round(clock.utcMs());
  const [recorded] = await db.write([
    recordHello(deviceNo, hello, nowMs),
    insertBoot(deviceNo, hello.boot, nowMs),
  ]);
  if (recorded?.changes !== 1) throw new AppError('not_found', 'the device was deleted');
  parts.boots.set(deviceNo, hello.boot);
  await parts.sender.welcome(device, hello);
  for (const row of await unfinishedOf(db, deviceNo)) {
    if (isDue(row, hello.boot)) await parts.sender.command(row, hello.boot);
  }
}

async function expire({ db, clock, log }: LedgerOptions): Promise<number> {
  const [result] = await db.write([expireCommands(Math.round(clock.utcMs()))]);
  for (const row of result?.rows ?? []) {
    const of = { commandID: textOf(row, 'command_id'), deviceNo: numberOf(row, 'device_no') };
    log.warn('command expired', { ...of, feature: textOf(row, 'feature'), state: textOf(row, 'state') });
  }
  return result?.rows.length ?? 0;
}

/** The device that a request may be recorded for. */
async function deviceFor(db: Database, request: CommandRequest): Promise<DeviceRow> {
  const fault = textFault(request);
  if (fault !== null) throw fault;
  lifeMs(request);
  const device = await findDevice(db, request);
  if (device === null) throw new AppError('not_found', `there is no device ${request.deviceID}`);
  if (device.helloMs > 0 && !device.features.includes(request.feature)) {
    throw new AppError('unsupported', `the device has no ${request.feature}`, {
      hint: 'Fit the relay and name it in the configuration of the agent, which then tells the broker on connect.',
    });
  }
  return device;
}

/** Calls `run` every second, one after the other, until cancelled. */
function repeat(options: LedgerOptions, run: () => Promise<unknown>): Cancel {
  let isStopped = false;
  let cancel: Cancel = () => undefined;
  const again = (): void => {
    if (!isStopped) cancel = options.clock.after(expiryPeriodMs, tick);
  };
  const tick = (): void => {
    run()
      .catch((thrown: unknown) => options.log.error('expiry failed', { reason: messageOf(thrown) }))
      .finally(again);
  };
  again();
  return () => {
    isStopped = true;
    cancel();
  };
}

/** Builds the ledger; its expiry runs until `close`. */
export function createCommandLedger(options: LedgerOptions): CommandLedger {
  const { db, log } = options;
  const queues = createQueues();
  const parts: Parts = { options, sender: createSender(options), boots: new Map(), lastIssuedMs: 0 };
  const stop = repeat(options, () => expire(options));
  return {
    async request(request) {
      const { deviceNo } = await deviceFor(db, request);
      return queues.run(deviceNo, () => issue(parts, deviceNo, request));
    },
    async cancel(request) {
      const row = await findCommand(db, request);
      if (row === null) throw new AppError('not_found', 'there is no such command');
      return queues.run(row.deviceNo, () => withdraw(parts, row, request));
    },
    onHello: (device, hello) => queues.run(device.deviceNo, () => greet(parts, device, hello)),
    onCommitted({ device, projection }) {
      const { accountID, deviceID } = device;
      for (const { commandID, commandState, detail } of projection.reports) {
        log.info('command reported', { accountID, deviceID, commandID, commandState, detail });
      }
    },
    onOffline: (device) =>
      queues.run(device.deviceNo, async () => {
        parts.boots.delete(device.deviceNo);
        await db.write([setOnline(device.deviceNo, false)]);
      }),
    expireDue: () => expire(options),
    async close() {
      stop();
      await queues.idle();
    },
  };
}
