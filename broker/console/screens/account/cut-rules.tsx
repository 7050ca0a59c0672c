// Rules for cuts of the account: second person, password again, and the breaker. Each is changed by a dialog that names the account; what
// makes a cut easier has conditions that the service judges.
import type { ReactNode } from 'react';
import { accountWords } from '../../../../build/words/account.ts';
import { cutWords } from '../../../../build/words/cut.ts';
import { formWords } from '../../../../build/words/form.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Actions } from '../../components/patterns/detail.tsx';
import { ActionDialog, Fields, useFields } from '../../components/patterns/form.tsx';
import { Card } from '../../components/patterns/page.tsx';
import { Badge, timeText } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { useFailure, View } from '../../components/view.tsx';
import { call } from '../../service/call.ts';
import { useLimits } from '../../service/orders.ts';
import { useUser } from '../../service/role.ts';
import type { Account } from '../../state/account/account-view.ts';
import { breakerText } from '../cut/order-times.ts';
import { ProofField, usePersonProof } from '../cut/proof-field.tsx';
import { useChangeAccount } from './use-account.ts';

/** As the service takes it. */
const reasonMost = 200;

/** What a change of a rule makes old. */
const ruleChanges = ['account', 'orders'];

interface RuleProps {
  readonly name: string;
  readonly isOn: boolean;
  readonly text: string;
  readonly children: ReactNode;
}

function Rule({ name, isOn, text, children }: RuleProps) {
  const { common } = useWords();
  return (
    <li className="stack tight">
      <div className="row wrap">
        <h3>{name}</h3>
        <Badge icon={isOn ? 'shield-check' : 'circle-dashed'} {...(isOn ? { tone: 'ok' as const } : {})}>
          {isOn ? common.on : common.off}
        </Badge>
        <span className="row wrap push">{children}</span>
      </div>
      <p className="muted">{text}</p>
    </li>
  );
}

function SecondPerson({ account }: { readonly account: Account }) {
  const { account: words, forms } = useWords(accountWords, formWords);
  const { approval: texts } = words;
  const user = useUser();
  const keep = useChangeAccount(() => undefined);
  const failure = useFailure(keep.failure, forms.failed);
  const { accountID, needsApproval, approvalOffRequestedBy: by, approvalOffRequestedOn: since } = account;
  const isOther = by !== '' && by !== user?.userID;
  const of = { account: accountID };
  const dropAction = isOther ? texts.agreeAction(of) : texts.dropAction(of);
  const dropOpener = by === '' ? texts.drop : isOther ? texts.agree : texts.again;
  return (
    <Rule name={texts.name} isOn={needsApproval} text={needsApproval ? texts.on : texts.off}>
      {by === '' ? null : (
        <>
          <Badge icon="triangle-alert" tone="look">
            {texts.asked({ user: by, time: timeText(since) })}
          </Badge>
          <ActionButton
            className="button secondary"
            isOff={keep.isBusy || keep.isDown}
            onPress={() => keep.run({ accountID, needsApproval: true })}
          >
            {texts.keep}
          </ActionButton>
          {failure}
        </>
      )}
      <Actions
        of={[
          {
            name: 'approval',
            text: needsApproval ? dropOpener : texts.require,
            dialog: (
              <ActionDialog
                icon="user-check"
                title={needsApproval ? texts.dropTitle : texts.requireTitle}
                action={needsApproval ? dropAction : texts.requireAction(of)}
                changes={ruleChanges}
                run={() => call('updateAccount', { body: { accountID, needsApproval: !needsApproval } })}
              >
                <p>{needsApproval ? texts.dropText : texts.requireText}</p>
              </ActionDialog>
            ),
          },
        ]}
      />
    </Rule>
  );
}

