// One rule: what it does, its change, the test of its webhook, and its end.
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Button } from 'react-aria-components';
import { ruleWords } from '../../../../build/words/rule.ts';
import { ChangeDialog } from '../../components/form-dialog.tsx';
import { Icon } from '../../components/icon.tsx';
import { TextPairs } from '../../components/rows/text-pairs.tsx';
import { Notice, numberText, Time } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import { vehicles } from '../../service/live.ts';
import type { Rule } from '../../state/rules/rule-draft.ts';
import { RuleForm } from './rule-form.tsx';
import { aboutOf, actsOf, reasonText } from './rule-words.ts';
import { useRuleDialog, useRulesChanged } from './use-rules.ts';

function Facts({ rule }: { readonly rule: Rule }) {
  const words = useWords(ruleWords);
  const { rules: texts } = words;
  const { fields, columns } = texts;
  const fleet = useValue(vehicles);
  const { devices, groups, quietHours, webhook, email, push } = rule;
  const scope = [...devices.map((id) => fleet.get(id)?.name ?? id), ...groups];
  const rows = [
    [columns.about, aboutOf(rule, words).join(', ')],
    [columns.sends, actsOf(rule, words).join(', ')],
    [fields.devices, scope.length === 0 ? texts.everyDevice : scope.join(', ')],
    [fields.webhook, webhook === null ? null : new URL(webhook.url).host],
    [fields.emails, email === null ? null : email.addresses.join(', ')],
    [fields.push, push === null ? null : (push.userIDs?.join(', ') ?? texts.push.all)],
    [fields.quiet, quietHours === null ? null : `${quietHours.from}–${quietHours.to} ${quietHours.timeZone}`],
    [fields.silence, numberText(rule.silenceS)],
  ] as const;
  return (
    <TextPairs rows={rows}>
      <div className="pair">
        <dt>{fields.changed}</dt>
        <dd>
          <Time at={rule.changed} />
        </dd>
      </div>
    </TextPairs>
  );
}

function TestDialog({ ruleID, host }: { readonly ruleID: string; readonly host: string }) {
  const words = useWords(ruleWords);
  const { rules: texts } = words;
  const dialog = useRuleDialog();
  // Each call sends a further message: it is never repeated by itself.
  const testing = useMutation({
    mutationFn: () => call('testRule', { body: { ruleID } }),
    retry: false,
    gcTime: 0,
  });
  const { data } = testing;
  return (
    <ChangeDialog
      isOpen={dialog.isOpen('rule-test')}
      icon="signal"
      title={texts.testTitle({ rule: ruleID })}
      action={data === undefined ? texts.testAction : null}
      change={testing}
      close={dialog.close}
    >
      {data === undefined ? (
        <p>{texts.testText({ host })}</p>
      ) : data.isDelivered ? (
        <Notice
          tone="ok"
          icon="circle-check"
          role="status"
          title={texts.testDone({ host: data.target, ms: data.duration })}
        />
      ) : (
        <Notice
          tone="look"
          icon="triangle-alert"
          role="alert"
          title={texts.testFailed({ host: data.target })}
        >
          {reasonText(data.reasonCode, data.reasonDetail, words)}
        </Notice>
      )}
    </ChangeDialog>
  );
}

function DeleteDialog({ ruleID }: { readonly ruleID: string }) {
  const { rules: texts } = useWords(ruleWords);
  const dialog = useRuleDialog();
  const changed = useRulesChanged();
  const navigate = useNavigate();
  const deleting = useMutation({
    mutationFn: () => call('deleteRule', { body: { ruleID } }),
    async onSuccess() {
      await changed();
      void navigate({ to: '/rules', search: { list: 'rules' }, replace: true });
    },
  });
  return (
    <ChangeDialog
      isOpen={dialog.isOpen('rule-delete')}
      icon="circle-alert"
      title={texts.deleteTitle({ rule: ruleID })}
      action={texts.deleteAction({ rule: ruleID })}
      change={deleting}
      close={dialog.close}
    >
      <p>{texts.deleteText({ rule: ruleID })}</p>
    </ChangeDialog>
  );
}

export function RuleDetail({ rule }: { readonly rule: Rule }) {
  const { rules: texts } = useWords(ruleWords);
  const { ruleID, webhook } = rule;
  const dialog = useRuleDialog();
  return (
    <aside className="card" aria-labelledby="rule-title">
      <header>
        <h2 id="rule-title">{rule.ruleDisplayName}</h2>
      </header>
      <div className="card-body stack">
        <Facts rule={rule} />
        <div className="row wrap">
          <Button
            className="button secondary"
            aria-haspopup="dialog"
            onPress={() => dialog.open('rule-edit')}
          >
            {texts.edit}…
          </Button>
          {webhook === null ? null : (
            <Button
              className="button secondary"
              aria-haspopup="dialog"
              onPress={() => dialog.open('rule-test')}
            >
              <Icon name="signal" />
              {texts.test}…
            </Button>
          )}
          <Button className="button" aria-haspopup="dialog" onPress={() => dialog.open('rule-delete')}>
            {texts.delete}…
          </Button>
        </div>
        <RuleForm key={rule.changed} name="rule-edit" rule={rule} />
        {webhook === null ? null : <TestDialog ruleID={ruleID} host={new URL(webhook.url).host} />}
        <DeleteDialog ruleID={ruleID} />
      </div>
    </aside>
  );
}
