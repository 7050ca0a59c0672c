// Push registrations of the caller's browsers and apps. A subscription does not fit into a path, so it is stored first and
// then registered by its id. Registrations of other users are out of reach.
import { Type } from 'typebox';
import { hexId } from '../../../src/core/ids.ts';
import { faultOfEndpoint } from '../../core/notifications/delivery-targets.ts';
import {
  findByEndpoint,
  findRegistration,
  isRegistered,
  type PushKey,
  putSubscription,
  register,
  registrationsMost,
  unregister,
} from '../../store/notifications/push.ts';
import { auditEntry } from '../base/audit-entry.ts';
import { type Caller } from '../base/caller.ts';
import { invalidAt } from '../base/input-members.ts';
import { operation } from '../base/operation.ts';
import { envelope, ok } from '../base/shapes.ts';

const pushID = Type.String({
  pattern: '^[!-~]{1,256}$',
  description: 'Id that `subscribePush` gave, or an opaque token: 1 to 256 printable ASCII characters',
});

/** The audit log names a registration by its beginning: a token of an app is a secret of sorts. */
const shortOf = (id: string): string => id.slice(0, 8);

const keyOf = ({ accountID, userID }: Caller, id: string): PushKey => ({ accountID, userID, pushID: id });

const exampleID = '5f0c6b0e9d1f4a3f8e7d6c5b4a392817';

const vapidKey = operation({
  id: 'getVapidKey',
  method: 'GET',
  path: '/notification/vapidkey/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: false },
  tag: 'Notifications',
  summary: 'Public key for Web Push subscriptions',
  description: `The service's public key (VAPID, RFC 8292) as base64url of the uncompressed point. A browser subscribes with it:
\`registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key })\`. It stays the same for the life of
the installation.`,
  params: Type.Object({}),
  body: null,
  result: Type.Object({ ...envelope, vapidKey: Type.String({ description: 'Base64url, 87 characters' }) }),
  errors: [],
  effects: false,
  examples: {
    result: {
      vapidKey: 'BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8',
    },
  },
  async run(_input, { senders }) {
    return { ...ok, vapidKey: senders.vapidPublicKey };
  },
});

const subscribe = operation({
  id: 'subscribePush',
  method: 'POST',
  path: '/notification/subscribe/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'write', ofDevices: false },
  tag: 'Notifications',
  summary: 'Store a Web Push subscription',
  description: `Stores a browser's subscription (\`PushSubscription.toJSON()\` without \`expirationTime\`) and gives the \`pushID\` that
\`registerPush\` switches it on with. The same endpoint of the same user keeps its \`pushID\`. Whoever shows the same endpoint
with the same keys is the same browser: within the account the subscription then belongs to the user who is logged in now.

The endpoint must be at a push service that this installation knows (setting \`notify.pushHosts\`; by default those of
Chrome, Firefox, Safari and Edge), else 422. A user has at most ${registrationsMost} registrations; the oldest give way.`,
  params: Type.Object({}),
  body: Type.Object(
    {
      endpoint: Type.String({ maxLength: 2048, description: 'URL at the push service' }),
      keys: Type.Object(
        {
          p256dh: Type.String({ pattern: '^[A-Za-z0-9_-]{87}$', description: 'Base64url of 65 bytes' }),
          auth: Type.String({ pattern: '^[A-Za-z0-9_-]{22}$', description: 'Base64url of 16 bytes' }),
        },
        { additionalProperties: false, description: 'Keys of the subscription' },
      ),
    },
    { additionalProperties: false },
  ),
  result: Type.Object({ ...envelope, pushID: Type.String({ description: 'For `registerPush`' }) }),
  errors: [],
  effects: true,
  examples: {
    body: {
      endpoint: 'https://fcm.googleapis.com/fcm/send/c3Vic2NyaXB0aW9u',
      keys: {
        p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
        auth: 'BTBZMqHH6r4Tts7J_aSIgg',
      },
    },
    result: { pushID: exampleID },
  },
  async run({ body, caller, source }, services) {
    const { db, clock, entropy, senders } = services;
    const { endpoint, keys } = body;
    const fault = faultOfEndpoint(endpoint, senders.targets);
    if (fault !== null) {
      throw invalidAt(
        '/endpoint',
        fault,
        'The operator of the service may add hosts of push services: notify.pushHosts.',
      );
    }
    const known = await findByEndpoint(db, caller, endpoint);
    const id = known?.pushID ?? hexId(entropy.bytes(16));
    await db.write([
      auditEntry(services, { caller, source }, { action: 'push.subscribe', object: shortOf(id) }),
      ...putSubscription(
        keyOf(caller, id),
        { endpoint, ...keys },
        { tokenHash: caller.tokenHash, nowS: Math.floor(clock.utcMs() / 1000) },
      ),
    ]);
    return { ...ok, pushID: id };
  },
});

