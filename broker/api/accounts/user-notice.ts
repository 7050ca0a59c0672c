// Notices to administrators about a user, as statements for the batch of a change.
import type { Statement } from '../../../src/ports.ts';
import type { UserTopic } from '../../core/notifications/notice.ts';
import { notifyAdministrators } from '../../store/notifications/user-notices.ts';
import type { ApiServices } from '../base/api-services.ts';
import { type Caller } from '../base/caller.ts';

/** Notifies the administrators of the caller's account under a condition; deliveries are to be woken after the batch. */
export function noticeOf(
  { clock, entropy }: Pick<ApiServices, 'clock' | 'entropy'>,
  { accountID }: Pick<Caller, 'accountID'>,
  about: { readonly userID: string; readonly topic: UserTopic; readonly onlyIf: Statement },
): readonly Statement[] {
  const noticeNo = 1 + Math.floor(entropy.fraction() * 2 ** 47);
  return notifyAdministrators({ ...about, accountID, noticeNo, atMs: Math.round(clock.utcMs()) });
}
