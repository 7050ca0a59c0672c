// Background task of the ledger: expires commands, and sends those again that were recorded but not sent, or were lost. It must never send a command
// that has ended, nor claim a sending that another process could make.
import { AppError, messageOf } from '../../src/core/errors.ts';
import { isStoreFault } from '../core/store-faults.ts';
import type { Queues } from '../scheduling/queues.ts';
import { numberOf, textOf } from '../store/base/row.ts';
import { expireApprovals } from '../store/commands/approvals.ts';
import { unansweredCommands } from '../store/commands/command-sending.ts';
import { type CommandRow, expireCommands, receivedRank, unfinishedOf } from '../store/commands/commands.ts';
import { endVoidOrders } from '../store/commands/signed-orders.ts';
import { presentBoot } from '../store/devices/devices.ts';
import type { CommandSender } from './command-sender.ts';
import { type LedgerOptions } from './ledger-options.ts';

export interface LedgerContext {
  readonly options: LedgerOptions;
  readonly sender: CommandSender;
  /** Serialises the work on the commands of each device. */
  readonly queues: Queues;
  /** Devices with a command that may be recorded as sent but was not: the work on it failed halfway. */
  readonly doubtful: Set<number>;
  /** How often each command was sent again without a report. */
  readonly unanswered: Map<string, number>;
}

/** The connection of a vehicle ends when a command was sent again so often, and each time when it was twice as often. */
const unansweredLeast = 3;
const unansweredKept = 1000;

export const expiryPeriodMs = 1000;

/** True for a command to send on this hello: not yet received, withdrawn, or received by an earlier boot only. */
export function isDue(row: CommandRow, boot: string): boolean {
  return row.stateRank < receivedRank || row.cancelBy !== null || row.sentBoot !== boot;
}

/** True for a fault that may come after something was recorded; a refusal comes before that. */
const isBreak = (thrown: unknown): boolean => !(thrown instanceof AppError) || isStoreFault(thrown);

/** Runs work on the commands of a device, one at a time; a failure makes the device doubtful. */
export function runForDevice<T>(
  { queues, doubtful }: LedgerContext,
  deviceNo: number,
  work: () => Promise<T>,
): Promise<T> {
  return queues.run(deviceNo, async () => {
    try {
      return await work();
    } catch (thrown) {
      if (isBreak(thrown)) doubtful.add(deviceNo);
      throw thrown;
    }
  });
}

/** Sends due commands of a doubtful device, within `workOn`. A device that is not connected gets them with its next hello. */
export async function sendDoubtful(
  { options: { db }, sender, doubtful }: LedgerContext,
  deviceNo: number,
): Promise<void> {
  // `workOn` adds it again, behind the others, when this fails too.
  doubtful.delete(deviceNo);
  const boot = await presentBoot(db, deviceNo);
  const rows = boot === null ? [] : await unfinishedOf(db, deviceNo);
  for (const row of rows) {
    if (boot !== null && isDue(row, boot))
      await sender.command(row, boot, { kind: 'again', counter: row.sentCounter });
  }
}

async function sendAllDoubtful(context: LedgerContext): Promise<void> {
  for (const deviceNo of context.doubtful)
    await runForDevice(context, deviceNo, () => sendDoubtful(context, deviceNo));
}

/** Expires commands and returns their number. @throws AppError `storage`. */
export async function expireOnce({ db, clock, log }: LedgerOptions): Promise<number> {
  const nowMs = Math.round(clock.utcMs());
  const [result] = await db.write([expireCommands(nowMs), expireApprovals(nowMs), ...endVoidOrders(nowMs)]);
  for (const row of result?.rows ?? []) {
    const of = { commandID: textOf(row, 'command_id'), deviceNo: numberOf(row, 'device_no') };
    log.warn('command_expired', { ...of, feature: textOf(row, 'feature'), state: textOf(row, 'state') });
  }
  return result?.rows.length ?? 0;
}

/**
 * True when commands seem not to reach the vehicle although it is connected: RabbitMQ 3 may list a subscription that nothing is routed to
 * (rabbitmq-server#5075). The vehicle cannot notice it where only that of the commands is concerned.
 */
function isOutOfReach({ unanswered }: LedgerContext, commandID: string): boolean {
  const count = (unanswered.get(commandID) ?? 0) + 1;
  unanswered.delete(commandID);
  unanswered.set(commandID, count);
  const [oldest] = unanswered.keys();
  if (unanswered.size > unansweredKept && oldest !== undefined) unanswered.delete(oldest);
  return Number.isInteger(Math.log2(count / unansweredLeast));
}

/** Sends commands that another process recorded but did not send before it ended, and those that were lost. */
async function resend(context: LedgerContext): Promise<void> {
  const { options, sender } = context;
  const { db, clock, log } = options;
  for (const row of await unansweredCommands(db, Math.round(clock.utcMs()))) {
    const boot = await presentBoot(db, row.deviceNo);
    const { commandID, deviceNo } = row;
    log.info('command_unanswered', { commandID, deviceNo, commandState: row.commandState });
    if (boot === null) continue;
    await sender.command(row, boot, { kind: 'again', counter: row.sentCounter });
    if (!isOutOfReach(context, commandID)) continue;
    log.warn('commands_out_of_reach', { commandID, deviceNo, sentAgain: context.unanswered.get(commandID) });
    options.kick?.(row, 'commands do not reach it');
  }
}

/** One run of the background task; returns the delay until the next, ms. */
export async function runLedgerTask(context: LedgerContext): Promise<number> {
  const { options } = context;
  const failed = (what: string) => (thrown: unknown) => {
    options.log.error(what, { reason: messageOf(thrown) });
  };
  await expireOnce(options).catch(failed('command_expiry_failed'));
  // A process that cannot send must leave the sending to those that can.
  if (options.canSend?.() === false) return expiryPeriodMs;
  await sendAllDoubtful(context).catch(failed('doubtful_commands_not_resent'));
  if (options.isShared === true) await resend(context).catch(failed('commands_not_resent'));
  return expiryPeriodMs;
}
