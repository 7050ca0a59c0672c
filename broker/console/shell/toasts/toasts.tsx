// The region of the toasts: what happened elsewhere or later. F6 goes to it and back; Escape and a button close a toast.
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import {
  Button,
  Text,
  UNSTABLE_Toast as Toast,
  UNSTABLE_ToastContent as ToastContent,
  UNSTABLE_ToastRegion as ToastRegion,
} from 'react-aria-components';
import { toastWords } from '../../../../build/words/toast.ts';
import { languages } from '../../../../src/core/words/languages.ts';
import { Icon, type IconName } from '../../components/icon.tsx';
import { codeText, iconOf } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { vehicles } from '../../service/live.ts';
import { cutText, orderSearch } from '../../state/orders/cut-view.ts';
import { setLanguage } from '../../words/word-set.ts';
import { OrderWatch } from './order-watch.tsx';
import { newAlarms, type Said, toasts } from './toast-queue.ts';
import { useOccasions } from './use-occasions.ts';

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
