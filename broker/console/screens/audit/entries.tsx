// The entries of the log, the newest first. Only rows in sight are in the document.
import { Link } from '@tanstack/react-router';
import { auditWords } from '../../../../build/words/audit.ts';
import { tabWords } from '../../../../build/words/tab.ts';
import { useZoneName } from '../../components/places/use-zones.ts';
import { VirtualList } from '../../components/rows/virtual-list.tsx';
import { LongName, Time } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { vehicles } from '../../service/live.ts';
import { chainText } from '../../state/audit/entry-text.ts';
import { Detail } from './detail.tsx';
import type { Entry } from './use-entries.ts';

const rowPx = 64;

/** A user: the entries of this one alone. */
function Actor({ userID }: Pick<Entry, 'userID'>) {
  const { audit, auditLog: texts, alarms } = useWords(auditWords, tabWords);
  const known: Readonly<Record<string, string>> = { service: alarms.service, operator: audit.operator };
  return (
    <Link
      to="/audit"
      search={{ actor: userID }}
      aria-label={texts.onlyActor({ user: known[userID] ?? userID })}
    >
      <bdi>{known[userID] ?? userID}</bdi>
    </Link>
  );
}

/** What was changed: a vehicle leads to its page, everything else to its entries. */
function ObjectLink({ object, action }: Pick<Entry, 'object' | 'action'>) {
  const { auditLog: texts } = useWords(auditWords);
  const vehicle = useValue(vehicles).get(object);
  const zoneName = useZoneName();
  const name = action.startsWith('geozone.') ? zoneName(object) : object;
  return vehicle === undefined ? (
    <Link to="/audit" search={{ object }} aria-label={texts.onlyObject({ object: name })}>
      <bdi>{name}</bdi>
    </Link>
  ) : (
    <Link to="/vehicle/$deviceID" params={{ deviceID: object }} search={{ tab: 'audit' }}>
      <LongName text={vehicle.name} />
    </Link>
  );
}

function Row({ entry }: { readonly entry: Entry }) {
  const { audit, auditLog } = useWords(auditWords, tabWords);
  const actions: Readonly<Record<string, string>> = { ...audit.actions, ...auditLog.actions };
  const { timestamp, userID, action, object, detail, source, chainNumber, hash } = entry;
  return (
    <article className="audit-entry" data-entry={entry.entryID}>
      <p className="audit-line">
        <span className="nowrap muted">
          <Time at={timestamp} />
        </span>
        <strong>
          <Actor userID={userID} />
        </strong>
        <span>{actions[action] ?? <code>{action}</code>}</span>
        {object === '' ? null : <ObjectLink object={object} action={action} />}
        <span className="mono muted push" title={hash ?? undefined}>
          {chainNumber === null ? audit.unsealed : <bdi>{chainText(chainNumber, hash)}</bdi>}
        </span>
      </p>
      <p className="muted audit-detail">
        {detail === null ? audit.erased : <Detail detail={detail} between=" · " />}
        {source === '' ? null : <bdi>{` ${audit.source} ${source}`}</bdi>}
      </p>
    </article>
  );
}

export function Entries({ entries }: { readonly entries: readonly Entry[] }) {
  const { auditLog: texts } = useWords(auditWords);
  return (
    <VirtualList
      items={entries}
      rowPx={rowPx}
      frame={{ className: 'audit-list', tabIndex: 0, role: 'region', 'aria-label': texts.caption }}
      keyOf={({ entryID }) => entryID}
      row={(entry) => <Row entry={entry} />}
    />
  );
}
