// State of outgoing notifications, for administrators: waiting, delivered, and given up with the reason.
import { Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { isInState, listDeliveries, retryDelivery } from '../../store/notifications/deliveries.ts';
import { delivery, exampleDelivery, viewDelivery } from '../answers/delivery-view.ts';
import { auditEntry } from '../base/audit-entry.ts';
import { operation } from '../base/operation.ts';
import { numberedPage, numberedQuery, pageMembers, pageText } from '../base/paging.ts';
import { envelope, numberOrDigits, ok } from '../base/shapes.ts';

const choice = Type.Object({
  state: Type.Optional(Type.Enum(['pending', 'sent', 'dead'], { description: 'Only those in this state' })),
  ...numberedQuery,
});

const getDeliveries = operation({
  id: 'getDeliveries',
  method: 'GET',
  path: '/notification/deliveries/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: { scope: 'admin', ofDevices: false },
  tag: 'Notifications',
  summary: 'Deliveries of notifications',
  description: `Every delivery of the account, newest first: one for each target that a rule notified of one event.

A delivery is tried at once. After a failure it waits, first 5 to 10 seconds and each time up to twice as long, at most an
hour, with a random part; what waits for the same target (the webhook of the same rule, the same mailbox, the same
browser) waits with it, and nothing else does; a new panic, tamper or loss of power waits there for 30 seconds at most.
After 24 hours it is \`dead\`. A mailbox that is refused for good and a push subscription that has ended are \`dead\` at once.
Deliveries are at least once: a repeat carries the same id. They are kept for 30 days, at most 100,000 of an account. While
10,000 of an account wait, no more are added: of each further event one delivery stands here, \`dead\` at once, for all that
were not made, and the event is in the inbox. ${pageText} \`?state=\`
gives only those in that state.`,
  params: Type.Object({}),
  query: choice,
  body: null,
  result: Type.Object({
    ...envelope,
    deliveries: Type.Array(delivery, { description: 'Newest first' }),
    ...pageMembers,
  }),
  errors: ['invalid_content'],
  effects: false,
  examples: { result: { deliveries: [exampleDelivery] } },
  async run({ caller, query }, services) {
    const { accountID } = caller;
    const { page, more, next } = await numberedPage(query, {
      read: (span) => listDeliveries(services.db, { accountID, state: query.state ?? null, ...span }),
      numberOf: (row) => row.deliveryNo,
    });
    return { ...ok, deliveries: page.map(viewDelivery), more, next };
  },
});

const retry = operation({
  id: 'retryDelivery',
  method: 'POST',
  path: '/notification/retrydelivery/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: { scope: 'admin', ofDevices: false },
  tag: 'Notifications',
  summary: 'Try a dead delivery again',
  description: `Begins again with a delivery that was given up: 24 hours from now. One that is pending or sent answers
422, one that is not there 404.`,
  params: Type.Object({}),
  body: Type.Object({ deliveryID: numberOrDigits('The delivery') }, { additionalProperties: false }),
  result: Type.Object(envelope),
  errors: ['not_found', 'conflict'],
  effects: true,
  examples: { body: { deliveryID: '815' } },
  async run({ body, caller, source }, services) {
    const { accountID } = caller;
    const deliveryNo = Number(body.deliveryID);
    const key = { accountID, deliveryNo };
    const onlyIf = isInState(key, 'dead');
    const audited = { action: 'delivery.retry', object: String(deliveryNo), onlyIf };
    const [, changed] = await services.db.write([
      auditEntry(services, { caller, source }, audited),
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
    if (row?.deliveryNo !== deliveryNo) throw new AppError('not_found', `There is no delivery ${deliveryNo}`);
    throw new AppError('conflict', `Delivery ${deliveryNo} is ${row.state}`, {
      hint: 'Only a dead delivery can be tried again.',
    });
  },
});

export const deliveryOperations = [getDeliveries, retry] as const;
