// The alarms of the account: the queue, its figures, and one alarm beside it. What is shown stands in the address.

import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Suspense, useEffect, useMemo } from 'react';
import { Button } from 'react-aria-components';
import type { Alarm } from '../../api/operations.ts';
import { Chips } from '../../components/chips.tsx';
import { failureText } from '../../components/failure.ts';
import { Icon } from '../../components/icon.tsx';
import { MenuButton } from '../../components/menus/menu-button.tsx';
import { RowsBar } from '../../components/rows/rows-bar.tsx';
import { useHeldRows } from '../../components/rows/use-held-rows.ts';
import { Empty, spanText } from '../../components/texts.tsx';
import { lazyPart, useHasStood, useServiceNow, useTitle, useValue, useWords } from '../../components/use.ts';
import { countText, FailureNotice, Known, usePicture } from '../../components/view.tsx';
import { call } from '../../service/call.ts';
import { alarms } from '../../service/live.ts';
import { useRole } from '../../service/role.ts';
import { muteSound, sound, testSound } from '../../service/sound.ts';
import { type AlarmFilter, alarmFilters, matchesAlarm } from '../../state/alarm-view.ts';
import { viewedAlarms } from '../../state/alarms/viewed-alarms.ts';
import { compareAlarms } from '../../state/fleet-messages.ts';
import { without } from '../../state/search.ts';
import { loadAhead, withWords } from '../../words/word-set.ts';
import { AlarmDetail } from './detail.tsx';
import { Queue } from './queue.tsx';
import { Tiles, useSummary } from './tiles.tsx';
import { useAlarmChanges } from './use-alarm-changes.ts';
import { useManyAlarms } from './use-many-alarms.ts';

// Loaded behind the alarms, which come first, or when they are opened.
const loadSave = (isAhead = false) => withWords(import('./save.tsx'), isAhead);
const loadDialogs = (isAhead = false) => withWords(import('./dialogs.tsx'), isAhead);
const ManyAlarmsResult = lazyPart(async () => (await withWords(import('./many.tsx'))).ManyAlarmsResult);
const PickedAlarms = lazyPart(async () => (await withWords(import('./many.tsx'))).PickedAlarms);
const ManyAlarmsDialogs = lazyPart(
  async () => (await withWords(import('./many-dialogs.tsx'))).ManyAlarmsDialogs,
);
const SaveAlarms = lazyPart(async () => (await loadSave()).SaveAlarms);
const AlarmDialogs = lazyPart(async () => (await loadDialogs()).AlarmDialogs);

function SoundButtons() {
  const { alarms: texts } = useWords();
  const { state } = useValue(sound);
  return (
    <div className="row push">
      <Button className="button secondary" onPress={() => void testSound()}>
        <Icon name="bell" />
        {state === 'muted' ? texts.unmute : texts.testSound}
      </Button>
      {state === 'on' ? (
        <Button className="button secondary" onPress={muteSound}>
          <Icon name="volume-x" />
          {texts.mute}
        </Button>
      ) : null}
    </div>
  );
}

interface HeadProps {
  readonly open: readonly Alarm[];
}

function Head({ open }: HeadProps) {
  const words = useWords();
  const now = useServiceNow();
  const waiting = open.filter(({ alarmState }) => alarmState === 'new');
  const oldest = Math.min(...waiting.map(({ untakenSince }) => untakenSince));
  const isKnown = usePicture('alarms').knowledge === 'known';
  return (
    <header className="page-head">
      <h1>{words.alarms.title}</h1>
      <span className="muted">
        {waiting.length === 0 && !isKnown
          ? words.stream.notKnown
          : words.alarms.nNew({ count: waiting.length })}
        {waiting.length === 0 ? '' : ` · ${words.alarms.oldest({ span: spanText(now - oldest, words) })}`}
      </span>
      <SoundButtons />
    </header>
  );
}

function FilterChips({
  filter,
  open,
  closed,
}: {
  readonly filter: AlarmFilter;
  readonly open: readonly Alarm[];
  readonly closed: number | undefined;
}) {
  const { alarms: texts } = useWords();
  const navigate = useNavigate({ from: '/alarms' });
  const { knowledge } = usePicture('alarms');
  return (
    <Chips
      label={texts.filter}
      values={alarmFilters}
      chosen={filter}
      content={(one) => (
        <>
          {texts.filters[one]}{' '}
          <b>
            {one === 'closed'
              ? (closed ?? '')
              : countText(open.filter((alarm) => matchesAlarm(alarm, one)).length, knowledge)}
          </b>
        </>
      )}
      onChoose={(one) =>
        void navigate({
          search: (before) => (one === 'open' ? without(before, 'show') : { ...before, show: one }),
          replace: true,
        })
      }
    />
  );
}

const closedMost = '200';

