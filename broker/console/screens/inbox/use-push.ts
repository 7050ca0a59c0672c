// Notifications of this browser: what the browser offers, and the registration at the service. The browser is asked only after a press.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { inboxWords } from '../../../../build/words/inbox.ts';
import { useValue, useWords } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import { connection } from '../../service/live.ts';
import { type Session, session } from '../../service/session.ts';
import { type KeptPush, PushFault, type PushState, parsePush } from '../../state/account/push-view.ts';
import { language } from '../../words/word-set.ts';

const workerScope = '/console/';
/** The worker and this browser's registration belong together: both stay when the session runs out, and end when it is ended. */
const key = 'fleetward.push';

const kept = (): KeptPush | null => parsePush(localStorage.getItem(key));

async function subscriptionHere(): Promise<PushSubscription | null> {
  const registration = await navigator.serviceWorker.getRegistration(workerScope);
  return (await registration?.pushManager.getSubscription()) ?? null;
}

async function readState(present: Session | null): Promise<PushState> {
  if (!window.isSecureContext) return 'insecure';
  if (!('serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window))
    return 'unsupported';
  if (Notification.permission === 'denied') return 'refused';
  const own = kept();
  if (own === null || (await subscriptionHere()) === null) return 'off';
  if (own.userID !== present?.userID || own.accountID !== present.accountID) return 'other';
  return (await isHeld(own)) ? 'on' : 'off';
}

/** Whether the service still holds the registration; from now on it ends with this session. What the service ended is forgotten. */
async function isHeld({ pushID }: KeptPush): Promise<boolean> {
  const { pushes } = await call('getTokens', { query: {} });
  const held = pushes.find((one) => one.pushID === pushID && one.isRegistered);
  if (held === undefined) await forget();
  else if (held.tokenID === '') await call('registerPush', { params: { pushID } });
  return held !== undefined;
}

async function forget(): Promise<void> {
  await (await subscriptionHere())?.unsubscribe();
  localStorage.removeItem(key);
}

async function subscribe(): Promise<PushSubscription> {
  if ((await Notification.requestPermission()) !== 'granted') throw new PushFault('refused');
  const { vapidKey } = await call('getVapidKey', {});
  await navigator.serviceWorker.register('/console/service-worker.mjs', {
    scope: workerScope,
    updateViaCache: 'none',
  });
  const { pushManager } = await navigator.serviceWorker.ready;
  return pushManager
    .subscribe({ userVisibleOnly: true, applicationServerKey: vapidKey })
    .catch((thrown: unknown) => {
      throw new PushFault('no_service', String(thrown));
    });
}

/** What is half done is undone: without a registration nothing is sent to a subscription. */
async function switchOn({ accountID, userID }: Session): Promise<void> {
  const subscription = await subscribe();
  try {
    const { endpoint = '', keys: { p256dh = '', auth = '' } = {} } = subscription.toJSON();
    const { pushID } = await call('subscribePush', { body: { endpoint, keys: { p256dh, auth } } });
    const { isDeliverable } = await call('registerPush', { params: { pushID } });
    if (!isDeliverable) throw new PushFault('undeliverable');
    localStorage.setItem(key, JSON.stringify({ pushID, accountID, userID } satisfies KeptPush));
  } catch (thrown) {
    await subscription.unsubscribe();
    throw thrown;
  }
}

/** The service first: it must not send to a browser that listens no more. */
async function switchOff(): Promise<void> {
  const own = kept();
  if (own !== null) await call('unregisterPush', { params: { pushID: own.pushID } });
  await forget();
}

export function usePush() {
  const queries = useQueryClient();
  const present = useValue(session);
  const { state: link } = useValue(connection);
  const { codes, locale, inbox } = useWords(inboxWords);
  const spoken = useValue(language);
  const queryKey = ['push', present?.accountID, present?.userID];
  const { data: state } = useQuery({ queryKey, queryFn: () => readState(present), staleTime: 0 });
  const changing = useMutation({
    mutationFn: async (isWanted: boolean) => {
      if (!isWanted) return switchOff();
      if (present !== null) await switchOn(present);
    },
    onSettled: () => queries.invalidateQueries({ queryKey }),
  });
  useEffect(() => {
    // The worker has no catalogue of its own.
    if (state !== 'on') return;
    const words = JSON.stringify({
      codes,
      lateAlarms: inbox.lateAlarms,
      locale,
      dir: spoken === 'ar' ? 'rtl' : 'ltr',
    });
    const keep = async (): Promise<void> =>
      (await caches.open('fleetward-push')).put('/console/push-words.json', new Response(words));
    void keep().catch(() => undefined);
  }, [state, codes, inbox, locale, spoken]);
  return {
    /** Undefined: not known yet. */
    state,
    isOff: link !== 'live' || changing.isPending,
    isDown: link !== 'live',
    failure: changing.error,
    change: (isWanted: boolean): void => (changing.isPending ? undefined : changing.mutate(isWanted)),
  };
}
