// The command ledger: issue, sign, deliver, confirm, expire. A command is recorded before it leaves, bound to one boot with a counter that only
// grows, and the device's report ends it. It must never send an expired command and never forget a command with an unknown outcome.
import { AppError } from '../../src/core/errors.ts';
import { hexId } from '../../src/core/ids.ts';
import type { Hello } from '../../src/core/wire/wire.ts';
import type { Statement } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import { isLimited, refusalOf } from '../core/commands/command-caps.ts';
import { reasonText } from '../core/commands/reported-reason.ts';
import type { DeviceRef } from '../core/device-key.ts';
import { type Committed } from '../ports/committed.ts';
import { createPeriodicTask } from '../scheduling/periodic-task.ts';
import { createQueues } from '../scheduling/queues.ts';
import { numberOf } from '../store/base/row.ts';
import { findCapFacts } from '../store/commands/command-caps.ts';
import { recordSending } from '../store/commands/command-sending.ts';
import {
  type CommandRow,
  cancelUnsent,
  findCommand,
  isWithdrawable,
  type NewCommand,
  newestCommand,
  newestIssuedMs,
  type Reserved,
  repeats,
  replacedOf,
  requestCancel,
  unfinishedOf,
} from '../store/commands/commands.ts';
import { undeliveredOf } from '../store/commands/messages.ts';
import { isAskedSince, isOvertakenNow } from '../store/commands/safe-orders.ts';
import { endVoidOrders } from '../store/commands/signed-orders.ts';
import { deviceExists, presentBoot, recordHello, setOnline } from '../store/devices/devices.ts';
import { insertBoot } from '../store/events/projections.ts';
import { type ArrivalClock, createArrivalClock } from './arrival.ts';
import { type CommandRequest, deviceFor, lifeMs, type RecordAction } from './command-request.ts';
import { createSender } from './command-sender.ts';
import type { LedgerOptions } from './ledger-options.ts';
import {
  expireOnce,
  expiryPeriodMs,
  isDue,
  type LedgerContext,
  runForDevice,
  runLedgerTask,
  sendDoubtful,
} from './ledger-task.ts';
import { arrivedOrder, requestStatements } from './request-statements.ts';

/** A command whose statements, with further conditions, the caller makes. */
export interface Order {
  readonly device: DeviceRef;
  /** The only boot and counter that it may be sent with; absent: any. */
  readonly reserved?: Reserved;
  /** Records the command under this id, or not at all. */
  statements(command: CommandKey): readonly Statement[];
}

interface CancelRequest {
  readonly accountID: string;
  readonly commandID: string;
  readonly issuer: string;
  /** Time of arrival of the request, see `CommandLedger.arrived`. */
  readonly arrivedUs?: number;
  readonly record?: RecordAction;
}

export interface CommandLedger {
  /**
   * Next point in the order of arrival, in epoch microseconds. Taken when a request arrives, it decides which of two orders came first, whatever each
   * waits for.
   */
  arrived(): number;
  /**
   * Records a command and sends it at once when the device is online. A repeated request of the same issuer within 10 s is the same command. A
   * restrictive request that a safe one has overtaken is not recorded: `conflict`.
   * @throws AppError `not_found`, `unsupported`, `invalid_content`, `storage`; `throttled` and `conflict` when a limit of the account prevents it, or
   * when it needs a second user.
   */
  request(request: CommandRequest): Promise<CommandRow>;
  /** The same for a command with other conditions; null: they did not hold and nothing was recorded. */
  enact(order: Order): Promise<CommandRow | null>;
  /** Withdraws a command. @throws AppError `not_found`, or `conflict` when it executes or has ended otherwise. */
  cancel(request: CancelRequest): Promise<CommandRow>;
  /** Sends the owner's document to a device, if it is connected now and holds an older one. */
  sendOwnerDocument(device: DeviceRef): Promise<void>;
  /** Sends the text messages of a device, if it is connected now. */
  sendMessages(device: DeviceRef): Promise<void>;
  /**
   * Records the hello, then sends the welcome, then pending commands. False: a later turn has recorded a hello, see `Uplink`.
   * @throws AppError `not_found`, `storage`.
   */
  onHello(device: DeviceRef, hello: Hello, turn?: number): Promise<boolean>;
  onCommitted(committed: Committed): void;
  /** The device's connection ended and no newer one has replaced it. */
  onOffline(device: DeviceRef, turn?: number): Promise<void>;
  /** Expires commands and returns their number. Runs by itself every second. */
  expireDue(): Promise<number>;
  close(): Promise<void>;
}

