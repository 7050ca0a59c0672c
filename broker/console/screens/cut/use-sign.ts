// Signing an order: one touch, one request, and what stands in its way.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { cutWords } from '../../../../build/words/cut.ts';
import type { Approval } from '../../api/operations.ts';
import { type Failure, failureText } from '../../components/failure.ts';
import { useValue, useWords } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import { connection, isLive } from '../../service/live.ts';
import { AlteredOrder, askedOrder, hasPasskeys, signOrder } from '../../service/orders/order-signing.ts';
import { NoPasskey } from '../../service/passkeys.ts';
import { useUser } from '../../service/role.ts';
import { useSending } from '../../service/sending.ts';
import { session } from '../../service/session.ts';
import type { Relay } from '../../state/orders/cut-view.ts';
import { missingOf, type SeenOrder } from '../../state/orders/signing.ts';
import type { WordsWith } from '../../words/word-set.ts';
import type { PersonProof } from './proof-field.tsx';

export interface Sign {
  /** False: there is nothing to sign, or not by this user. */
  readonly isOffered: boolean;
  /** The browser asks for the passkey, or the service has no answer yet. */
  readonly isBusy: boolean;
  /** This user brought an agreement already; another person may agree at this screen too. */
  readonly hasGiven: boolean;
  /** No passkey of this user is among those that count. */
  readonly isUnlisted: boolean;
  readonly failure: Failure | null;
  readonly sentMs: number | null;
  send(): void;
}

function signFailure(thrown: Error, words: WordsWith<[typeof cutWords]>): Failure {
  const { persons } = words;
  const of = (hint: string): Failure => ({ title: persons.failed, hint });
  if (thrown instanceof AlteredOrder)
    return of(persons.altered({ member: persons.members[thrown.difference] }));
  if (thrown instanceof NoPasskey) return of(hasPasskeys() ? persons.cancelled : persons.unsupported);
  return failureText(thrown, words, persons.failed);
}

/** Credential ids of the passkeys of this user; null: not known. */
function useOwnPasskeys(isWanted: boolean): ReadonlySet<string> | null {
  const { data } = useQuery({
    queryKey: ['account', 'passkeys'],
    queryFn: ({ signal }) => call('getPasskeys', { signal }),
    enabled: isWanted,
  });
  return data === undefined ? null : new Set(data.passkeys.map(({ passkeyID }) => passkeyID));
}

interface SignOptions {
  /** Undefined: not known. */
  readonly request: Approval | undefined;
  readonly relay: Relay;
  readonly proof?: PersonProof;
  /** With the command, once enough persons agreed. */
  onCommand?(commandID: string): void;
}

/** Signs the order of a request as the screen shows it. The one that was just asked for here is signed without a further press. */
export function useSign({ request, relay, proof, onCommand }: SignOptions): Sign {
  const words = useWords(cutWords);
  const queries = useQueryClient();
  const user = useUser();
  const isDown = useValue(connection).state !== 'live';
  const {
    approvalID = '',
    deviceID = '',
    reason = '',
    signing = null,
    signOptions: options = null,
  } = request ?? {};
  const isOffered =
    options !== null && options.credentials.length > 0 && signing !== null && missingOf(signing) > 0;
  const own = useOwnPasskeys(isOffered);
  const asked = useValue(askedOrder);
  const isAsked = asked !== null && asked.approvalID === approvalID;
  const signed = useSending({
    mutationKey: ['sign', approvalID],
    mutationFn: async () => {
      if (signing === null || options === null) throw new Error('There is nothing to sign');
      const { accountID = '' } = session.get() ?? {};
      const shown: SeenOrder = {
        accountID,
        deviceID,
        feature: relay,
        reason,
        latestMs: Number.POSITIVE_INFINITY,
      };
      const assertion = await signOrder({ order: signing.order, options }, isAsked ? asked : shown);
      const secret = proof?.secret ?? '';
      return call('signCommand', {
        body: { approvalID, assertion, ...(secret === '' ? {} : { password: secret }) },
      });
    },
    onSuccess: ({ commandID }) => (commandID === '' ? undefined : onCommand?.(commandID)),
    onSettled: (_answer, thrown) => {
      proof?.answered(thrown === null);
      return queries.invalidateQueries({ queryKey: ['orders'] });
    },
  });
  const { send, isBusy, failure, sentMs } = signed;
  const hasGiven = signing?.given.some(({ userID }) => userID === user?.userID) === true;
  const hasOwn = own !== null && options !== null && options.credentials.some((one) => own.has(one));
  const isReady = isOffered && isAsked && !asked.isTried && hasOwn && hasPasskeys() && !isDown;
  useEffect(() => {
    if (!isReady) return;
    askedOrder.set({ ...asked, isTried: true });
    send();
  }, [isReady, asked, send]);
  return {
    isOffered: isOffered && user !== undefined && user.roleID !== 'viewer',
    isBusy,
    hasGiven,
    isUnlisted: own !== null && !hasOwn && !hasGiven,
    failure: failure === null ? null : signFailure(failure, words),
    sentMs,
    send: () => (isOffered && !isDown && isLive() ? send() : undefined),
  };
}
