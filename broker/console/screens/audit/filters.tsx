// The filter of the log: user, kind of action, object, days. It is asked for as a whole, and all of it stands in the address.
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent } from 'react';
import { Button } from 'react-aria-components';
import { auditWords } from '../../../../build/words/audit.ts';
import { tabWords } from '../../../../build/words/tab.ts';
import { Icon } from '../../components/icon.tsx';
import { useWords } from '../../components/use.ts';
import { type AuditSearch, isFiltered } from '../../state/account/audit-view.ts';
import { dateOf, endOfDate, startOfDate } from '../../state/reports/report-dates.ts';
import { shownZone } from '../../words/measures.ts';

/** The address without what is empty. */
function searchOf(form: FormData): AuditSearch {
  const text = (name: string): string => {
    const value = form.get(name);
    return typeof value === 'string' ? value.trim() : '';
  };
  const [actor, action, object] = [text('actor'), text('action'), text('object')];
  // Days in the wrong order are taken as the same period.
  const given = [text('from'), text('to')];
  const [first, last] = given.includes('') ? given : given.toSorted();
  const [from, to] = [startOfDate(first ?? '', shownZone()), endOfDate(last ?? '', shownZone())];
  return {
    ...(actor === '' ? {} : { actor }),
    ...(action === '' ? {} : { action }),
    ...(object === '' ? {} : { object }),
    ...(from === null ? {} : { from }),
    ...(to === null ? {} : { to }),
  };
}

function Kinds({ action }: { readonly action: string | undefined }) {
  const words = useWords(auditWords, tabWords);
  const { auditLog: texts } = words;
  const actions: Readonly<Record<string, string>> = { ...words.audit.actions, ...texts.actions };
  const kinds = Object.entries(texts.kinds).toSorted(([, one], [, other]) =>
    one.localeCompare(other, words.locale),
  );
  const isKind = action === undefined || Object.hasOwn(texts.kinds, action);
  return (
    <select className="input" name="action" defaultValue={action ?? ''}>
      <option value="">{texts.all}</option>
      {isKind ? null : <option value={action}>{actions[action] ?? action}</option>}
      {kinds.map(([kind, text]) => (
        <option key={kind} value={kind}>
          {text}
        </option>
      ))}
    </select>
  );
}

export function Filters() {
  const { auditLog: texts } = useWords(auditWords);
  const navigate = useNavigate({ from: '/audit' });
  const search: AuditSearch = useSearch({ from: '/shell/audit' });
  const { actor = '', action, object = '', from, to } = search;
  const apply = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    void navigate({ search: searchOf(new FormData(event.currentTarget)), replace: true });
  };
  return (
    // Another address is another form: its fields show what is asked for.
    <form
      key={JSON.stringify(search)}
      className="audit-filters"
      role="search"
      aria-label={texts.filter}
      onSubmit={apply}
    >
      <label>
        <span className="muted">{texts.actor}</span>
        <input
          className="input"
          name="actor"
          defaultValue={actor}
          maxLength={128}
          title={texts.operatorHint}
        />
      </label>
      <label>
        <span className="muted">{texts.kind}</span>
        <Kinds action={action} />
      </label>
      <label>
        <span className="muted">{texts.object}</span>
        <input className="input" name="object" defaultValue={object} maxLength={128} />
      </label>
      <label>
        <span className="muted">{texts.from}</span>
        <input
          type="date"
          className="input date"
          name="from"
          defaultValue={from === undefined ? '' : dateOf(from, shownZone())}
        />
      </label>
      <label>
        <span className="muted">{texts.to}</span>
        <input
          type="date"
          className="input date"
          name="to"
          defaultValue={to === undefined ? '' : dateOf(to, shownZone())}
        />
      </label>
      <span className="row wrap">
        <button type="submit" className="button secondary">
          <Icon name="search" />
          {texts.apply}
        </button>
        {!isFiltered(search) ? null : (
          <Button className="button secondary" onPress={() => void navigate({ search: {}, replace: true })}>
            <Icon name="x" />
            {texts.every}
          </Button>
        )}
      </span>
    </form>
  );
}
