// Notification rules and what became of their messages, for administrators. All that is shown stands in the address.
import { useSearch } from '@tanstack/react-router';
import { ruleWords } from '../../../../build/words/rule.ts';
import { Tabs } from '../../components/patterns/address.tsx';
import { Gate, isOneOf, Page } from '../../components/patterns/page.tsx';
import { useWords } from '../../components/use.ts';
import { useRole } from '../../service/role.ts';
import { ruleLists } from '../../state/rules/rule-address.ts';
import { DeliveryList } from './delivery-list.tsx';
import { RuleList } from './rule-list.tsx';

export function RulesScreen() {
  const { rules: texts, pages } = useWords(ruleWords);
  const { list = 'rules' } = useSearch({ from: '/shell/rules' });
  return (
    <Page title={pages.rules.title}>
      <Tabs
        label={texts.lists.label}
        values={ruleLists}
        chosen={list}
        content={(one) => texts.lists[one]}
        search={(one) => ({ list: one })}
      />
      <Gate isOpen={isOneOf(useRole(), 'admin')} title={texts.adminsOnly} hint={texts.adminsOnlyHint}>
        {list === 'rules' ? <RuleList /> : <DeliveryList />}
      </Gate>
    </Page>
  );
}
