// Who did what to this vehicle: its entries of the audit log, which only administrators read.
import { useInfiniteQuery } from '@tanstack/react-query';
import { Suspense } from 'react';
import { tabWords } from '../../../../build/words/tab.ts';
import type { Device, Result } from '../../api/operations.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Empty, Loading, Time } from '../../components/texts.tsx';
import { lazyPart, useWords } from '../../components/use.ts';
import { View } from '../../components/view.tsx';
import { call } from '../../service/call.ts';
import { useRole } from '../../service/role.ts';
import { chainText } from '../../state/audit/entry-text.ts';
import { withWords } from '../../words/word-set.ts';

type Entry = Result<'auditEntries'>['entries'][number];

const pageSize = '50';

/** Its words are those of settings and zones too, which the page of a vehicle does not need. */
const EntryDetail = lazyPart(async () => (await withWords(import('../audit/detail.tsx'))).Detail);

/** What changed: members with their values. */
function Detail({ detail }: Pick<Entry, 'detail'>) {
  const { audit: texts } = useWords(tabWords);
  if (detail === null) return <span className="muted">{texts.erased}</span>;
  return (
    <span className="audit-detail">
      <Suspense>
        <EntryDetail detail={detail} between={'\n'} />
      </Suspense>
    </span>
  );
}

function EntryRow({ entry }: { readonly entry: Entry }) {
  const { audit: texts, alarms } = useWords(tabWords);
  const actions: Readonly<Record<string, string>> = texts.actions;
  const users: Readonly<Record<string, string>> = { service: alarms.service, operator: texts.operator };
  const { timestamp, userID, action, detail, source, chainNumber, hash } = entry;
  return (
    <tr>
      <td className="nowrap">
        <Time at={timestamp} />
      </td>
      <th scope="row">{users[userID] ?? userID}</th>
      <td>{actions[action] ?? <code>{action}</code>}</td>
      <td data-label={texts.detail}>
        <Detail detail={detail} />
      </td>
      <td className="mono" data-label={texts.source}>
        {source}
      </td>
      <td className="num mono" data-label={texts.chain} title={hash ?? undefined}>
        {chainNumber === null ? (
          <span className="muted">{texts.unsealed}</span>
        ) : (
          <bdi>{chainText(chainNumber, hash)}</bdi>
        )}
      </td>
    </tr>
  );
}

function Entries({ deviceID }: { readonly deviceID: string }) {
  const { audit: texts, paging } = useWords(tabWords);
  const { data, error, dataUpdatedAt, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ['audit', deviceID],
    queryFn: ({ pageParam, signal }) =>
      call('auditEntries', {
        query: { object: deviceID, limit: pageSize, ...(pageParam === null ? {} : { cursor: pageParam }) },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    refetchInterval: 30_000,
  });
  const entries = data?.pages.flatMap((page) => page.entries);
  return (
    <>
      <View
        error={error}
        readMs={dataUpdatedAt}
        empty={entries?.length === 0 ? <Empty icon="table" title={texts.empty} /> : null}
      >
        <div className="scroll">
          <table className="table folds top audit">
            <caption className="hidden">{texts.title}</caption>
            <thead>
              <tr>
                {[texts.time, texts.user, texts.action, texts.detail, texts.source].map((name) => (
                  <th scope="col" key={name}>
                    {name}
                  </th>
                ))}
                <th scope="col" className="num">
                  {texts.chain}
                </th>
              </tr>
            </thead>
            <tbody>
              {entries?.map((entry) => (
                <EntryRow key={entry.entryID} entry={entry} />
              ))}
            </tbody>
          </table>
        </div>
      </View>
      {hasNextPage ? (
        <div className="card-body">
          <ActionButton className="button" isOff={isFetchingNextPage} onPress={() => void fetchNextPage()}>
            {paging.older}
          </ActionButton>
        </div>
      ) : null}
    </>
  );
}

export function VehicleAudit({ device }: { readonly device: Device }) {
  const { audit: texts } = useWords(tabWords);
  const role = useRole();
  return (
    <section className="card" aria-labelledby="audit-title">
      <header>
        <h2 id="audit-title">{texts.title}</h2>
        <span className="muted">{texts.sealed}</span>
      </header>
      {role === '' ? (
        <Loading rows={5} />
      ) : role === 'admin' ? (
        <Entries deviceID={device.deviceID} />
      ) : (
        <Empty icon="lock" title={texts.forbidden}>
          <p>{texts.forbiddenHint}</p>
        </Empty>
      )}
    </section>
  );
}