const registerPush = operation({
  id: 'registerPush',
  method: 'GET',
  path: '/notification/register-push/{pushID}/authorization',
  forms: ['versioned', 'joined'],
  access: 'viewer',
  token: { scope: 'write', ofDevices: false },
  tag: 'Notifications',
  summary: 'Register for push notifications',
  description: `Switches the registration on for the caller. It ends when the session of this call ends by a logout, a revocation or a new
password, and goes on when that only runs out; doing it again from another session binds it to that one. \`getTokens\` lists them.

For Web Push \`pushID\` is what \`subscribePush\` gave; then rules with the channel push reach it (\`isDeliverable\` true). Any other
value is kept as an opaque token of an app: registered, listed and removed like the others, but this service speaks no
app store's own protocol and sends nothing to it (\`isDeliverable\` false); such an app reads the inbox or the live stream.
A user has at most ${registrationsMost} registrations; the oldest give way.

A message is encrypted (RFC 8291). Its text is JSON with \`notificationID\`, \`deviceID\`, \`deviceDisplayName\`, \`statusCode\`,
\`statusDescription\`, \`timestamp\`, \`urgent\` and \`late\`, and no position. A repeat has the same \`notificationID\`. When the
push service says that a subscription has ended (404, 410), it is removed here.`,
  params: Type.Object({ pushID }),
  body: null,
  result: Type.Object({
    ...envelope,
    isDeliverable: Type.Boolean({ description: 'Whether anything can be sent to it' }),
  }),
  errors: ['invalid_content'],
  effects: true,
  examples: { params: { pushID: exampleID }, result: { isDeliverable: true } },
  async run({ params, caller, source }, services) {
    const key = keyOf(caller, params.pushID);
    const known = await findRegistration(services.db, key);
    const { tokenHash } = caller;
    if (known?.isRegistered !== true || known.sessionHash !== tokenHash) {
      await services.db.write([
        auditEntry(services, { caller, source }, { action: 'push.register', object: shortOf(key.pushID) }),
        ...register(key, { tokenHash, nowS: Math.floor(services.clock.utcMs() / 1000) }),
      ]);
    }
    return { ...ok, isDeliverable: known !== null && known.endpoint !== '' };
  },
});

const unregisterPush = operation({
  id: 'unregisterPush',
  method: 'GET',
  path: '/notification/unregister-push/{pushID}/authorization',
  forms: ['joined'],
  access: 'viewer',
  token: { scope: 'write', ofDevices: false },
  tag: 'Notifications',
  summary: 'Remove a push registration',
  description: `Removes the caller's registration of that id, with its subscription. One that is not there, or is another user's,
changes nothing and answers the same. The path has no slash after \`v1\`.`,
  params: Type.Object({ pushID }),
  body: null,
  result: Type.Object(envelope),
  errors: ['invalid_content'],
  effects: true,
  examples: { params: { pushID: exampleID } },
  async run({ params, caller, source }, services) {
    const key = keyOf(caller, params.pushID);
    const audited = { action: 'push.unregister', object: shortOf(key.pushID), onlyIf: isRegistered(key) };
    await services.db.write([auditEntry(services, { caller, source }, audited), unregister(key)]);
    return ok;
  },
});

export const pushOperations = [vapidKey, subscribe, registerPush, unregisterPush] as const;
