// The deliveries of one rule over the channels that are open: what the notifier and the escalation of alarms write.
import type { Statement } from '../../src/ports.ts';
import { mailboxesOf, webhookLane } from '../core/notifications/delivery-targets.ts';
import type { Channel, Rule } from '../core/notifications/notification-rules.ts';
import {
  type DeliveryContext,
  insertDelivery,
  insertPushDeliveries,
} from '../store/notifications/deliveries.ts';

interface OfDevice {
  readonly accountID: string;
  readonly deviceNo: number;
  readonly notifyEmail: string;
}

function addressesOf(rule: Rule, { notifyEmail }: OfDevice): readonly string[] {
  const listed = rule.email?.addresses ?? [];
  return [...new Set(listed.flatMap((one) => (one === 'device' ? mailboxesOf(notifyEmail) : [one])))];
}

/** One statement for the webhook, one for each mailbox, and one for the push registrations of all users. */
export function deliveriesOf(
  { rule, channels }: { readonly rule: Rule; readonly channels: readonly Channel[] },
  device: OfDevice,
  context: DeliveryContext,
): readonly Statement[] {
  const { accountID, deviceNo } = device;
  return channels.flatMap((channel): readonly Statement[] => {
    switch (channel) {
      case 'webhook': {
        const url = rule.webhook?.url ?? '';
        const lane = webhookLane({ accountID, url, ruleNo: rule.ruleNo });
        return [insertDelivery(context, { channel, target: '', lane })];
      }
      case 'email':
        return addressesOf(rule, device).map((target) =>
          insertDelivery(context, {
            channel,
            target,
            lane: `email:${accountID}:${target.toLowerCase()}`,
          }),
        );
      case 'push':
        return [insertPushDeliveries(context, { deviceNo, userIDs: rule.push?.userIDs ?? 'all' })];
    }
  });
}