const sameCommandMs = 10_000;
const triesMost = 3;

interface LedgerState extends LedgerContext {
  /** Newest message sent on a device's connection: one that is confirmed late is not sent again with each further one. */
  readonly sentUpTo: Map<number, number>;
  lastIssuedMs: number;
  readonly arrived: ArrivalClock;
}

async function issueTime(ledger: LedgerState, deviceNo: number): Promise<number> {
  const { db, clock, isShared } = ledger.options;
  const nowMs = Math.round(clock.utcMs());
  // Another process with a clock slightly ahead may have made the previous command.
  if (isShared === true)
    ledger.lastIssuedMs = Math.max(ledger.lastIssuedMs, await newestIssuedMs(db, deviceNo));
  // Commands of one millisecond still have an order; after a setback of the clock the order restarts.
  const isSameMoment = nowMs <= ledger.lastIssuedMs && ledger.lastIssuedMs - nowMs < 1000;
  ledger.lastIssuedMs = isSameMoment ? ledger.lastIssuedMs + 1 : nowMs;
  return ledger.lastIssuedMs;
}

interface CommandKey {
  readonly commandID: string;
  readonly issuedMs: number;
}

/** Id and time of the next command to a device. */
async function nextKey(ledger: LedgerState, deviceNo: number): Promise<CommandKey> {
  return { commandID: hexId(ledger.options.entropy.bytes(16)), issuedMs: await issueTime(ledger, deviceNo) };
}

interface Recording {
  readonly accountID: string;
  readonly deviceNo: number;
  readonly commandID: string;
  readonly batch: readonly Statement[];
  readonly reserved?: Reserved | undefined;
}

/**
 * Writes the batch; null: it did not record the command. If the device is connected, the same commit records the sending, so that the user waits for
 * one commit and not for two.
 */
async function record(
  ledger: LedgerState,
  { accountID, deviceNo, commandID, batch, reserved }: Recording,
): Promise<CommandRow | null> {
  const { db, clock, log } = ledger.options;
  const boot = (await presentBoot(db, deviceNo)) ?? '';
  const occasion = { kind: 'first' } as const;
  const atMs = clock.utcMs();
  const sending = {
    deviceNo,
    commandID,
    boot,
    atMs,
    isReplaced: false,
    reserved: reserved ?? null,
    occasion,
  };
  const results = await db.write(boot === '' ? batch : [...batch, ...recordSending(sending)]);
  const row = await findCommand(db, { accountID, commandID });
  if (row === null) return null;
  const { deviceID, feature, state, reason, issuer, approver } = row;
  log.info('command_requested', { accountID, deviceID, commandID, feature, state, reason, issuer, approver });
  const sent = boot === '' ? undefined : results.at(-1)?.rows[0];
  if (sent === undefined) return sendNew(ledger, row);
  await ledger.sender.recorded(row, { boot, counter: numberOf(sent, 'sent_counter') });
  return row;
}

async function enact(
  ledger: LedgerState,
  { device: { accountID, deviceNo }, reserved, statements }: Order,
): Promise<CommandRow | null> {
  const key = await nextKey(ledger, deviceNo);
  return record(ledger, { accountID, deviceNo, commandID: key.commandID, batch: statements(key), reserved });
}

/** Sends the command if it is still unsent and the device is connected. */
async function sendNew(ledger: LedgerState, row: CommandRow): Promise<CommandRow> {
  if (row.stateRank > 0 || row.isFinal) return row;
  let now = row;
  // Two tries: a hello of a new boot may come between the read of the boot and the sending.
  for (let tries = 0; tries < 2 && now.stateRank === 0 && !now.isFinal; tries++) {
    const boot = await presentBoot(ledger.options.db, row.deviceNo);
    if (boot === null) return now;
    await ledger.sender.command(now, boot, { kind: 'first' });
    now = (await findCommand(ledger.options.db, row)) ?? now;
  }
  return now;
}

/** A safe order of the same time, or a later one that was decided first, excludes a restrictive one. */
export function overtaken(deviceID: string, feature: string): AppError {
  return new AppError(
    'conflict',
    `${feature} 0 of ${deviceID} was asked for at the same time, and the safe state wins: nothing was sent`,
    { hint: 'Look at the device. If the order is still wanted, send it again.' },
  );
}