function PasswordDialog({ account: { accountID, needsPassword } }: { readonly account: Account }) {
  const { password: texts } = useWords(accountWords).account;
  const user = useUser();
  const proof = usePersonProof(needsPassword, user?.hasPassword ?? null);
  const { secret } = proof;
  const proven = secret === null || secret === '' ? {} : { password: secret };
  const of = { account: accountID };
  return (
    <ActionDialog
      icon="lock"
      title={needsPassword ? texts.dropTitle : texts.requireTitle}
      action={needsPassword ? texts.dropAction(of) : texts.requireAction(of)}
      isOff={secret === null}
      changes={ruleChanges}
      run={() => call('updateAccount', { body: { accountID, needsPassword: !needsPassword, ...proven } })}
      onDone={() => proof.answered(true)}
    >
      <p>{needsPassword ? texts.dropText : texts.requireText}</p>
      <ProofField proof={proof} relay="enginecutoff" />
    </ActionDialog>
  );
}

function PasswordAgain({ account }: { readonly account: Account }) {
  const { password: texts } = useWords(accountWords).account;
  const { needsPassword } = account;
  return (
    <Rule name={texts.name} isOn={needsPassword} text={needsPassword ? texts.on : texts.off}>
      <Actions
        of={[
          {
            name: 'password',
            text: needsPassword ? texts.drop : texts.require,
            dialog: <PasswordDialog account={account} />,
          },
        ]}
      />
    </Rule>
  );
}

function ResetDialog({ accountID }: { readonly accountID: string }) {
  const { breaker: texts } = useWords(accountWords).account;
  const [draft, put] = useFields({ reason: '' });
  const reason = draft.reason.trim();
  return (
    <ActionDialog
      icon="triangle-alert"
      title={texts.title({ account: accountID })}
      action={texts.action({ account: accountID })}
      isOff={reason === ''}
      changes={['orders']}
      run={() => call('resetBreaker', { body: { reason } })}
    >
      <p>{texts.text}</p>
      <Fields
        of={[
          { name: 'reason', label: texts.reason, hint: texts.reasonHint, most: reasonMost, isRequired: true },
        ]}
        draft={draft}
        onChange={put}
      />
    </ActionDialog>
  );
}

function Breaker({ accountID }: { readonly accountID: string }) {
  const { account: words, approvals, cutLimits } = useWords(accountWords, cutWords);
  const { data: limits, error } = useLimits(true);
  const stopped = limits?.stoppedUsers ?? [];
  const isOpen = limits?.isBreakerOpen === true || stopped.length > 0;
  return (
    <li className="stack tight">
      <View error={error} isLoaded={limits !== undefined} empty={null}>
        {limits === undefined ? null : (
          <>
            <div className="row wrap">
              <h3>{approvals.breaker}</h3>
              <Badge icon={isOpen ? 'triangle-alert' : 'circle-check'} tone={isOpen ? 'look' : 'ok'}>
                {isOpen ? approvals.open : approvals.closed}
              </Badge>
              {isOpen ? (
                <span className="push">
                  <Actions
                    of={[
                      {
                        name: 'breaker',
                        text: words.breaker.reset,
                        dialog: <ResetDialog accountID={accountID} />,
                      },
                    ]}
                  />
                </span>
              ) : null}
            </div>
            <p className="muted">
              {limits.isBreakerOpen
                ? breakerText(limits, cutLimits)
                : isOpen
                  ? cutLimits.breakerStopped({ users: stopped.join(', ') })
                  : approvals.cuts({ used: limits.accountCuts, most: limits.accountCutsPerHour })}
            </p>
          </>
        )}
      </View>
    </li>
  );
}

export function CutRules({ account }: { readonly account: Account }) {
  const { account: texts, approvals } = useWords(accountWords, cutWords);
  return (
    <Card title={texts.cuts}>
      <ul className="stack">
        <SecondPerson account={account} />
        <PasswordAgain account={account} />
        <Breaker accountID={account.accountID} />
      </ul>
      <p className="muted">{approvals.restoreFree}</p>
    </Card>
  );
}
