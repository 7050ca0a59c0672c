// The inbox, rules, and the deliveries of a webhook.
import { statusCodes } from '../../../src/core/events/status-codes.ts';
import {
  area,
  type Bench,
  createOwnDevice,
  mustRefuse,
  mustShow,
  type Receiver,
  type UserName,
} from './bench.ts';

const ruleID = 'operations-rule';
const code = statusCodes.TAMPER_ON.code;

interface State {
  readonly deviceID: string;
  readonly receiver: Receiver;
}

interface Notification {
  readonly notificationID: string;
  readonly deviceID: string;
  readonly viewed: boolean;
}

interface Delivery {
  readonly deliveryID: string;
  readonly ruleID: string;
  readonly state: string;
  readonly attempts: number;
}

async function raise(bench: Bench, deviceID: string, statusCode: number): Promise<void> {
  await bench.call('createActivation', { params: { deviceID, statusCode: String(statusCode) } });
  bench.changed('event.create', deviceID);
}

async function findNotification(bench: Bench, deviceID: string, as: UserName) {
  const path = '/notification/getallpushnotifications';
  const { notifications: all } = await bench.read<{ notifications: readonly Notification[] }>(path, as);
  return all.find((one) => one.deviceID === deviceID);
}

async function findDelivery(bench: Bench): Promise<Delivery | undefined> {
  const { deliveries } = await bench.read<{ deliveries: readonly Delivery[] }>('/notification/deliveries');
  return deliveries.find((one) => one.ruleID === ruleID);
}

/** Saves the rule: with the webhook of the simulator, or without. */
async function saveRule(bench: Bench, { deviceID, receiver }: State, hasWebhook: boolean): Promise<void> {
  const way = hasWebhook ? { webhook: { url: receiver.url } } : { alarm: { priority: 'low' } };
  const body = { ruleID, statusCodes: [code], devices: [deviceID], silenceS: 0, ...way };
  const { webhookSecret } = await bench.call<{ webhookSecret?: string }>('updateRule', { body });
  bench.changed('rule.update', ruleID);
  if (webhookSecret === undefined) return;
  bench.secret(webhookSecret);
  receiver.trust(webhookSecret);
}

const readRule = async (bench: Bench): Promise<object | undefined> => {
  const { rules } = await bench.read<{ rules: readonly { readonly ruleID: string }[] }>(
    '/notification/rules',
  );
  return rules.find((one) => one.ruleID === ruleID);
};

const isInState =
  (bench: Bench, state: string, attempts = 0) =>
  async (): Promise<boolean> => {
    const delivery = await findDelivery(bench);
    return delivery?.state === state && delivery.attempts >= attempts;
  };