/** The rows of the queue in the order that is held, and what is said of those that came and went. */
function useHeldAlarms(list: readonly Alarm[], show: AlarmFilter) {
  const { states } = useWords().alarms;
  const byID = useValue(alarms);
  const { rows, fresh, insert, frame } = useHeldRows(list, ({ alarmID }) => alarmID, show);
  const urgent = fresh.find(({ alarmState, priority }) => alarmState === 'new' && priority === 'critical');
  return {
    rows,
    frame,
    bar: (
      <RowsBar
        count={fresh.length}
        urgent={urgent && { ...urgent, name: urgent.deviceDisplayName }}
        insert={insert}
      />
    ),
    goneOf({ alarmID }: Alarm): string {
      const { alarmState = 'closed', owner = '' } = byID.get(alarmID) ?? {};
      return owner === '' ? states[alarmState] : `${states[alarmState]} · ${owner}`;
    },
  };
}

/** An alarm that is shown here needs no toast on the next screen; the dialogs are loaded once it stands. */
function useViewed(open: readonly Alarm[]): void {
  const hasStood = useHasStood();
  useEffect(() => {
    const fresh = open.filter(({ alarmState }) => alarmState === 'new');
    viewedAlarms.set(new Set(fresh.map(({ alarmID }) => alarmID)));
  }, [open]);
  useEffect(() => (hasStood ? loadAhead(loadDialogs) : undefined), [hasStood]);
}

function SaveButton({ show }: { readonly show: AlarmFilter }) {
  const { alarms: texts } = useWords();
  return (
    <MenuButton
      className="button secondary push"
      load={loadSave}
      menu={(of) => <SaveAlarms of={of} show={show} />}
    >
      <Icon name="download" />
      {texts.save}
    </MenuButton>
  );
}

export function AlarmsScreen() {
  const words = useWords();
  const { show = 'open', alarm: alarmID = null } = useSearch({ from: '/shell/alarms' });
  const byID = useValue(alarms);
  const picture = usePicture('alarms');
  const role = useRole();
  const summary = useSummary();
  const dialogs = useAlarmChanges();
  const many = useManyAlarms();
  const open = useMemo(() => [...byID.values()].toSorted(compareAlarms), [byID]);
  const closed = useQuery({
    queryKey: ['alarm', 'closed', summary?.closed],
    queryFn: ({ signal }) => call('listAlarms', { query: { state: 'closed', limit: closedMost }, signal }),
    enabled: show === 'closed',
  });
  const list =
    show === 'closed' ? (closed.data?.alarms ?? []) : open.filter((alarm) => matchesAlarm(alarm, show));
  const { frame, ...held } = useHeldAlarms(list, show);
  const mayPick = show !== 'closed' && (role === 'operator' || role === 'admin');
  const failure = show === 'closed' && closed.error !== null ? failureText(closed.error, words) : null;
  useTitle(words.alarms.title);
  useViewed(open);
  return (
    <main className="page" id="main">
      <Head open={open} />
      <Tiles open={open} summary={summary} />
      <div className="split">
        <section className="card" aria-labelledby="queue-title" {...frame}>
          <header className="wrap">
            <h2 id="queue-title">{words.alarms.queue}</h2>
            <FilterChips filter={show} open={open} closed={summary?.closed} />
            <SaveButton show={show} />
          </header>
          <Suspense fallback={null}>
            {mayPick && (many.ids.size > 0 || many.failure !== null) ? (
              <PickedAlarms many={many} list={list} role={role} />
            ) : null}
          </Suspense>
          {/* Apart: a button that is hidden while this is loaded would lose the focus. */}
          <Suspense>{many.result === null ? null : <ManyAlarmsResult many={many} />}</Suspense>
          {failure !== null ? (
            <FailureNotice failure={failure} />
          ) : held.rows.length === 0 ? (
            <Known {...(show === 'closed' ? { readMs: closed.dataUpdatedAt } : picture)}>
              <Empty
                icon="circle-check"
                title={show === 'open' ? words.alarms.empty : words.alarms.emptyFilter}
              >
                {show === 'open' ? <p>{words.alarms.emptyHint}</p> : null}
              </Empty>
            </Known>
          ) : (
            <Queue {...held} role={role} selected={alarmID} dialogs={dialogs} many={mayPick ? many : null} />
          )}
        </section>
        <AlarmDetail
          key={alarmID}
          alarmID={alarmID}
          known={
            (alarmID === null ? null : byID.get(alarmID)) ??
            list.find((one) => one.alarmID === alarmID) ??
            null
          }
          role={role}
          dialogs={dialogs}
          many={many}
        />
      </div>
      <Suspense fallback={null}>
        {dialogs.opened === null ? null : <AlarmDialogs dialogs={dialogs} />}
        {many.opened === null ? null : <ManyAlarmsDialogs many={many} role={role} />}
      </Suspense>
    </main>
  );
}
