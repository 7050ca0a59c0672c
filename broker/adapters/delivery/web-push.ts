// Web Push (RFC 8030): an encrypted message to the push service of a browser. What the push service says is gone is gone;
// everything else is worth another attempt.
import type { PushMessage, Sending } from '../../notify/senders.ts';
import type { GuardedPost } from './guarded-post.ts';
import { type VapidKey, vapidHeader } from './vapid.ts';
import { encryptMessage } from './web-push-encryption.ts';
import { sendingOf } from './webhook.ts';

export interface PushSenderOptions {
  readonly http: GuardedPost;
  readonly key: VapidKey;
  /** `mailto:` or `https:` address that a push service may complain to. */
  readonly contact: string | null;
}

/** How long a push service keeps a message for a browser that is away: later it is history. */
const keptS = 24 * 3600;

function encrypted({ body, p256dh, auth }: PushMessage): Uint8Array | null {
  try {
    return encryptMessage(Buffer.from(body), { p256dh, auth });
  } catch {
    return null;
  }
}

export function createPushSender({
  http,
  key,
  contact,
}: PushSenderOptions): (message: PushMessage) => Promise<Sending> {
  return async (message) => {
    const { endpoint, topic, isUrgent, nowS } = message;
    const body = encrypted(message);
    if (body === null) return { kind: 'gone', fault: 'push_keys' };
    const posted = await http.post({
      url: endpoint,
      headers: {
        authorization: vapidHeader(key, { endpoint, contact, nowS }),
        'content-type': 'application/octet-stream',
        'content-encoding': 'aes128gcm',
        ttl: String(keptS),
        urgency: isUrgent ? 'high' : 'normal',
        topic,
      },
      body,
    });
    if (posted.status === 404 || posted.status === 410) {
      return { kind: 'gone', fault: `push_answered ${posted.status}` };
    }
    return sendingOf(posted);
  };
}
