// Asking for a cut or an unlock: what stands in the form, what is still missing, and the one request that it becomes.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { type OrderReason, reasonOf, reasonText } from '../../../../src/core/reports/order-reason.ts';
import { randomKey } from '../../../client/idempotency-key.ts';
import { useNow, useValue } from '../../components/use.ts';
import { ServiceError } from '../../service/call.ts';
import { isLive } from '../../service/live.ts';
import { recordFound, recordSent, sentOf, sentOrders, settleSent } from '../../service/orders/sent-orders.ts';
import { handleArrival } from '../../service/orders/sent-watch.ts';
import { serviceNowS, session } from '../../service/session.ts';
import { lifeOf, noteMost, type Relay, usualLifeS } from '../../state/orders/cut-view.ts';
import { type FoundOrder, isOverdue, type SentOrder } from '../../state/orders/sent-orders.ts';
import type { PersonProof } from './proof-field.tsx';

// What stands in the form of a cut or an unlock while the browser is at the login provider. It holds no secret, and lives as long as the tab.

interface Draft {
  readonly deviceID: string;
  readonly relay: Relay;
  readonly reason: OrderReason | null;
  readonly note: string;
  readonly lifeS: number;
}

const key = 'fleetward.cut-draft';

function keepDraft(draft: Draft): void {
  sessionStorage.setItem(key, JSON.stringify(draft));
}

function dropDraft(): void {
  sessionStorage.removeItem(key);
}

/** The draft of an order for this vehicle; null without one. */
function draftOf(deviceID: string, relay: Relay): Draft | null {
  try {
    const kept = JSON.parse(sessionStorage.getItem(key) ?? 'null') as Partial<Draft> | null;
    if (kept?.deviceID !== deviceID || kept.relay !== relay) return null;
    return {
      deviceID,
      relay,
      reason: reasonOf(kept.reason, relay),
      note: typeof kept.note === 'string' ? kept.note.slice(0, noteMost) : '',
      lifeS: lifeOf(kept.lifeS, relay),
    };
  } catch {
    return null;
  }
}

export type Missing = 'sent' | 'limits' | 'reason' | 'note' | 'password' | 'login';

export interface Ask {
  readonly relay: Relay;
  readonly reason: OrderReason | null;
  readonly note: string;
  readonly lifeS: number;
  /** Null: the form can be sent. */
  readonly missing: Missing | null;
  readonly isBusy: boolean;
  readonly failure: Error | null;
  /** An order of these vehicles that has no answer yet; null: none went out. */
  readonly sent: SentOrder | null;
  /** Its answer takes long, or its connection broke. */
  readonly isOverdue: boolean;
  choose(reason: string): void;
  setNote(note: string): void;
  setLife(seconds: number): void;
  /**
   * Sends the order, or the one that has no answer once more. Does nothing while something is missing, the stream is not live, or an answer
   * may still come in its usual time.
   */
  send(): void;
}

/** What every request carries beside the vehicles. */
export interface OrderDetails {
  readonly reason: string;
  readonly ttl: number;
  readonly password?: string;
}

interface AskOptions<T> {
  readonly relay: Relay;
  readonly operation: 'commandFeature' | 'commandDevices';
  readonly deviceIDs: readonly string[];
  readonly hasLimits: boolean;
  readonly proof: PersonProof;
  /** Life that the form begins with; the usual one unless given. */
  readonly firstLifeS?: number;
  /** Sends the one request. */
  order(order: OrderDetails, idempotencyKey: string): Promise<T>;
  onAsked(answer: T): void;
  /** What the order became, by its vehicle. */
  foundOf(answer: T): readonly (readonly [deviceID: string, found: FoundOrder])[];
}

interface Sending {
  readonly key: string;
  readonly body: OrderDetails;
  /** False: it was sent before under this key, so a refusal of this request says nothing of the first. */
  readonly isFirst: boolean;
}

/** Whether the form is still on the screen. */
function useShown() {
  const isShown = useRef(false);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);
  return isShown;
}

export function useAsk<T>(options: AskOptions<T>): Ask {
  const { relay, operation, deviceIDs, hasLimits, proof, order, onAsked, foundOf } = options;
  const subject = deviceIDs.join(',');
  const form = `${operation} ${subject}`;
  const queries = useQueryClient();
  const [draft] = useState(() => draftOf(subject, relay));
  const [reason, setReason] = useState<OrderReason | null>(draft?.reason ?? null);
  const [note, setNote] = useState(draft?.note ?? '');
  const [lifeS, setLife] = useState<number>(draft?.lifeS ?? options.firstLifeS ?? usualLifeS[relay]);
  // The way to the login provider leaves this page: what was typed is there again afterwards.
  useEffect(() => {
    if (proof.kind === 'login') keepDraft({ deviceID: subject, relay, reason, note, lifeS });
  }, [proof.kind, subject, relay, reason, note, lifeS]);
  const isSending = useRef(false);
  const isShown = useShown();
  const sent = sentOf(useValue(sentOrders), relay, deviceIDs) ?? null;
  // Judged anew each second.
  useNow();
  const noProof = proof.secret === null ? (proof.kind === 'login' ? 'login' : 'password') : null;
  const unchosen = reason === null ? 'reason' : reason === 'other' && note.trim() === '' ? 'note' : null;
  // What another form sent is sent again there.
  const isElsewhere = sent !== null && sent.form !== form;
  const missing = isElsewhere
    ? 'sent'
    : !hasLimits
      ? 'limits'
      : ((sent === null ? unchosen : null) ?? noProof);
  const sending = useMutation({
    mutationFn: ({ key, body }: Sending) => order(body, key),
    onSuccess: (answer, { key }) => {
      dropDraft();
      handleArrival(key);
      // The form may have been closed meanwhile, and opened again.
      if (isShown.current) onAsked(answer);
      else for (const [deviceID, found] of foundOf(answer)) recordFound(relay, deviceID, found);
    },
    onError: (thrown, { key, isFirst }) => {
      if (isFirst && thrown instanceof ServiceError && !thrown.mayHaveActed) settleSent(key);
    },
    onSettled: (_answer, thrown) => {
      isSending.current = false;
      proof.answered(thrown === null);
      void queries.invalidateQueries({ queryKey: ['orders'] });
    },
  });
  const isLate = sent !== null && (sending.error !== null || isOverdue(sent, serviceNowS()));
  return {
    relay,
    reason,
    note,
    lifeS,
    missing,
    isBusy: (sent !== null || sending.isPending) && !isLate,
    failure: sending.error,
    sent,
    isOverdue: isLate,
    choose: (chosen) => setReason(reasonOf(chosen, relay)),
    setNote,
    setLife,
    send() {
      const present = session.get();
      if (missing !== null || present === null || !isLive()) return;
      if (sent === null ? isSending.current : !isLate) return;
      isSending.current = true;
      // One intent, one key: two presses, or one after a lost answer or a reload, give one command each.
      const isFirst = sent === null;
      const key = sent?.key ?? randomKey();
      const details = {
        reason: sent?.reason ?? (reason === null ? '' : reasonText(reason, note)),
        ttl: sent?.ttl ?? lifeS,
      };
      const { accountID, userID } = present;
      const sentS = sent?.sentS ?? serviceNowS();
      recordSent({ accountID, userID, relay, form, deviceIDs, key, ...details, sentS, takenBack: [] });
      const { secret } = proof;
      sending.mutate({
        key,
        isFirst,
        body: { ...details, ...(secret === null || secret === '' ? {} : { password: secret }) },
      });
    },
  };
}
