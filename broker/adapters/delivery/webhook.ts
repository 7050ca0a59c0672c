// Webhooks: a notice as JSON, signed with the rule's secret so that the receiver knows it is ours and recent. Any 2xx means
// that it was taken; nothing of the answer's body matters.
import { createHmac } from 'node:crypto';
import type { Sending, WebhookCall } from '../../notify/senders.ts';
import type { GuardedPost, Posted } from './guarded-post.ts';

/** The signature of a body: HMAC-SHA256 over `<timestamp>.<body>` in hexadecimal. */
export function signWebhook(secret: string, timestampS: number, body: string): string {
  return createHmac('sha256', secret).update(`${timestampS}.${body}`).digest('hex');
}

/** What an answer means to any sender over HTTP. */
export function sendingOf(posted: Posted): Sending {
  if (posted.status === null) return { kind: 'failed', fault: posted.fault };
  if (posted.status >= 200 && posted.status < 300) return { kind: 'sent' };
  const later = posted.retryAfterS === null ? {} : { retryAfterS: posted.retryAfterS };
  return { kind: 'failed', fault: `answered ${posted.status}`, ...later };
}

export function createWebhookSender(http: GuardedPost): (call: WebhookCall) => Promise<Sending> {
  return async ({ url, secret, id, timestampS, body }) =>
    sendingOf(
      await http.post({
        url,
        headers: {
          'content-type': 'application/json',
          'fleetward-id': id,
          'fleetward-timestamp': String(timestampS),
          'fleetward-signature': `v1=${signWebhook(secret, timestampS, body)}`,
        },
        body: Buffer.from(body),
      }),
    );
}
