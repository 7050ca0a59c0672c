// The region of the toasts, loaded behind the first screen: what happened elsewhere or later. F6 goes to it and back; Escape and a button close
// a toast.
import { Link, useLocation, useParams, useSearch } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import {
  Button,
  Text,
  UNSTABLE_Toast as Toast,
  UNSTABLE_ToastContent as ToastContent,
  UNSTABLE_ToastQueue as ToastQueue,
  UNSTABLE_ToastRegion as ToastRegion,
} from 'react-aria-components';
import { toastWords } from '../../../../build/words/toast.ts';
import { type Language, languages } from '../../../../src/core/words/languages.ts';
import type { Alarm } from '../../api/operations.ts';
import { Icon, type IconName } from '../../components/icon.tsx';
import { codeText, iconOf } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { alarms, alarmsBefore, returns, vehicles } from '../../service/live.ts';
import { orderEnds } from '../../service/orders/order-ends.ts';
import { type SafeOrder, safeOrders } from '../../service/orders/safe-orders.ts';
import { useCommand } from '../../service/orders.ts';
import { viewedAlarms } from '../../state/alarms/viewed-alarms.ts';
import { cutText, orderIn, orderSearch, type Relay } from '../../state/orders/cut-view.ts';
import type { OrderEnd } from '../../state/orders/order-ends.ts';
import { createValue } from '../../state/value.ts';
import { notLoaded, setLanguage } from '../../words/word-set.ts';

// What toasts can say. Each of it stands in a screen too: a toast is never the only place of what it says.

type Said =
  | { readonly kind: 'back' }
  | { readonly kind: 'language'; readonly wanted: Language }
  /** New alarms of `newAlarms`: one toast for all of them. */
  | { readonly kind: 'alarms' }
  /** A restore or a lock that was asked for in this tab. */
  | { readonly kind: 'safe'; readonly deviceID: string; readonly relay: Relay; readonly isDone: boolean }
  /** A cut or an unlock of this user. */
  | { readonly kind: 'end'; readonly end: OrderEnd };

/** What has gone well leaves by itself after this, ms; not while the pointer or the focus is on it. Everything else stays until it is closed. */
const leavesMs = 6000;
const visibleMost = 3;

const toasts = new ToastQueue<Said>({ maxVisibleToasts: visibleMost });

/** New alarms that the toast says, the newest first. */
const newAlarms = createValue<readonly Alarm[]>([]);

/** @returns the key that closes it. */
function say(said: Said, onClose?: () => void): string {
  const isGood =
    said.kind === 'back' ||
    (said.kind === 'safe' && said.isDone) ||
    (said.kind === 'end' && said.end.ending === 'confirmed');
  return toasts.add(said, {
    ...(isGood ? { timeout: leavesMs } : {}),
    ...(onClose === undefined ? {} : { onClose }),
  });
}

// When a toast is due: the connection is back, a language could not be loaded, alarms came in while another screen is shown.

function useLanguageNotLoaded(): void {
  const wanted = useValue(notLoaded);
  useEffect(() => {
    if (wanted === null) return undefined;
    const key = say({ kind: 'language', wanted });
    return () => toasts.close(key);
  }, [wanted]);
}

/** One toast for all new alarms since the page was opened. It goes when they are taken, and on the screen of the alarms. */
function useNewAlarms(): void {
  const open = useValue(alarms);
  const { pathname } = useLocation();
  const isShown = pathname === '/alarms';
  const known = useValue(alarmsBefore);
  const viewed = useValue(viewedAlarms);
  const key = useRef<string | null>(null);
  useEffect(() => {
    const all = [...open.values()].filter(
      ({ alarmID, alarmState }) => alarmState === 'new' && known?.has(alarmID) === false,
    );
    const fresh = all
      .filter(({ alarmID }) => !isShown && !viewed.has(alarmID))
      .toSorted((one, other) => other.opened - one.opened);
    newAlarms.set(fresh);
    if (fresh.length === 0 && key.current !== null) toasts.close(key.current);
    if (fresh.length > 0)
      key.current ??= say({ kind: 'alarms' }, () => {
        key.current = null;
        viewedAlarms.set(new Set([...viewedAlarms.get(), ...newAlarms.get().map(({ alarmID }) => alarmID)]));
      });
  }, [open, isShown, known, viewed]);
}

function useOccasions(): void {
  useEffect(() => returns.subscribe(() => void say({ kind: 'back' })), []);
  useLanguageNotLoaded();
  useNewAlarms();
  // What was said belongs to the session.
  useEffect(() => () => toasts.clear(), []);
}

// Orders and their ends as toasts: of a restore or a lock that was asked for in this tab, on any screen but that of the vehicle; of a cut or an
// unlock of this user, on any screen but that of the order.

function SafeWatch({ order }: { readonly order: SafeOrder }) {
  const { deviceID, relay, state } = order;
  const { data: record } = useCommand(state === 'asked' ? order.commandID : null);
  const { deviceID: opened } = useParams({ strict: false });
  const { vehicle: selected } = useSearch({ strict: false });
  const isOpen = (opened ?? selected) === deviceID;
  const isSaid = useRef(false);
  const hasEnded = state === 'failed' || record?.hasEnded === true;
  const isDone = state !== 'failed' && record?.commandState === 'confirmed';
  useEffect(() => {
    if (!hasEnded || isSaid.current) return;
    isSaid.current = true;
    // Its screen says it.
    if (!isOpen) say({ kind: 'safe', deviceID, relay, isDone });
  }, [hasEnded, isDone, isOpen, deviceID, relay]);
  return null;
}

