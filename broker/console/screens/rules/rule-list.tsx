// The rules of the account, and the one that is chosen.
import { Link, useSearch } from '@tanstack/react-router';
import { Button } from 'react-aria-components';
import { ruleWords } from '../../../../build/words/rule.ts';
import { Icon } from '../../components/icon.tsx';
import { ListTable } from '../../components/rows/list-table.tsx';
import { Badge, Empty } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { View } from '../../components/view.tsx';
import type { Rule } from '../../state/rules/rule-draft.ts';
import { RuleDetail } from './rule-detail.tsx';
import { RuleForm } from './rule-form.tsx';
import { aboutOf, actsOf } from './rule-words.ts';
import { useRuleDialog, useRules } from './use-rules.ts';

/** Of the codes of a rule, so many are named in its row. */
const namedMost = 3;

function Row({ rule, isSelected }: { readonly rule: Rule; readonly isSelected: boolean }) {
  const words = useWords(ruleWords);
  const { rules: texts } = words;
  const { ruleID, ruleDisplayName, isActive } = rule;
  const about = aboutOf(rule, words);
  return (
    <tr data-selected={isSelected}>
      <th scope="row">
        <Link
          to="/rules"
          search={{ list: 'rules', rule: ruleID }}
          resetScroll={false}
          {...(isSelected ? { 'aria-current': true as const } : {})}
        >
          {ruleDisplayName}
        </Link>
        <span className="note">{ruleDisplayName === ruleID ? '' : ruleID}</span>
      </th>
      <td>
        <Badge icon={isActive ? 'circle-check' : 'pause'} {...(isActive ? { tone: 'ok' as const } : {})}>
          {isActive ? texts.on : texts.off}
        </Badge>
      </td>
      <td data-label={texts.columns.about}>
        {about.slice(0, namedMost).join(', ')}
        {about.length > namedMost ? '…' : ''}
      </td>
      <td data-label={texts.columns.sends}>{actsOf(rule, words).join(', ')}</td>
    </tr>
  );
}

function Table({ rules, selected }: { readonly rules: readonly Rule[]; readonly selected: string | null }) {
  const { rules: texts } = useWords(ruleWords);
  const { rule, state, about, sends } = texts.columns;
  return (
    <ListTable caption={texts.caption} columns={[rule, state, about, sends]}>
      {rules.map((one) => (
        <Row key={one.ruleID} rule={one} isSelected={one.ruleID === selected} />
      ))}
    </ListTable>
  );
}

export function RuleList() {
  const { rules: texts } = useWords(ruleWords);
  const { rule: ruleID = null } = useSearch({ from: '/shell/rules' });
  const { rules, readMs, error } = useRules();
  const dialog = useRuleDialog();
  const selected = rules?.find((one) => one.ruleID === ruleID);
  return (
    <div className="split">
      <section className="card" aria-labelledby="rules-title">
        <header className="wrap">
          <h2 id="rules-title">{texts.lists.rules}</h2>
          <Button
            className="button primary push"
            aria-haspopup="dialog"
            onPress={() => dialog.open('rule-create')}
          >
            <Icon name="plus" />
            {texts.create}…
          </Button>
        </header>
        <View
          error={error}
          readMs={readMs}
          empty={
            rules?.length === 0 ? (
              <Empty icon="bell-ring" title={texts.empty}>
                <p>{texts.emptyHint}</p>
              </Empty>
            ) : null
          }
        >
          <Table rules={rules ?? []} selected={ruleID} />
        </View>
      </section>
      {selected === undefined ? (
        <aside className="card not-narrow" aria-label={texts.columns.rule}>
          <Empty icon="bell-ring" title={ruleID === null || rules === undefined ? texts.pick : texts.gone} />
        </aside>
      ) : (
        <RuleDetail key={selected.ruleID} rule={selected} />
      )}
      <RuleForm name="rule-create" rule={null} />
    </div>
  );
}
