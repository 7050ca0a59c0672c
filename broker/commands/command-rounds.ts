// The ledger's work in the background: what is past its time ends, and what was recorded and not sent, or lost on the way, is
// sent again. It must never send what has ended, nor take an occasion from a process that can send.
import { messageOf } from '../../src/core/errors.ts';
import { expireApprovals } from '../store/approvals.ts';
import { unansweredCommands } from '../store/command-sending.ts';
import { expireCommands } from '../store/commands.ts';
import { presentBoot } from '../store/devices.ts';
import { numberOf, textOf } from '../store/row.ts';
import type { CommandSender } from './command-sender.ts';
import type { LedgerOptions } from './commands.ts';

interface RoundParts {
  readonly options: LedgerOptions;
  readonly sender: CommandSender;
}

export const expiryPeriodMs = 1000;

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
async function resend({ options: { db, clock, log }, sender }: RoundParts): Promise<void> {
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
  if (options.isShared === true && options.canSend?.() !== false)
    await resend(parts).catch(failed('commands not sent again'));
  return expiryPeriodMs;
}
