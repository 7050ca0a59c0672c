// The ways out to people made from the settings: webhooks, Web Push, mail.
import type { BrokerConfig } from '../../config/broker-config.ts';
import type { Senders } from '../../notify/senders.ts';
import { readSecretLine } from '../keys/secret-file.ts';
import { createEmailSender } from './email.ts';
import { createGuardedPost, createResolve } from './guarded-post.ts';
import { loadVapidKey } from './vapid.ts';
import { createPushSender } from './web-push.ts';
import { createWebhookSender } from './webhook.ts';

/** @throws AppError `config` when a key or password file is not as it must be. */
export function openSenders({
  notify,
  vapidKeyFile,
}: Pick<BrokerConfig, 'notify' | 'vapidKeyFile'>): Senders {
  const { allowPrivateTargets, pushHosts, contact, smtp } = notify;
  const key = loadVapidKey(vapidKeyFile);
  const password =
    smtp.passwordFile === '' ? '' : readSecretLine('notify.smtp.passwordFile', smtp.passwordFile);
  const email = smtp.host === '' ? null : createEmailSender({ ...smtp, password });
  const http = createGuardedPost({ allowsPrivate: allowPrivateTargets, resolve: createResolve() });
  return {
    webhook: createWebhookSender(http),
    push: createPushSender({ http, key, contact: contact === '' ? null : contact }),
    email: email === null ? null : (mail) => email.send(mail),
    vapidPublicKey: key.publicKey,
    targets: { allowsPrivate: allowPrivateTargets, pushHosts },
    async close() {
      http.close();
      email?.close();
    },
  };
}
