// The ledger's work in the background: what is past its time ends, and what was recorded and not sent, or lost on the way, is
// sent again. It must never send what has ended, nor take an occasion from a process that can send.
import { AppError, messageOf } from '../../src/core/errors.ts';
import { isStoreFault } from '../ingest/store-faults.ts';
import { expireApprovals } from '../store/approvals.ts';
import { unansweredCommands } from '../store/command-sending.ts';
import { type CommandRow, expireCommands, receivedRank, unfinishedOf } from '../store/commands.ts';
import { presentBoot } from '../store/devices.ts';
import { numberOf, textOf } from '../store/row.ts';
import type { Queues } from '../work/queues.ts';
import type { CommandSender } from './command-sender.ts';
import type { LedgerOptions } from './commands.ts';

export interface RoundParts {
  readonly options: LedgerOptions;
  readonly sender: CommandSender;
  /** Work on the commands of one device at a time. */
  readonly queues: Queues;
  /** Devices with a command that may be recorded as sent and may not have left: the work on it broke off half-way. */
  readonly doubtful: Set<number>;
}

export const expiryPeriodMs = 1000;

/** Whether a command goes out on this hello: not yet received, withdrawn, or received by an earlier boot only. */
export function isDue(row: CommandRow, boot: string): boolean {
  return row.stateRank < receivedRank || row.cancelBy !== null || row.sentBoot !== boot;
}

/** True for what may have broken off work after something was recorded; a refusal comes before that. */
const isBreak = (thrown: unknown): boolean => !(thrown instanceof AppError) || isStoreFault(thrown);

/** Work on the commands of a device, one piece after the other; the device is doubtful when it breaks off. */
export function workOn<T>(
  { queues, doubtful }: RoundParts,
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

/** Sends what is due of a doubtful device, which is none then; within `workOn`. Who is not there gets it with the next hello. */
export async function sendDoubtful(
  { options: { db }, sender, doubtful }: RoundParts,
  deviceNo: number,
): Promise<void> {
  // Whoever works on it says so again when this breaks off too: then it stands behind the others.
  doubtful.delete(deviceNo);
  const boot = await presentBoot(db, deviceNo);
  const rows = boot === null ? [] : await unfinishedOf(db, deviceNo);
  for (const row of rows) {
    if (boot !== null && isDue(row, boot))
      await sender.command(row, boot, { kind: 'again', counter: row.sentCounter });
  }
}

async function sendAllDoubtful(parts: RoundParts): Promise<void> {
  for (const deviceNo of parts.doubtful) await workOn(parts, deviceNo, () => sendDoubtful(parts, deviceNo));
}

/** Ends what is past its time; returns how many. @throws AppError `storage`. */
export async function expireOnce({ db, clock, log }: LedgerOptions): Promise<number> {
  const nowMs = Math.round(clock.utcMs());
  const [result] = await db.write([expireCommands(nowMs), expireApprovals(nowMs)]);
  for (const row of result?.rows ?? []) {
    const of = { commandID: textOf(row, 'command_id'), deviceNo: numberOf(row, 'device_no') };
    log.warn('command expired', { ...of, feature: textOf(row, 'feature'), state: textOf(row, 'state') });
  }
  return result?.rows.length ?? 0;
}

/** Sends what another process recorded and did not live to send, and what was lost on the way. */
async function resend({
  options: { db, clock, log },
  sender,
}: Pick<RoundParts, 'options' | 'sender'>): Promise<void> {
  for (const row of await unansweredCommands(db, Math.round(clock.utcMs()))) {
    const boot = await presentBoot(db, row.deviceNo);
    const { commandID, deviceNo } = row;
    log.info('command unanswered', { commandID, deviceNo, commandState: row.commandState });
    if (boot !== null) await sender.command(row, boot, { kind: 'again', counter: row.sentCounter });
  }
}

/** One round in the background; gives the rest until the next, ms. */
export async function workRound(parts: RoundParts): Promise<number> {
  const { options } = parts;
  const failed = (what: string) => (thrown: unknown) => {
    options.log.error(what, { reason: messageOf(thrown) });
  };
  await expireOnce(options).catch(failed('expiry failed'));
  // Who cannot send must not take the occasion from those who can.
  if (options.canSend?.() === false) return expiryPeriodMs;
  await sendAllDoubtful(parts).catch(failed('commands in doubt not sent again'));
  if (options.isShared === true) await resend(parts).catch(failed('commands not sent again'));
  return expiryPeriodMs;
}
