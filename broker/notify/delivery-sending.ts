// Makes the message of a delivery for its channel: its text and an id that stays the same however often
// it is tried.

import { mailboxesOf } from '../core/notifications/delivery-targets.ts';
import { type Digest, digestMail, digestPush } from '../core/notifications/digest.ts';
import { pushBody, webhookBody } from '../core/notifications/notice.ts';
import { mailOf } from '../core/notifications/notice-mail.ts';
import type { Channel } from '../core/notifications/notification-rules.ts';
import { isUrgent } from '../core/notifications/status-episodes.ts';
import type { DeliveryContent } from '../store/notifications/deliveries.ts';
import { languageOf, webhookUrlOf } from '../store/notifications/rules.ts';
import type { Senders, Sending } from './senders.ts';

/** Names the notice of one rule, or of one escalation by it; letters, digits, `_` and `-`. */
const idOf = ({ notice }: DeliveryContent): string =>
  `${notice.notificationNo}-${notice.ruleID || 'account'}${notice.escalation > 0 ? `-e${notice.escalation}` : ''}`;

/** What one delivery is to carry. */
interface Outgoing {
  readonly channel: Channel;
  readonly content: DeliveryContent;
  /** Null: the notice alone. Never for a webhook. */
  readonly digest: Digest | null;
  readonly consoleUrl: string;
  readonly nowS: number;
}

/** Sends one delivery. */
export async function sendDelivery(senders: Senders, one: Outgoing): Promise<Sending> {
  const { channel, content, digest, consoleUrl, nowS } = one;
  const { notice, target, push } = content;
  switch (channel) {
    case 'webhook': {
      const url = webhookUrlOf(content.definition);
      if (url === null) return { kind: 'gone', fault: 'no_webhook' };
      const body = webhookBody(notice);
      return senders.webhook({ url, secret: content.secret, id: idOf(content), timestampS: nowS, body });
    }
    case 'email': {
      if (senders.email === null) return { kind: 'gone', fault: 'no_mail_server' };
      // Of a user it is what an administrator wrote.
      if (mailboxesOf(target).join() !== target) return { kind: 'gone', fault: 'no_mailbox' };
      const form = { language: languageOf(content.definition), timeZone: content.timeZone };
      return senders.email({
        to: target,
        ...(digest === null
          ? { id: idOf(content), ...mailOf(notice, form) }
          : { id: `digest-${digest.digestNo}`, ...digestMail(digest, form, consoleUrl) }),
      });
    }
    case 'push': {
      if (push === null) return { kind: 'gone', fault: 'push_ended' };
      const { endpoint, p256dh, auth } = push;
      // One topic a notification: a repeat replaces what the push service has not handed over yet.
      const ofNotice = `n${notice.notificationNo}${notice.escalation > 0 ? `-e${notice.escalation}` : ''}`;
      const message = {
        body: digest === null ? pushBody(notice) : digestPush(digest),
        topic: digest === null ? ofNotice : `digest-${digest.digestNo}`,
        isUrgent: notice.topic !== null || notice.escalation > 0 || isUrgent(notice.statusCode),
        nowS,
      };
      return senders.push({ endpoint, p256dh, auth, ...message });
    }
  }
}