/** Reason why a request that is no repeat was not recorded. */
async function refusalFor(
  ledger: LedgerState,
  request: CommandRequest,
  command: NewCommand,
): Promise<AppError> {
  const { db, log } = ledger.options;
  const { accountID, deviceID, feature, state, issuer } = request;
  const order = arrivedOrder(command, request);
  if (order !== null && (await isOvertakenNow(db, order))) {
    log.info('command_overtaken', { accountID, deviceID, feature, state, issuer });
    return overtaken(deviceID, feature);
  }
  const facts = await findCapFacts(db, { accountID, userID: issuer, atMs: command.issuedMs });
  const refusal = facts === null ? null : refusalOf(facts, request);
  log.warn('command_not_recorded', { accountID, deviceID, feature, state, issuer, reason: refusal?.message });
  const hasTripped = facts?.breakerS === Math.floor(command.issuedMs / 1000) && facts.breakerBy === issuer;
  if (hasTripped) log.error('command_breaker_opened', { accountID, issuer });
  if (refusal !== null) return refusal;
  if (!(await deviceExists(db, command.deviceNo)))
    return new AppError('not_found', 'The device was deleted meanwhile');
  const message =
    'The command was not recorded and not sent: a limit or rule of the account changed meanwhile';
  return new AppError('throttled', message, { retryAfterS: 1 });
}

async function issue(
  ledger: LedgerState,
  device: DeviceRef,
  request: CommandRequest,
  tries: number = triesMost,
): Promise<CommandRow> {
  const { db, log } = ledger.options;
  const { feature, state, reason, issuer, accountID } = request;
  const { deviceNo } = device;
  const { commandID, issuedMs } = await nextKey(ledger, deviceNo);
  const expiresMs = issuedMs + lifeMs(request);
  const askedUs = ledger.arrived();
  const times = { issuedMs, expiresMs, sameSinceMs: issuedMs - sameCommandMs };
  const command: NewCommand = { deviceNo, feature, state, reason, issuer, commandID, askedUs, ...times };
  const batch = requestStatements(command, request);
  const row = await record(ledger, { accountID, deviceNo, commandID, batch });
  if (row !== null) return row;
  const newest = await newestCommand(db, { deviceNo, feature });
  if (newest === null || !repeats(newest, command)) {
    // The command that it repeats has just ended. A restore is never refused for that: it is tried as a new one.
    const isAgain = !isLimited(request) && tries > 1 && (await deviceExists(db, deviceNo));
    if (isAgain) return issue(ledger, device, request, tries - 1);
    throw await refusalFor(ledger, request, command);
  }
  log.info('command_repeated', { accountID, deviceID: device.deviceID, commandID: newest.commandID });
  if (!ledger.doubtful.has(deviceNo)) return sendNew(ledger, newest);
  await sendDoubtful(ledger, deviceNo);
  return (await findCommand(db, newest)) ?? newest;
}

async function withdraw(ledger: LedgerState, row: CommandRow, request: CancelRequest): Promise<CommandRow> {
  const { db, clock, log } = ledger.options;
  const { commandID } = row;
  const { accountID, issuer, arrivedUs } = request;
  // A safe order that was requested again since is not the one that this request saw.
  const onlyIf = arrivedUs === undefined ? sql`1 = 1` : sql`NOT ${isAskedSince(commandID, arrivedUs)}`;
  const change = { commandID, by: issuer, atMs: Math.round(clock.utcMs()), onlyIf };
  const audit = request.record?.({
    action: 'command.cancel',
    object: row.deviceID,
    detail: { commandID },
    onlyIf: sql`${isWithdrawable(commandID)} AND ${onlyIf}`,
  });
  const batch = [...(audit === undefined ? [] : [audit]), cancelUnsent(change), requestCancel(change)];
  const results = await db.write(batch);
  const fresh = (await findCommand(db, request)) ?? row;
  if (results.slice(-2).every((result) => result.changes === 0) && fresh.commandState !== 'cancelled') {
    if (!fresh.isFinal && fresh.state === '0') throw overtaken(row.deviceID, row.feature);
    throw new AppError('conflict', `The command cannot be withdrawn: it is ${fresh.commandState}`, {
      hint: 'Nothing was changed. To release an engine ask for enginecutoff 0; to lock the cargo for cargoaccess 0.',
    });
  }
  log.info('command_withdrawn', { accountID, commandID, issuer, commandState: fresh.commandState });
  const boot = fresh.isFinal ? null : await presentBoot(db, row.deviceNo);
  if (boot !== null) await ledger.sender.command(fresh, boot, { kind: 'withdrawal' });
  return fresh;
}

