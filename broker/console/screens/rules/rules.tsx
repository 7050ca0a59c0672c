// Notification rules and what became of their messages, for administrators. All that is shown stands in the address.
import { Link, useSearch } from '@tanstack/react-router';
import { ruleWords } from '../../../../build/words/rule.ts';
import { Empty, Loading } from '../../components/texts.tsx';
import { useTitle, useWords } from '../../components/use.ts';
import { useRole } from '../../service/role.ts';
import { ruleLists } from '../../state/rules/rule-address.ts';
import { DeliveryList } from './delivery-list.tsx';
import { RuleList } from './rule-list.tsx';

function Content() {
  const { rules: texts } = useWords(ruleWords);
  const { list = 'rules' } = useSearch({ from: '/shell/rules' });
  const role = useRole();
  if (role === 'admin') return list === 'rules' ? <RuleList /> : <DeliveryList />;
  return (
    <section className="card">
      {role === '' ? (
        <Loading rows={5} />
      ) : (
        <Empty icon="lock" title={texts.adminsOnly}>
          <p>{texts.adminsOnlyHint}</p>
        </Empty>
      )}
    </section>
  );
}

export function RulesScreen() {
  const words = useWords(ruleWords);
  const { rules: texts } = words;
  const { list = 'rules' } = useSearch({ from: '/shell/rules' });
  useTitle(words.pages.rules.title);
  return (
    <main className="page" id="main">
      <header className="page-head">
        <h1>{words.pages.rules.title}</h1>
      </header>
      <nav className="tabs page-tabs" aria-label={texts.lists.label}>
        {ruleLists.map((one) => (
          <Link
            key={one}
            to="/rules"
            search={{ list: one }}
            {...(one === list ? { 'aria-current': 'page' as const } : {})}
          >
            {texts.lists[one]}
          </Link>
        ))}
      </nav>
      <Content />
    </main>
  );
}
