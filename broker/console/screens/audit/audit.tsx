// The audit log as a whole, for administrators: all entries of the account with a filter, and the check of their chain.
import { useSearch } from '@tanstack/react-router';
import { auditWords } from '../../../../build/words/audit.ts';
import { tabWords } from '../../../../build/words/tab.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Empty, Loading, timeText } from '../../components/texts.tsx';
import { useTitle, useWords } from '../../components/use.ts';
import { View } from '../../components/view.tsx';
import { useRole } from '../../service/role.ts';
import { isFiltered } from '../../state/account/audit-view.ts';
import { ChainCheck } from './check.tsx';
import { Entries } from './entries.tsx';
import { Filters } from './filters.tsx';
import { useEntries } from './use-entries.ts';
import '../../styles/audit.css';

function Log() {
  const { auditLog: texts, paging } = useWords(auditWords, tabWords);
  const search = useSearch({ from: '/shell/audit' });
  const { entries, readMs, error, hasOlder, isBusy, showOlder } = useEntries(search);
  const last = entries?.at(-1);
  return (
    <section className="card" aria-label={texts.title}>
      <Filters />
      <View
        error={error}
        readMs={entries?.length === 0 && isBusy ? 0 : readMs}
        empty={
          entries?.length === 0 && !hasOlder ? (
            <Empty icon="table" title={isFiltered(search) ? texts.nothing : texts.empty}>
              <p>{isFiltered(search) ? texts.nothingHint : texts.emptyHint}</p>
            </Empty>
          ) : null
        }
      >
        <Entries entries={entries ?? []} />
        <div className="card-body row wrap">
          {hasOlder ? (
            <ActionButton className="button secondary" isOff={isBusy} onPress={showOlder}>
              {paging.older}
            </ActionButton>
          ) : null}
          <span className="muted" role="status">
            {texts.shown({ count: entries?.length ?? 0 })}
            {hasOlder && last !== undefined ? ` · ${texts.searched({ time: timeText(last.timestamp) })}` : ''}
          </span>
        </div>
      </View>
    </section>
  );
}

export function AuditScreen() {
  const { audit, auditLog: texts } = useWords(auditWords, tabWords);
  const role = useRole();
  useTitle(texts.title);
  return (
    <main className="page" id="main">
      <header className="page-head">
        <h1>{texts.title}</h1>
        <span className="muted">{texts.about}</span>
      </header>
      {role === '' ? (
        <Loading rows={5} />
      ) : role === 'admin' ? (
        <div className="split">
          <Log />
          <aside>
            <ChainCheck />
          </aside>
        </div>
      ) : (
        <section className="card">
          <Empty icon="lock" title={audit.forbidden}>
            <p>{audit.forbiddenHint}</p>
          </Empty>
        </section>
      )}
    </main>
  );
}