async function sendMessages(ledger: LedgerState, device: DeviceRef): Promise<void> {
  const { db, clock } = ledger.options;
  const { deviceNo } = device;
  const boot = await presentBoot(db, deviceNo);
  if (boot === null) return;
  for (const row of await undeliveredOf(db, deviceNo, clock.utcMs())) {
    if (row.messageNo <= (ledger.sentUpTo.get(deviceNo) ?? 0)) continue;
    if (!(await ledger.sender.message(row, boot))) return;
    ledger.sentUpTo.set(deviceNo, row.messageNo);
  }
}

interface ReceivedHello {
  readonly hello: Hello;
  readonly turn: number | undefined;
}

async function handleHello(
  ledger: LedgerState,
  device: DeviceRef,
  { hello, turn }: ReceivedHello,
): Promise<boolean> {
  const { db, clock } = ledger.options;
  const { deviceNo } = device;
  const nowMs = Math.round(clock.utcMs());
  const [recorded] = await db.write([
    recordHello(deviceNo, hello, { atMs: nowMs, turn }),
    insertBoot(deviceNo, hello.boot, nowMs),
    // A unit that pins no owner's key has no such orders; those of an earlier key end within a second.
    ...(hello.owner === undefined ? [] : endVoidOrders(nowMs, { deviceNo, counter: hello.commandCounter })),
  ]);
  const [row] = recorded?.rows ?? [];
  if (row === undefined) {
    if (turn !== undefined && (await deviceExists(db, deviceNo))) return false;
    throw new AppError('not_found', 'The device was deleted');
  }
  const occasion = { kind: 'hello', counter: numberOf(row, 'command_counter') } as const;
  ledger.sentUpTo.delete(deviceNo);
  await ledger.sender.welcome(device, hello);
  // Before the orders that its list must cover.
  if (hello.owner !== undefined) await ledger.sender.ownerDocument(device, hello.boot);
  for (const one of await unfinishedOf(db, deviceNo)) {
    if (isDue(one, hello.boot)) await ledger.sender.command(one, hello.boot, occasion);
  }
  for (const one of await replacedOf(db, deviceNo, nowMs))
    await ledger.sender.command(one, hello.boot, occasion);
  await sendMessages(ledger, device);
  return true;
}

/** Its background task runs until `close`. */
export function createCommandLedger(options: LedgerOptions): CommandLedger {
  const { db, log } = options;
  const queues = createQueues();
  const sender = createSender(options);
  const ledger: LedgerState = {
    options,
    sender,
    queues,
    doubtful: new Set(),
    unanswered: new Map(),
    sentUpTo: new Map(),
    lastIssuedMs: 0,
    arrived: createArrivalClock(options.clock),
  };
  const task = createPeriodicTask({
    clock: options.clock,
    firstMs: expiryPeriodMs,
    run: () => runLedgerTask(ledger),
  });
  return {
    arrived: ledger.arrived,
    async request(request) {
      const device = await deviceFor(db, request);
      return runForDevice(ledger, device.deviceNo, () => issue(ledger, device, request));
    },
    enact: (order) => runForDevice(ledger, order.device.deviceNo, () => enact(ledger, order)),
    async cancel(request) {
      const row = await findCommand(db, request);
      if (row === null) throw new AppError('not_found', 'There is no such command');
      return runForDevice(ledger, row.deviceNo, () => withdraw(ledger, row, request));
    },
    sendOwnerDocument: (device) =>
      queues.run(device.deviceNo, async () => {
        const boot = await presentBoot(db, device.deviceNo);
        if (boot !== null) await sender.ownerDocument(device, boot);
      }),
    sendMessages: (device) => queues.run(device.deviceNo, () => sendMessages(ledger, device)),
    onHello: (device, hello, turn) =>
      queues.run(device.deviceNo, () => handleHello(ledger, device, { hello, turn })),
    onCommitted({ device, projection }) {
      const { accountID, deviceID } = device;
      for (const report of projection.reports) {
        const { commandID, commandState, verdict } = report;
        const reason = { detail: reasonText(report), code: verdict?.code ?? null };
        log.info('command_reported', { accountID, deviceID, commandID, commandState, ...reason });
      }
    },
    onOffline: (device, turn) =>
      queues.run(device.deviceNo, async () => {
        ledger.sentUpTo.delete(device.deviceNo);
        const mark = { atMs: Math.round(options.clock.utcMs()), cause: 'closed' } as const;
        await db.write([setOnline(device.deviceNo, false, mark, turn)]);
      }),
    expireDue: () => expireOnce(options),
    async close() {
      void task.close();
      await queues.idle();
    },
  };
}
