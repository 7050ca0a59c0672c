// The entries of the audit log about one order: the actor, the action, the time and the place in the chain. Administrators read the log.

import { useQuery } from '@tanstack/react-query';
import { cutWords } from '../../../../build/words/cut.ts';
import { failureText } from '../../components/failure.ts';
import { Loading, Time } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { Known } from '../../components/view.tsx';
import { call } from '../../service/call.ts';

interface AuditProps {
  readonly deviceID: string;
  /** Ids of the command and of the request that it came of; empty ones name nothing. */
  readonly ids: readonly string[];
  readonly role: string;
}

/** Entries about the device that are looked through, the newest first. */
const entriesMost = '200';

const idsOf = (detail: Readonly<Record<string, unknown>> | null): readonly unknown[] => [
  detail?.['commandID'],
  detail?.['approvalID'],
];

export function Audit({ deviceID, ids, role }: AuditProps) {
  const words = useWords(cutWords);
  const { order: texts } = words;
  const { data, error, dataUpdatedAt } = useQuery({
    queryKey: ['orders', 'audit', deviceID],
    queryFn: ({ signal }) =>
      call('auditEntries', { query: { object: deviceID, limit: entriesMost }, signal }),
    enabled: role === 'admin',
  });
  if (role !== 'admin') return <p className="muted">{texts.auditAdmins}</p>;
  if (error !== null) return <p className="muted">{failureText(error, words).title}</p>;
  if (data === undefined) return <Loading rows={2} />;
  const wanted = ids.filter((id) => id !== '');
  const own = data.entries.filter(({ detail }) =>
    idsOf(detail).some((id) => wanted.some((one) => one === id)),
  );
  if (own.length === 0)
    return (
      <Known readMs={dataUpdatedAt} isSmall>
        <p className="muted">{texts.auditNone}</p>
      </Known>
    );
  return (
    <details>
      <summary>{texts.auditCount({ count: own.length })}</summary>
      <ul className="thread">
        {own.toReversed().map(({ entryID, timestamp, userID, action, chainNumber }) => (
          <li key={entryID}>
            <span className="avatar" aria-hidden="true">
              {userID.slice(0, 2).toUpperCase()}
            </span>
            <div>
              {userID} <code>{action}</code>{' '}
              <small>
                <Time at={timestamp} /> ·{' '}
                {chainNumber === null ? texts.unsealed : texts.chain({ place: chainNumber })}
              </small>
            </div>
          </li>
        ))}
      </ul>
    </details>
  );
}
