// A delivery of a notification in answers. It shows the host of a webhook and never its path, which may hold a secret.
import { type Static, Type } from 'typebox';
import { epochSeconds } from '../../../src/core/epoch-seconds.ts';
import { faultCodes, viewFault } from '../../core/notifications/delivery-fault.ts';
import { hostOf } from '../../core/notifications/delivery-targets.ts';
import type { DeliveryRow } from '../../store/notifications/deliveries.ts';
import { webhookUrlOf } from '../../store/notifications/rules.ts';

const epoch = (description: string) => Type.Integer({ description: `${description} (epoch seconds)` });

/** A delivery as administrators see it. */
export const delivery = Type.Object({
  deliveryID: Type.String({ description: 'Grows with every delivery; decimal text' }),
  notificationID: Type.Union([Type.String(), Type.Null()], {
    description: 'The notification that it delivers; null once it is no longer kept',
  }),
  ruleID: Type.String({ description: 'The rule; empty once it was deleted, and for a report' }),
  isReport: Type.Boolean({
    description: 'It carries a report that was mailed on a schedule, and no notification',
  }),
  scheduleID: Type.String({
    description: 'The schedule of that report; empty once it was deleted, and without one',
  }),
  channel: Type.Enum(['webhook', 'email', 'push'], { description: 'The way' }),
  target: Type.String({
    description: 'Host of the webhook, e-mail address, or user of the push registration',
  }),
  state: Type.Enum(['pending', 'sent', 'dead'], { description: '`dead`: given up' }),
  attempts: Type.Integer({ description: 'How often it was tried' }),
  created: epoch('When the rule decided'),
  nextAttempt: epoch('When a pending one is tried next; 0 otherwise'),
  ended: epoch('When it was sent or given up; 0 while it is pending'),
  lastError: Type.String({ description: 'Why the last attempt failed, a sentence; empty when it did not' }),
  lastErrorCode: Type.Enum(['', ...faultCodes], { description: 'The same as a code; empty when it did not' }),
  lastErrorDetail: Type.String({
    description: 'Status, seconds or code of a connection that belongs to the code; empty without one',
  }),
});
type DeliveryView = Static<typeof delivery>;

export const exampleDelivery: DeliveryView = {
  deliveryID: '815',
  notificationID: '4711',
  ruleID: 'night-watch',
  isReport: false,
  scheduleID: '',
  channel: 'webhook',
  target: 'hooks.example.com',
  state: 'dead',
  attempts: 12,
  created: 1763683201,
  nextAttempt: 0,
  ended: 1763701201,
  lastError: 'answered 503',
  lastErrorCode: 'answered',
  lastErrorDetail: '503',
};

function targetOf(row: DeliveryRow): string {
  if (row.channel === 'webhook') return hostOf(webhookUrlOf(row.definition) ?? '');
  return row.channel === 'push' ? row.userID : row.target;
}

function lastErrorOf(fault: string) {
  const { code, detail, sentence } = viewFault(fault);
  return { lastError: sentence, lastErrorCode: code, lastErrorDetail: detail };
}

export const viewDelivery = (row: DeliveryRow): DeliveryView => ({
  deliveryID: String(row.deliveryNo),
  notificationID: row.notificationNo === null ? null : String(row.notificationNo),
  ruleID: row.ruleID,
  isReport: row.isReport,
  scheduleID: row.scheduleID,
  channel: row.channel,
  target: targetOf(row),
  state: row.state,
  attempts: row.attempts,
  created: epochSeconds(row.createdMs),
  nextAttempt: row.state === 'pending' ? epochSeconds(row.nextMs) : 0,
  ended: epochSeconds(row.endedMs),
  ...lastErrorOf(row.fault),
});

const { channel, state, created, ended } = delivery.properties;
/** A delivery in the answer of an alarm. */
export const alarmDelivery = Type.Object({
  channel,
  target: Type.String({
    description: 'Host of the webhook, e-mail address, or user of the push registration; empty for viewers',
  }),
  state,
  created,
  ended,
});

/** @param showsTarget whether the answer names the recipient; not to viewers, as e-mail addresses are personal data. */
export function viewAlarmDelivery(row: DeliveryRow, showsTarget: boolean): Static<typeof alarmDelivery> {
  const view = viewDelivery(row);
  return {
    channel: view.channel,
    target: showsTarget ? view.target : '',
    state: view.state,
    created: view.created,
    ended: view.ended,
  };
}
