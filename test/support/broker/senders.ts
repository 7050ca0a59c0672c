// The ways out to people for tests: the product's own, either without any way to the network, or to receivers on loopback.
import { createGuardedPost, type Resolve } from '../../../broker/adapters/delivery/guarded-post.ts';
import { generateVapidKey, vapidKeyOf } from '../../../broker/adapters/delivery/vapid.ts';
import { createPushSender } from '../../../broker/adapters/delivery/web-push.ts';
import { createWebhookSender } from '../../../broker/adapters/delivery/webhook.ts';
import type { Senders } from '../../../broker/notify/senders.ts';

const pushHosts = ['fcm.googleapis.com', '127.0.0.1'];

function createSenders(options: {
  allowsPrivate: boolean;
  resolve: Resolve;
  email: Senders['email'];
}): Senders {
  const http = createGuardedPost(options);
  const key = vapidKeyOf(generateVapidKey());
  return {
    webhook: createWebhookSender(http),
    push: createPushSender({ http, key, contact: 'mailto:ops@example.com' }),
    email: options.email,
    vapidPublicKey: key.publicKey,
    targets: { allowsPrivate: options.allowsPrivate, pushHosts },
    async close() {
      http.close();
    },
  };
}

const noNames: Resolve = async () => {
  throw new Error('there are no names here');
};

/** No name leads anywhere. */
export function createOfflineSenders(): Senders {
  return createSenders({ allowsPrivate: false, resolve: noNames, email: null });
}

/** Allows receivers on loopback. */
export function createLoopbackSenders(email: Senders['email'] = null): Senders {
  return createSenders({ allowsPrivate: true, resolve: noNames, email });
}
