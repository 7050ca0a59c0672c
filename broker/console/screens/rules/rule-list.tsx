// The rules of the account, and of the one that is chosen what it does, its change, the test of its webhook, and its end.
import { useNavigate, useSearch } from '@tanstack/react-router';
import { ruleWords } from '../../../../build/words/rule.ts';
import { ItemLink } from '../../components/patterns/address.tsx';
import { Actions, Pairs } from '../../components/patterns/detail.tsx';
import { ActionDialog } from '../../components/patterns/form.tsx';
import { ListDetail } from '../../components/patterns/list-detail.tsx';
import { Card } from '../../components/patterns/page.tsx';
import { Badge, Notice, numberText, Time } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import { vehicles } from '../../service/live.ts';
import type { Rule } from '../../state/rules/rule-draft.ts';
import { RuleForm } from './rule-form.tsx';
import { aboutOf, actsOf, reasonText } from './rule-words.ts';
import { ruleChanges, useRules } from './use-rules.ts';

/** Of the codes of a rule, so many are named in its row. */
const namedMost = 3;

function Facts({ rule }: { readonly rule: Rule }) {
  const words = useWords(ruleWords);
  const { rules: texts } = words;
  const { fields, columns } = texts;
  const fleet = useValue(vehicles);
  const { devices, groups, quietHours, webhook, email, push } = rule;
  const scope = [...devices.map((id) => fleet.get(id)?.name ?? id), ...groups];
  return (
    <Pairs
      rows={[
        [columns.about, aboutOf(rule, words).join(', ')],
        [columns.sends, actsOf(rule, words).join(', ')],
        [fields.devices, scope.length === 0 ? texts.everyDevice : scope.join(', ')],
        [fields.webhook, webhook === null ? null : new URL(webhook.url).host],
        [fields.emails, email === null ? null : email.addresses.join(', ')],
        [fields.push, push === null ? null : (push.userIDs?.join(', ') ?? texts.push.all)],
        [
          fields.quiet,
          quietHours === null ? null : `${quietHours.from}–${quietHours.to} ${quietHours.timeZone}`,
        ],
        [fields.silence, numberText(rule.silenceS)],
        [fields.changed, <Time at={rule.changed} />],
      ]}
    />
  );
}

function TestDialog({ ruleID, host }: { readonly ruleID: string; readonly host: string }) {
  const words = useWords(ruleWords);
  const { rules: texts } = words;
  return (
    <ActionDialog
      icon="signal"
      title={texts.testTitle({ rule: ruleID })}
      action={texts.testAction}
      changes={[]}
      run={() => call('testRule', { body: { ruleID } })}
      shown={({ isDelivered, target, duration, reasonCode, reasonDetail }) =>
        isDelivered ? (
          <Notice
            tone="ok"
            icon="circle-check"
            role="status"
            title={texts.testDone({ host: target, ms: duration })}
          />
        ) : (
          <Notice tone="look" icon="triangle-alert" role="alert" title={texts.testFailed({ host: target })}>
            {reasonText(reasonCode, reasonDetail, words)}
          </Notice>
        )
      }
    >
      <p>{texts.testText({ host })}</p>
    </ActionDialog>
  );
}

function RuleDetail({ rule }: { readonly rule: Rule }) {
  const { rules: texts } = useWords(ruleWords);
  const navigate = useNavigate();
  const { ruleID, webhook } = rule;
  return (
    <Card title={rule.ruleDisplayName} isAside>
      <Facts rule={rule} />
      <Actions
        of={[
          { name: 'rule-edit', text: texts.edit, dialog: <RuleForm rule={rule} /> },
          webhook === null
            ? null
            : {
                name: 'rule-test',
                text: texts.test,
                icon: 'signal',
                dialog: <TestDialog ruleID={ruleID} host={new URL(webhook.url).host} />,
              },
          {
            name: 'rule-delete',
            text: texts.delete,
            className: 'button',
            dialog: (
              <ActionDialog
                title={texts.deleteTitle({ rule: ruleID })}
                action={texts.deleteAction({ rule: ruleID })}
                changes={ruleChanges}
                run={() => call('deleteRule', { body: { ruleID } })}
                onDone={() => void navigate({ to: '/rules', search: { list: 'rules' }, replace: true })}
              >
                <p>{texts.deleteText({ rule: ruleID })}</p>
              </ActionDialog>
            ),
          },
        ]}
      />
    </Card>
  );
}

export function RuleList() {
  const words = useWords(ruleWords);
  const { rules: texts } = words;
  const { columns } = texts;
  const { rule: selected = null } = useSearch({ from: '/shell/rules' });
  const about = (rule: Rule): string => {
    const all = aboutOf(rule, words);
    return all.slice(0, namedMost).join(', ') + (all.length > namedMost ? '…' : '');
  };
  return (
    <ListDetail
      title={texts.lists.rules}
      list={useRules()}
      empty={{ icon: 'bell-ring', title: texts.empty, hint: texts.emptyHint }}
      create={{ name: 'rule-create', text: texts.create, form: <RuleForm rule={null} /> }}
      caption={texts.caption}
      columns={[
        {
          name: columns.rule,
          cell: ({ ruleID, ruleDisplayName: name }) => (
            <ItemLink
              search={{ list: 'rules', rule: ruleID }}
              isChosen={ruleID === selected}
              note={name === ruleID ? '' : ruleID}
            >
              {name}
            </ItemLink>
          ),
        },
        {
          name: columns.state,
          isBare: true,
          cell: ({ isActive }) => (
            <Badge icon={isActive ? 'circle-check' : 'pause'} {...(isActive ? { tone: 'ok' as const } : {})}>
              {isActive ? texts.on : texts.off}
            </Badge>
          ),
        },
        { name: columns.about, cell: about },
        { name: columns.sends, cell: (rule) => actsOf(rule, words).join(', ') },
      ]}
      keyOf={({ ruleID }) => ruleID}
      selected={selected}
      none={{ label: columns.rule, pick: texts.pick, gone: texts.gone }}
      detail={(rule) => <RuleDetail key={rule.ruleID} rule={rule} />}
    />
  );
}
