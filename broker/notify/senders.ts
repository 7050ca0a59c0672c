// Channels of notifications: the port that the adapters `webhook.ts`, `web-push.ts` and `email.ts` implement.
// A sender never throws, keeps its own time-outs, and its faults hold no address and no secret.
import type { Database } from '../../src/ports.ts';
import type { DeliveryFault } from '../core/notifications/delivery-fault.ts';
import type { TargetRules } from '../core/notifications/delivery-targets.ts';
import type { Mail } from '../core/notifications/notice-mail.ts';

export type Sending =
  | { readonly kind: 'sent' }
  /** Worth another attempt, not before `retryAfterS` where the other side said so. */
  | { readonly kind: 'failed'; readonly fault: DeliveryFault; readonly retryAfterS?: number }
  /** It will never work: the target is gone, or refuses this for good. */
  | { readonly kind: 'gone'; readonly fault: DeliveryFault };

/** Sends the mail of a feature that a delivery carries. */
export type SendMail = (
  services: { readonly db: Database; readonly senders: Pick<Senders, 'email'> },
  deliveryNo: number,
) => Promise<Sending>;

export interface WebhookCall {
  readonly url: string;
  readonly secret: string;
  /** The same at every attempt, so that the receiver can recognise a repeat. */
  readonly id: string;
  readonly timestampS: number;
  readonly body: string;
}

export interface PushMessage {
  readonly endpoint: string;
  readonly p256dh: string;
  readonly auth: string;
  readonly body: string;
  /** Replaces an undelivered message of the same topic; at most 32 characters of base64url. */
  readonly topic: string;
  readonly isUrgent: boolean;
  readonly nowS: number;
}

export interface OutgoingMail extends Mail {
  readonly to: string;
  readonly id: string;
  /** A CSV file in UTF-8 beside the text. */
  readonly file?: { readonly name: string; readonly content: Uint8Array };
}

export interface Senders {
  webhook(call: WebhookCall): Promise<Sending>;
  push(message: PushMessage): Promise<Sending>;
  /** Null: no mail server is configured. */
  readonly email: ((mail: OutgoingMail) => Promise<Sending>) | null;
  /** Public key (VAPID) that browsers subscribe with: base64url of the uncompressed point. */
  readonly vapidPublicKey: string;
  /** Rules for the targets that users enter. */
  readonly targets: TargetRules;
  /** Aborts deliveries under way. */
  close(): Promise<void>;
}
