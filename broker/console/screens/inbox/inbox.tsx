// The inbox of the user: alerts of the vehicles that this user sees, what rules sent, notices of the account. Filter and vehicle stand in the address.
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Button } from 'react-aria-components';
import { formWords } from '../../../../build/words/form.ts';
import { inboxWords } from '../../../../build/words/inbox.ts';
import { ruleWords } from '../../../../build/words/rule.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Chips } from '../../components/chips.tsx';
import { Icon, type IconName } from '../../components/icon.tsx';
import { RowsBar } from '../../components/rows/rows-bar.tsx';
import { useHeldRows } from '../../components/rows/use-held-rows.ts';
import { Badge, codeText, Empty, iconOf, Time } from '../../components/texts.tsx';
import { useTitle, useValue, useWords } from '../../components/use.ts';
import { useFailure, View } from '../../components/view.tsx';
import { vehicles } from '../../service/live.ts';
import { inboxFilters } from '../../state/account/inbox-view.ts';
import { without } from '../../state/search.ts';
import type { WordsWith } from '../../words/word-set.ts';
import { PushCard } from './push.tsx';
import { type Notification, useInbox, useMark } from './use-inbox.ts';
import { VehicleMessages } from './vehicle-messages.tsx';

function whatText(
  { kind, statusCode, userID }: Notification,
  words: WordsWith<[typeof inboxWords, typeof ruleWords]>,
): string {
  if (kind === 'event') return codeText(statusCode, words);
  return kind === 'account' ? words.inbox.account({ user: userID }) : words.rules.kinds[kind];
}

function whatIcon({ kind, statusCode }: Notification): IconName {
  if (kind === 'event') return iconOf(statusCode);
  if (kind === 'account') return 'users';
  return kind.startsWith('approval') ? 'user-check' : 'circle-alert';
}

interface RowProps {
  readonly notification: Notification;
  readonly isGone: boolean;
  readonly marks: ReturnType<typeof useMark>;
}

function Row({ notification, isGone, marks }: RowProps) {
  const words = useWords(inboxWords, ruleWords);
  const { inbox: texts } = words;
  const { notificationID, kind, deviceID, deviceDisplayName, late, viewed, alarmID } = notification;
  // Nothing happened after it was received: a vehicle's clock can be ahead.
  const timestamp = Math.min(notification.timestamp, notification.creationTime);
  const what = whatText(notification, words);
  return (
    <tr
      className={isGone ? 'gone' : viewed ? 'stale' : ''}
      data-notification={notificationID}
      {...(isGone ? { inert: true, 'data-gone': words.rows.gone } : {})}
    >
      <th scope="row">
        <span className="row">
          <Icon name={whatIcon(notification)} />
          {what}
        </span>
        {/* The service's own words: it names what the notice is about in English only. */}
        {kind === 'account' ? (
          <span className="note" lang="en">
            <bdi>{notification.statusDescription}</bdi>
          </span>
        ) : null}
        {alarmID === '' ? null : (
          <span className="note">
            <Link to="/alarms" search={{ alarm: alarmID }}>
              {texts.alarm}
            </Link>
          </span>
        )}
      </th>
      <td>
        {deviceID === '' ? (
          <span className="muted">{words.common.none}</span>
        ) : (
          <>
            <Link to="/vehicle/$deviceID" params={{ deviceID }}>
              {deviceDisplayName}
            </Link>
            <span className="note">
              <Link from="/inbox" to="/inbox" search={(before) => ({ ...before, vehicle: deviceID })} replace>
                {texts.only({ vehicle: deviceDisplayName })}
              </Link>
            </span>
          </>
        )}
      </td>
      <td data-label={texts.columns.when}>
        <Time at={timestamp} />
        {late ? <span className="note">{texts.late}</span> : null}
      </td>
      <td className="num" data-label={texts.columns.state}>
        {viewed ? (
          <span className="muted">{texts.viewed}</span>
        ) : (
          <ActionButton
            className="button secondary small"
            aria-label={texts.markOf({ what, vehicle: deviceDisplayName })}
            isOff={marks.isOff}
            onPress={() => marks.mark(notificationID)}
          >
            {texts.mark}
          </ActionButton>
        )}
      </td>
    </tr>
  );
}

