// What became of every notice on its way out, for administrators: what waits, what arrived, what was given up and why. It
// shows the host of a webhook and never its path, which may hold a secret.
import { type Static, Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { hostOf } from '../../core/delivery-targets.ts';
import { type DeliveryRow, isInState, listDeliveries, retryDelivery } from '../../store/deliveries.ts';
import { webhookUrlOf } from '../../store/rules.ts';
import { newestFirst, pagesDown } from '../newest-first.ts';
import { operation } from '../operation.ts';
import { envelope, ok } from '../shapes.ts';
import { trail } from '../trail.ts';

const epoch = (description: string) => Type.Integer({ description: `${description} (epoch seconds)` });

const delivery = Type.Object({
  deliveryID: Type.String({ description: 'Grows with every delivery; decimal text' }),
  notificationID: Type.Union([Type.String(), Type.Null()], {
    description: 'What it tells; null once the notification is no longer kept',
  }),
  ruleID: Type.String({ description: 'The rule; empty once it was deleted' }),
  channel: Type.Enum(['webhook', 'email', 'push'], { description: 'The way' }),
  target: Type.String({
    description: 'Host of the webhook, e-mail address, or user of the push registration',
  }),
  state: Type.Enum(['pending', 'sent', 'dead'], { description: '`dead`: given up' }),
  attempts: Type.Integer({ description: 'How often it was tried' }),
  created: epoch('When the rule decided'),
  nextAttempt: epoch('When a pending one is tried next; 0 otherwise'),
  ended: epoch('When it was sent or given up; 0 while it is pending'),
  lastError: Type.String({ description: 'Why the last attempt failed; empty when it did not' }),
});
type DeliveryView = Static<typeof delivery>;

const example: DeliveryView = {
  deliveryID: '815',
  notificationID: '4711',
  ruleID: 'night-watch',
  channel: 'webhook',
  target: 'hooks.example.com',
  state: 'dead',
  attempts: 12,
  created: 1763683201,
  nextAttempt: 0,
  ended: 1763701201,
  lastError: 'answered 503',
};

const seconds = (ms: number): number => Math.floor(ms / 1000);

function targetOf(row: DeliveryRow): string {
  if (row.channel === 'webhook') return hostOf(webhookUrlOf(row.definition) ?? '');
  return row.channel === 'push' ? row.userID : row.target;
}

const viewDelivery = (row: DeliveryRow): DeliveryView => ({
  deliveryID: String(row.deliveryNo),
  notificationID: row.notificationNo === null ? null : String(row.notificationNo),
  ruleID: row.ruleID,
  channel: row.channel,
  target: targetOf(row),
  state: row.state,
  attempts: row.attempts,
  created: seconds(row.createdMs),
  nextAttempt: row.state === 'pending' ? seconds(row.nextMs) : 0,
  ended: row.endedMs === null ? 0 : seconds(row.endedMs),
  lastError: row.fault,
});

const choice = Type.Object({
  state: Type.Optional(Type.Enum(['pending', 'sent', 'dead'], { description: 'Only those in this state' })),
  ...newestFirst.properties,
});

const getDeliveries = operation({
  id: 'getDeliveries',
  method: 'GET',
  path: '/notification/deliveries/authorization',
  forms: ['versioned'],
  access: 'admin',
  tag: 'Notifications',
  summary: 'Deliveries of notifications',
  description: `Every delivery of the account, newest first: one for each target that a rule told of one event.

A delivery is tried at once. After a failure it waits, first 5 to 10 seconds and each time up to twice as long, at most an
hour, with a random part; what waits for the same target (the webhook of the same rule, the same mailbox, the same
browser) waits with it, and nothing else does; a new panic, tamper or loss of power waits there for 30 seconds at most.
After 24 hours it is \`dead\`. A mailbox that is refused for good and a push subscription that has ended are \`dead\` at once.
Deliveries are at least once: a repeat carries the same id. They are kept for 30 days, at most 100,000 of an account. While
10,000 of an account wait, no more are added: of each further event one delivery stands here, \`dead\` at once, for all that
were not made, and the event is in the inbox. \`limit\` (up to 99999), \`before\` and \`state\` take a part.`,
  params: Type.Object({}),
  query: choice,
  body: null,
  result: Type.Object({ ...envelope, deliveries: Type.Array(delivery, { description: 'Newest first' }) }),
  errors: ['invalid_content'],
  effects: false,
  examples: { params: {}, body: null, result: { ...ok, deliveries: [example] } },
  async run({ caller, query }, services) {
    const { accountID } = caller;
    const deliveries = pagesDown(query, {
      read: (span) => listDeliveries(services.db, { accountID, state: query.state ?? null, ...span }),
      numberOf: (row) => row.deliveryNo,
      view: viewDelivery,
    });
    return { ...ok, deliveries };
  },
});

const retry = operation({
  id: 'retryDelivery',
  method: 'POST',
  path: '/notification/retrydelivery/authorization',
  forms: ['versioned'],
  access: 'admin',
  tag: 'Notifications',
  summary: 'Try a dead delivery again',
  description: `Begins again with a delivery that was given up: 24 hours from now. One that is pending or sent answers
422, one that is not there 404.`,
  params: Type.Object({}),
  body: Type.Object(
    { deliveryID: Type.String({ pattern: '^[0-9]{1,15}$', description: 'The delivery' }) },
    { additionalProperties: false },
  ),
  result: Type.Object(envelope),
  errors: ['not_found', 'conflict'],
  effects: true,
  examples: { params: {}, body: { deliveryID: '815' }, result: ok },
  async run({ body, caller, source }, services) {
    const { accountID } = caller;
    const deliveryNo = Number(body.deliveryID);
    const key = { accountID, deliveryNo };
    const onlyIf = isInState(key, 'dead');
    const deed = { action: 'delivery.retry', object: body.deliveryID, onlyIf };
    const [, changed] = await services.db.write([
      trail(services, { caller, source }, deed),
      retryDelivery(key, Math.round(services.clock.utcMs())),
    ]);
    if (changed?.changes === 1) {
      services.wakeDelivery();
      return ok;
    }
    const [row] = await listDeliveries(services.db, {
      accountID,
      state: null,
      before: deliveryNo + 1,
      limit: 1,
    });
    if (row?.deliveryNo !== deliveryNo) throw new AppError('not_found', `there is no delivery ${deliveryNo}`);
    throw new AppError('conflict', `delivery ${deliveryNo} is ${row.state}`, {
      hint: 'Only a dead delivery can be tried again.',
    });
  },
});

export const deliveryOperations = [getDeliveries, retry] as const;
