// Asking for a cut or an unlock: what stands in the form, what is still missing, and the one request that it becomes.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { type OrderReason, reasonOf, reasonText } from '../../../../src/core/reports/order-reason.ts';
import { ServiceError } from '../../service/call.ts';
import { draftOf, dropDraft, keepDraft } from '../../service/cut-draft.ts';
import { randomKey } from '../../service/idempotency-key.ts';
import { type Relay, usualLifeS } from '../../state/cut-view.ts';
import type { PersonProof } from './proof-field.tsx';

export type Missing = 'limits' | 'reason' | 'note' | 'password' | 'login';

export interface Ask {
  readonly relay: Relay;
  readonly reason: OrderReason | null;
  readonly note: string;
  readonly lifeS: number;
  /** Null: the form can be sent. */
  readonly missing: Missing | null;
  readonly isBusy: boolean;
  readonly failure: Error | null;
  choose(reason: string): void;
  setNote(note: string): void;
  setLife(seconds: number): void;
  /** Does nothing while something is missing or the request is on its way. */
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
  /** The vehicle, or the vehicles with commas between. */
  readonly subject: string;
  readonly hasLimits: boolean;
  readonly proof: PersonProof;
  /** Sends the one request. */
  order(order: OrderDetails, idempotencyKey: string): Promise<T>;
  onAsked(answer: T): void;
}

/** The service may have acted, or may yet: the same key is sent again, so that it acts once. */
const mayHaveActed = (thrown: unknown): boolean =>
  !(thrown instanceof ServiceError) || thrown.status === 0 || thrown.status >= 500;

export function useAsk<T>({ relay, subject, hasLimits, proof, order, onAsked }: AskOptions<T>): Ask {
  const queries = useQueryClient();
  const [draft] = useState(() => draftOf(subject, relay));
  const [reason, setReason] = useState<OrderReason | null>(draft?.reason ?? null);
  const [note, setNote] = useState(draft?.note ?? '');
  const [lifeS, setLife] = useState<number>(draft?.lifeS ?? usualLifeS[relay]);
  // The way to the login provider leaves this page: what was typed is there again afterwards.
  useEffect(() => {
    if (proof.kind === 'login') keepDraft({ deviceID: subject, relay, reason, note, lifeS });
  }, [proof.kind, subject, relay, reason, note, lifeS]);
  const intent = useRef({ text: '', key: '' });
  const isSending = useRef(false);
  const missing = !hasLimits
    ? 'limits'
    : reason === null
      ? 'reason'
      : reason === 'other' && note.trim() === ''
        ? 'note'
        : proof.secret === null
          ? proof.kind === 'login'
            ? 'login'
            : 'password'
          : null;
  const sending = useMutation({
    mutationFn: (body: OrderDetails) => {
      // One intent, one key: two presses, or one after a lost answer, give one command each.
      const text = `${relay} ${subject} ${body.ttl} ${body.reason}`;
      if (intent.current.text !== text) intent.current = { text, key: randomKey() };
      return order(body, intent.current.key);
    },
    onSuccess: (answer) => {
      dropDraft();
      onAsked(answer);
    },
    onError: (thrown) => {
      if (!mayHaveActed(thrown)) intent.current = { text: '', key: '' };
    },
    onSettled: (_answer, thrown) => {
      isSending.current = false;
      proof.answered(thrown === null);
      void queries.invalidateQueries({ queryKey: ['orders'] });
    },
  });
  return {
    relay,
    reason,
    note,
    lifeS,
    missing,
    isBusy: sending.isPending,
    failure: sending.error,
    choose: (chosen) => setReason(reasonOf(chosen, relay)),
    setNote,
    setLife,
    send() {
      if (missing !== null || reason === null || isSending.current) return;
      isSending.current = true;
      const { secret } = proof;
      sending.mutate({
        reason: reasonText(reason, note),
        ttl: lifeS,
        ...(secret === null || secret === '' ? {} : { password: secret }),
      });
    },
  };
}
