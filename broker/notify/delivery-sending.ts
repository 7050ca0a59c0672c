// From a delivery to what its sender takes: the right words for the channel, and an id that stays the same however often
// it is tried.

import { mailOf, pushBody, webhookBody } from '../core/notice.ts';
import type { Channel } from '../core/notification-rules.ts';
import { isUrgent } from '../core/status-episodes.ts';
import type { DeliveryContent } from '../store/deliveries.ts';
import { webhookUrlOf } from '../store/rules.ts';
import type { Senders, Sending } from './senders.ts';

/** Names the notice of one rule; letters, digits, `_` and `-`. */
const idOf = ({ notice }: DeliveryContent): string => `${notice.notificationNo}-${notice.ruleID}`;

/** Sends one delivery. */
export async function sendDelivery(
  senders: Senders,
  one: { readonly channel: Channel; readonly content: DeliveryContent; readonly nowS: number },
): Promise<Sending> {
  const { channel, content, nowS } = one;
  const { notice, target, push } = content;
  switch (channel) {
    case 'webhook': {
      const url = webhookUrlOf(content.definition);
      if (url === null) return { kind: 'gone', reason: 'the rule has no webhook any more' };
      const body = webhookBody(notice);
      return senders.webhook({ url, secret: content.secret, id: idOf(content), timestampS: nowS, body });
    }
    case 'email':
      if (senders.email === null) return { kind: 'gone', reason: 'no mail server is configured' };
      return senders.email({ to: target, id: idOf(content), ...mailOf(notice) });
    case 'push': {
      if (push.endpoint === '') return { kind: 'gone', reason: 'the push registration is gone' };
      const { endpoint, p256dh, auth } = push;
      // One topic a notification: a repeat replaces what the push service has not handed over yet.
      const topic = `n${notice.notificationNo}`;
      const message = { body: pushBody(notice), topic, isUrgent: isUrgent(notice.statusCode), nowS };
      return senders.push({ endpoint, p256dh, auth, ...message });
    }
  }
}