interface TableProps {
  readonly rows: readonly Notification[];
  /** The filter that the reader chose. */
  readonly scope: string;
  readonly marks: ReturnType<typeof useMark>;
}

function Table({ rows, scope, marks }: TableProps) {
  const { inbox: texts } = useWords(inboxWords);
  const { what, vehicle, when, state } = texts.columns;
  const held = useHeldRows(rows, ({ notificationID }) => notificationID, scope);
  return (
    <div className="scroll" {...held.frame}>
      <RowsBar count={held.fresh.length} insert={held.insert} />
      <table className="table folds people">
        <caption className="hidden">{texts.caption}</caption>
        <thead>
          <tr>
            <th scope="col">{what}</th>
            <th scope="col">{vehicle}</th>
            <th scope="col">{when}</th>
            <th scope="col" className="num">
              {state}
            </th>
          </tr>
        </thead>
        <tbody>
          {held.rows.map(({ item, isGone }) => (
            <Row key={item.notificationID} notification={item} isGone={isGone} marks={marks} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Filters({ marks }: { readonly marks: ReturnType<typeof useMark> }) {
  const { inbox: texts, stream } = useWords(inboxWords);
  const navigate = useNavigate({ from: '/inbox' });
  const { show = 'all', vehicle } = useSearch({ from: '/shell/inbox' });
  const name = useValue(vehicles).get(vehicle ?? '')?.name ?? vehicle;
  return (
    <header className="wrap">
      <Chips
        label={texts.filter}
        values={inboxFilters}
        chosen={show}
        content={(one) => texts.filters[one]}
        onChoose={(one) =>
          void navigate({
            search: (before) => (one === 'all' ? without(before, 'show') : { ...before, show: one }),
            replace: true,
          })
        }
      />
      {name === undefined ? null : (
        <span className="row">
          <Badge icon="truck">{texts.only({ vehicle: name })}</Badge>
          <Button
            className="button secondary small"
            onPress={() => void navigate({ search: (before) => without(before, 'vehicle'), replace: true })}
          >
            <Icon name="x" />
            {texts.every}
          </Button>
        </span>
      )}
      <span className="row wrap push">
        <span className="muted" role="status">
          {marks.isDown ? stream.commandsOff : marks.hasMarkedAll ? texts.marked : ''}
        </span>
        <ActionButton className="button secondary" isOff={marks.isOff} onPress={() => marks.mark('*')}>
          <Icon name="check" />
          {texts.markAll}
        </ActionButton>
      </span>
    </header>
  );
}

export function InboxScreen() {
  const words = useWords(formWords, inboxWords);
  const { inbox: texts } = words;
  const { show = 'all', vehicle = null } = useSearch({ from: '/shell/inbox' });
  const inbox = useInbox({ show, deviceID: vehicle });
  const marks = useMark();
  const failure = useFailure(marks.failure, words.forms.failed);
  const { rows } = inbox;
  useTitle(words.pages.inbox.title);
  return (
    <main className="page" id="main">
      <header className="page-head">
        <h1>{words.pages.inbox.title}</h1>
        <span className="muted">{rows === undefined ? '' : texts.shown({ count: rows.length })}</span>
      </header>
      <div className="split">
        <section className="card" aria-label={words.pages.inbox.title}>
          <Filters marks={marks} />
          {failure}
          <View
            error={inbox.error}
            readMs={inbox.readMs}
            empty={
              rows?.length === 0 && !inbox.hasOlder ? (
                <Empty icon="circle-check" title={show === 'unviewed' ? texts.allViewed : texts.empty}>
                  <p>{texts.emptyHint}</p>
                </Empty>
              ) : null
            }
          >
            <Table rows={rows ?? []} scope={`${show} ${vehicle}`} marks={marks} />
            {inbox.hasOlder ? (
              <div className="card-body">
                <ActionButton className="button secondary" isOff={inbox.isBusy} onPress={inbox.showOlder}>
                  {texts.older}
                </ActionButton>
              </div>
            ) : null}
          </View>
        </section>
        <aside className="stack">
          <VehicleMessages />
          <PushCard />
        </aside>
      </div>
    </main>
  );
}