export const notifications = area<State>(
  async (bench) => ({
    deviceID: await createOwnDevice(bench, 'operations-notified'),
    receiver: await bench.openReceiver(),
  }),
  [
    {
      operation: 'setViewed',
      async run(bench, { deviceID }) {
        await raise(bench, deviceID, statusCodes.PANIC_ON.code);
        const isThere = await bench.eventually(
          async () => (await findNotification(bench, deviceID, 'viewer')) !== undefined,
        );
        bench.look(isThere, 'an alert is not in the inbox in time');
        const { notificationID = '0' } = (await findNotification(bench, deviceID, 'viewer')) ?? {};
        await bench.call('setViewed', { as: 'viewer', params: { notificationID } });
        bench.changed('notification.view', notificationID, 'viewer');
        mustShow(bench, 'a notification that its user viewed', {
          shown: await findNotification(bench, deviceID, 'viewer'),
          wanted: { viewed: true },
        });
        mustShow(bench, 'a notification that another user viewed', {
          shown: await findNotification(bench, deviceID, 'operator'),
          wanted: { viewed: false },
        });
        const none = { notificationID: '999999999' };
        await mustRefuse(bench, 'setViewed', { params: none, code: 'not_found' });
      },
    },
    {
      operation: 'updateRule',
      async run(bench, state) {
        await saveRule(bench, state, true);
        const wanted = { statusCodes: [code], devices: [state.deviceID], isActive: true };
        mustShow(bench, 'a created rule', { shown: await readRule(bench), wanted });
        const body = { ruleID, statusCodes: [code], webhook: { url: state.receiver.url } };
        await mustRefuse(bench, 'updateRule', { as: 'operator', body, code: 'forbidden' });
        const email = { ruleID, statusCodes: [code], email: { to: ['yard@example.com'] } };
        await mustRefuse(bench, 'updateRule', { body: email, code: 'invalid_content' });
      },
    },
    {
      operation: 'retryDelivery',
      async run(bench, state) {
        const { deviceID, receiver } = state;
        await raise(bench, deviceID, code);
        // The receiver refuses the first delivery; without its webhook the rule gives it up.
        const isPutOff = await bench.eventually(isInState(bench, 'pending', 1));
        bench.look(isPutOff, 'a refused delivery does not wait for another attempt');
        const { deliveryID = '0' } = (await findDelivery(bench)) ?? {};
        await mustRefuse(bench, 'retryDelivery', { body: { deliveryID }, code: 'conflict' });
        await saveRule(bench, state, false);
        const isDead = await bench.eventually(isInState(bench, 'dead'));
        bench.look(isDead, 'a delivery of a rule that lost its webhook is not given up in time');
        await saveRule(bench, state, true);
        await bench.call('retryDelivery', { body: { deliveryID } });
        bench.changed('delivery.retry', deliveryID);
        const isSent = await bench.eventually(isInState(bench, 'sent'));
        bench.look(isSent, 'a delivery that was begun again is not sent in time');
        const taken = receiver.received.filter(({ isTaken, isSigned }) => isTaken && isSigned);
        const isGiven = taken.some(({ body }) => body['deviceID'] === deviceID);
        bench.look(isGiven, 'a delivery that was begun again did not come to its webhook, signed');
        const none = { deliveryID: '999999999' };
        await mustRefuse(bench, 'retryDelivery', { body: none, code: 'not_found' });
      },
    },
    {
      operation: 'testRule',
      async run(bench, { receiver }) {
        const answer = await bench.call<object>('testRule', { body: { ruleID } });
        bench.changed('rule.test', ruleID);
        mustShow(bench, 'a test of a rule', { shown: answer, wanted: { isDelivered: true, reason: '' } });
        const isGiven = receiver.received.some(({ body, isSigned }) => body['test'] === true && isSigned);
        bench.look(isGiven, 'the test of a rule did not come to its webhook, signed');
        await mustRefuse(bench, 'testRule', { body: { ruleID: 'operations-none' }, code: 'not_found' });
      },
    },
    {
      operation: 'deleteRule',
      async run(bench) {
        await mustRefuse(bench, 'deleteRule', { as: 'operator', body: { ruleID }, code: 'forbidden' });
        await bench.call('deleteRule', { body: { ruleID } });
        bench.changed('rule.delete', ruleID);
        bench.look((await readRule(bench)) === undefined, 'a deleted rule is listed');
        await mustRefuse(bench, 'deleteRule', { body: { ruleID }, code: 'not_found' });
        await mustRefuse(bench, 'testRule', { body: { ruleID }, code: 'not_found' });
      },
    },
  ],
  ({ receiver }) => receiver.close(),
);

/** Registrations for push. Nothing is sent to the push service: no rule of the account names one. */
export const push = area<{ pushID: string; endpoint: string }>(
  (bench) => ({ pushID: '', endpoint: `https://fcm.googleapis.com/fcm/send/${bench.unique()}` }),
  [
    {
      operation: 'subscribePush',
      async run(bench, state) {
        const { endpoint } = state;
        const keys = { p256dh: `B${'A'.repeat(86)}`, auth: 'A'.repeat(22) };
        const body = { endpoint, keys };
        const subscribe = () => bench.call<{ pushID: string }>('subscribePush', { as: 'viewer', body });
        const { pushID } = await subscribe();
        state.pushID = pushID;
        bench.changed('push.subscribe', pushID.slice(0, 8), 'viewer');
        const again = await subscribe();
        bench.look(again.pushID === pushID, 'the same subscription has another id');
        const other = { endpoint: 'https://push.example.com/1', keys };
        await mustRefuse(bench, 'subscribePush', { as: 'viewer', body: other, code: 'invalid_content' });
      },
    },
    {
      operation: 'registerPush',
      async run(bench, { pushID }) {
        const answer = await bench.call<object>('registerPush', { as: 'viewer', params: { pushID } });
        bench.changed('push.register', pushID.slice(0, 8), 'viewer');
        mustShow(bench, 'a registration', { shown: answer, wanted: { isDeliverable: true } });
        // The token of an app, to which this service sends nothing.
        const app = await bench.call<object>('registerPush', { as: 'viewer', params: { pushID: 'app-1' } });
        mustShow(bench, 'a registration of an app', { shown: app, wanted: { isDeliverable: false } });
      },
    },
    {
      operation: 'unregisterPush',
      async run(bench, { pushID }) {
        // That of another user stays.
        await bench.call('unregisterPush', { as: 'operator', params: { pushID } });
        const still = await bench.call<object>('registerPush', { as: 'viewer', params: { pushID } });
        mustShow(bench, 'a registration of its user', { shown: still, wanted: { isDeliverable: true } });
        await bench.call('unregisterPush', { as: 'viewer', params: { pushID } });
        bench.changed('push.unregister', pushID.slice(0, 8), 'viewer');
        const gone = await bench.call<object>('registerPush', { as: 'viewer', params: { pushID } });
        mustShow(bench, 'a removed registration', { shown: gone, wanted: { isDeliverable: false } });
        for (const id of [pushID, 'app-1'])
          await bench.call('unregisterPush', { as: 'viewer', params: { pushID: id } });
      },
    },
  ],
);