/** One toast for each end, however often the service reports it. */
function useOrderEnds(): void {
  const ends = useValue(orderEnds);
  const { pathname } = useLocation();
  const { deviceID: opened } = useParams({ strict: false });
  const { cut, unlock, tab } = useSearch({ strict: false });
  const said = useRef<ReadonlySet<OrderEnd>>(new Set());
  useEffect(() => {
    const shown = orderIn({ cut, unlock })?.target;
    const isShown = ({ kind, id, deviceID }: OrderEnd): boolean => {
      if (kind === 'request' && pathname === '/approvals') return true;
      if (opened !== deviceID) return false;
      return tab === 'commands' || (shown?.kind === kind && shown.id === id);
    };
    for (const end of ends.toReversed()) {
      if (said.current.has(end)) continue;
      if (!isShown(end)) say({ kind: 'end', end });
    }
    said.current = new Set(ends);
  }, [ends, pathname, opened, cut, unlock, tab]);
}

function OrderWatch() {
  const all = useValue(safeOrders);
  useOrderEnds();
  return [...all].map(([key, order]) => (
    <SafeWatch key={`${key} ${order.state === 'asked' ? order.commandID : order.state}`} order={order} />
  ));
}

const endIcons = {
  confirmed: 'shield-check',
  refused: 'ban',
  expired: 'timer-off',
  unknown: 'circle-help',
} as const;

interface Shown {
  readonly tone: 'act' | 'look' | 'ok';
  readonly icon: IconName;
  readonly title: string;
  readonly hint: string;
  readonly action: ReactNode;
}

function useShown(said: Said): Shown {
  const words = useWords(toastWords);
  const { toasts: texts, shell, common } = words;
  const [alarm, ...others] = useValue(newAlarms);
  const fleet = useValue(vehicles);
  switch (said.kind) {
    case 'back':
      return { tone: 'ok', icon: 'circle-check', title: texts.back, hint: texts.backHint, action: null };
    case 'language':
      return {
        tone: 'look',
        icon: 'triangle-alert',
        title: shell.languageNotLoaded({ name: languages[said.wanted] }),
        hint: shell.languageStays,
        action: (
          <Button className="button secondary small" onPress={() => void setLanguage(said.wanted)}>
            {common.retry}
          </Button>
        ),
      };
    case 'alarms':
      return {
        tone: alarm?.priority === 'low' ? 'look' : 'act',
        icon: alarm === undefined ? 'bell' : iconOf(alarm.statusCode, 'octagon-alert'),
        title:
          alarm === undefined
            ? ''
            : words.alarms.announce({
                alarm: codeText(alarm.statusCode, words),
                vehicle: alarm.deviceDisplayName,
              }),
        hint: others.length === 0 ? '' : texts.more({ count: others.length }),
        action:
          alarm === undefined ? null : (
            <Link className="button secondary small" to="/alarms" search={{ alarm: alarm.alarmID }}>
              {texts.toAlarm}
            </Link>
          ),
      };
    case 'safe': {
      const { deviceID, relay, isDone } = said;
      const name = fleet.get(deviceID)?.name ?? deviceID;
      const { done, doneHint, notDone } = texts.safe[relay];
      return {
        tone: isDone ? 'ok' : 'look',
        icon: isDone ? 'shield-check' : 'triangle-alert',
        title: isDone ? done({ vehicle: name }) : notDone({ vehicle: name }),
        hint: isDone ? doneHint : texts.notDoneHint,
        action: (
          <Link className="button secondary small" to="/vehicle/$deviceID" params={{ deviceID }}>
            {texts.toVehicle}
          </Link>
        ),
      };
    }
    case 'end': {
      const { deviceID, relay, ending, kind, id } = said.end;
      const name = fleet.get(deviceID)?.name ?? deviceID;
      return {
        tone: ending === 'confirmed' ? 'ok' : 'look',
        icon: endIcons[ending],
        title: texts.ends[relay][ending]({ vehicle: name }),
        hint: texts.endHints[ending],
        action: (
          <Link
            className="button secondary small"
            to="/vehicle/$deviceID"
            params={{ deviceID }}
            search={orderSearch(relay, cutText(kind, id))}
          >
            {texts.toOrder}
          </Link>
        ),
      };
    }
  }
}

/** How it is announced: an alarm is by the shell, on every screen, so the toast says nothing. */
const roles = {
  back: 'status',
  language: 'alert',
  alarms: 'presentation',
  safe: 'status',
  end: 'status',
} as const;

function Body({ said }: { readonly said: Said }) {
  const { common } = useWords();
  const { tone, icon, title, hint, action } = useShown(said);
  return (
    <>
      <ToastContent className={`notice ${tone}`} role={roles[said.kind]}>
        <Icon name={icon} />
        <div>
          <Text slot="title" className="strong">
            {title}
          </Text>
          {hint === '' ? null : (
            <Text slot="description" className="muted">
              {hint}
            </Text>
          )}
        </div>
      </ToastContent>
      {action}
      <Button className="button square" slot="close" aria-label={common.close}>
        <Icon name="x" />
      </Button>
    </>
  );
}

export function Toasts() {
  useOccasions();
  return (
    <>
      <OrderWatch />
      <ToastRegion queue={toasts} className="toasts">
        {({ toast }) => (
          <Toast toast={toast} className="toast">
            <Body said={toast.content} />
          </Toast>
        )}
      </ToastRegion>
    </>
  );
}
