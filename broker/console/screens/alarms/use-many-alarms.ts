// What is done with many alarms at once: which are picked stands in the address, and each has its own result. What was not changed stays picked.
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import type { Alarm, CloseReason, Result } from '../../api/operations.ts';
import { useValue } from '../../components/use.ts';
import { call, ServiceError } from '../../service/call.ts';
import { connection, showAlarm } from '../../service/live.ts';
import { useSending } from '../../service/sending.ts';
import { parsePicked, pickedMost } from '../../state/device-view.ts';
import { without } from '../../state/search.ts';

export type ManyChange =
  | { readonly action: 'take'; readonly alarms: readonly Alarm[] }
  | { readonly action: 'assign'; readonly alarms: readonly Alarm[]; readonly userID: string }
  | {
      readonly action: 'close';
      readonly alarms: readonly Alarm[];
      readonly reason: CloseReason;
      readonly text: string;
    };

type Item = Pick<Result<'takeAlarms'>['items'][number], 'alarmID' | 'error' | 'alarm'>;

export interface ManyResult {
  readonly action: ManyChange['action'];
  readonly done: number;
  readonly failed: readonly { readonly alarm: Alarm; readonly why: string }[];
}

/** One after the other: the service assigns one in a request. A fault of the service ends it, and what was assigned before stays so. */
async function assign(alarms: readonly Alarm[], userID: string): Promise<readonly Item[]> {
  const items: Item[] = [];
  for (const [at, { alarmID, version }] of alarms.entries()) {
    try {
      const alarm = await call('assignAlarm', { body: { alarmID, version, userID } });
      items.push({ alarmID, error: null, alarm });
    } catch (thrown) {
      if (!(thrown instanceof ServiceError)) throw thrown;
      const isOfThis = thrown.status >= 400 && thrown.status < 500;
      if (!isOfThis && at === 0) throw thrown;
      const error = { code: thrown.code, detail: thrown.message, hint: thrown.hint };
      const undone = isOfThis ? alarms.slice(at, at + 1) : alarms.slice(at);
      items.push(...undone.map((one) => ({ alarmID: one.alarmID, error, alarm: null })));
      if (!isOfThis) return items;
    }
  }
  return items;
}

async function send(change: ManyChange): Promise<readonly Item[]> {
  const { action, alarms } = change;
  if (action === 'assign') return assign(alarms, change.userID);
  const targets = alarms.map(({ alarmID, version }) => ({ alarmID, version }));
  if (action === 'take') return (await call('takeAlarms', { body: { alarms: targets } })).items;
  const { reason, text } = change;
  const body = { alarms: targets, reason, ...(text === '' ? {} : { text }) };
  return (await call('closeAlarms', { body })).items;
}

function resultOf({ action, alarms }: ManyChange, items: readonly Item[]): ManyResult {
  const failed = items.flatMap(({ alarmID, error, alarm }) => {
    const known = alarm ?? alarms.find((one) => one.alarmID === alarmID);
    return error === null || known === undefined ? [] : [{ alarm: known, why: error.detail }];
  });
  return { action, done: items.length - failed.length, failed };
}

const mutationKey = ['alarm-change'];

export function useManyAlarms() {
  const queries = useQueryClient();
  const navigate = useNavigate({ from: '/alarms' });
  const { pick: text } = useSearch({ from: '/shell/alarms' });
  const { state } = useValue(connection);
  const ids = useMemo(() => new Set(parsePicked(text)), [text]);
  const [opened, setOpened] = useState<{
    readonly kind: 'assign' | 'close';
    readonly alarms: readonly Alarm[];
  } | null>(null);
  const [result, setResult] = useState<ManyResult | null>(null);
  /** @param from what is picked by then: a press may come before the one ahead of it is drawn. */
  const change = (from: (picked: readonly string[]) => readonly string[]): void =>
    void navigate({
      search: (before) => {
        const wanted = from(parsePicked(before.pick)).slice(0, pickedMost);
        return wanted.length === 0 ? without(before, 'pick') : { ...before, pick: wanted.join(',') };
      },
      replace: true,
      resetScroll: false,
    });
  const pick = (wanted: readonly string[]): void => change(() => wanted);
  const sending = useSending({
    mutationKey,
    mutationFn: send,
    onMutate: () => setResult(null),
    onSuccess: (items, change) => {
      for (const { alarm } of items) if (alarm !== null) showAlarm(alarm);
      const done = new Set(items.filter(({ error }) => error === null).map(({ alarmID }) => alarmID));
      if (ids.size > 0) pick([...ids].filter((id) => !done.has(id)));
      setResult(resultOf(change, items));
      setOpened(null);
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['alarm'] }),
  });
  return {
    ids,
    pick,
    toggle(alarmID: string): void {
      change((picked) =>
        picked.includes(alarmID) ? picked.filter((id) => id !== alarmID) : [...picked, alarmID],
      );
    },
    isBusy: sending.isBusy,
    isDown: state !== 'live',
    failure: sending.failure,
    opened,
    open(kind: 'assign' | 'close', alarms: readonly Alarm[]): void {
      sending.reset();
      setOpened({ kind, alarms });
    },
    dismiss: (): void => setOpened(null),
    result,
    forget: (): void => setResult(null),
    run: sending.send,
  };
}

export type ManyAlarms = ReturnType<typeof useManyAlarms>;
