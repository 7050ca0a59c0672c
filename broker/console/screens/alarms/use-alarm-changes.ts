// What a user does with an alarm. The screen shows what the service answered, never what was wanted.
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Alarm, CloseReason } from '../../api/operations.ts';
import { useValue } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import { connection, showAlarm } from '../../service/live.ts';
import { useSending } from '../../service/sending.ts';
import { serviceNowS } from '../../service/session.ts';

export type Change =
  | { readonly action: 'take' | 'release' | 'resume'; readonly alarm: Alarm }
  | { readonly action: 'close'; readonly alarm: Alarm; readonly reason: CloseReason; readonly text: string }
  | { readonly action: 'shelve'; readonly alarm: Alarm; readonly minutes: number; readonly text: string }
  | { readonly action: 'note'; readonly alarm: Alarm; readonly text: string };

function send(change: Change) {
  const { alarmID, version } = change.alarm;
  const target = { alarmID, version };
  switch (change.action) {
    case 'take':
      return call('takeAlarm', { body: target });
    case 'release':
      return call('releaseAlarm', { body: target });
    case 'resume':
      return call('unshelveAlarm', { body: target });
    case 'close': {
      const { reason, text } = change;
      return call('closeAlarm', { body: { ...target, reason, ...(text === '' ? {} : { text }) } });
    }
    case 'shelve': {
      // The service judges it by its own clock, and takes less than a day.
      const until = serviceNowS() + change.minutes * 60 - 5;
      return call('shelveAlarm', { body: { ...target, until, text: change.text } });
    }
    case 'note':
      return call('addAlarmNote', { body: { alarmID, text: change.text } });
  }
}

export type DialogKind = 'close' | 'shelve';

export interface Dialogs {
  readonly isBusy: boolean;
  /** The stream is down: what is shown may be old, so nothing is offered. */
  readonly isDown: boolean;
  readonly failure: Error | null;
  readonly opened: { readonly kind: DialogKind; readonly alarm: Alarm } | null;
  take(alarm: Alarm): void;
  release(alarm: Alarm): void;
  resume(alarm: Alarm): void;
  open(kind: DialogKind, alarm: Alarm): void;
  dismiss(): void;
  /** @returns a promise that settles with the answer; it is rejected while another change is under way. */
  change(change: Change): Promise<unknown>;
}

const mutationKey = ['alarm-change'];

export function useAlarmChanges(): Dialogs {
  const queries = useQueryClient();
  const { state } = useValue(connection);
  const [opened, setOpened] = useState<Dialogs['opened']>(null);
  const sending = useSending({
    mutationKey,
    mutationFn: send,
    onSuccess: (answer) => showAlarm(answer),
    onSettled: () => queries.invalidateQueries({ queryKey: ['alarm'] }),
  });
  return {
    isBusy: sending.isBusy,
    isDown: state !== 'live',
    failure: sending.failure,
    opened,
    take: (alarm) => sending.send({ action: 'take', alarm }),
    release: (alarm) => sending.send({ action: 'release', alarm }),
    resume: (alarm) => sending.send({ action: 'resume', alarm }),
    open(kind, alarm) {
      sending.reset();
      setOpened({ kind, alarm });
    },
    dismiss: () => setOpened(null),
    change: sending.sendAsync,
  };
}
