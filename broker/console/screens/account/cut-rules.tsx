// Rules for cuts of the account: second person, password again, and the breaker. Each is changed by a dialog that names the account; what
// makes a cut easier has conditions that the service judges.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Button } from 'react-aria-components';
import { accountWords } from '../../../../build/words/account.ts';
import { cutWords } from '../../../../build/words/cut.ts';
import { formWords } from '../../../../build/words/form.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { ChangeDialog, FormDialog } from '../../components/form-dialog.tsx';
import { FormField } from '../../components/form-field.tsx';
import type { IconName } from '../../components/icon.tsx';
import { Badge, timeText } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { useFailure, View } from '../../components/view.tsx';
import { call } from '../../service/call.ts';
import { useLimits } from '../../service/orders.ts';
import { useUser } from '../../service/role.ts';
import type { AccountDialog } from '../../state/account/account-address.ts';
import type { Account } from '../../state/account/account-view.ts';
import { breakerText } from '../cut/order-times.ts';
import { ProofField, usePersonProof } from '../cut/proof-field.tsx';
import { useAccountDialog, useChangeAccount } from './use-account.ts';

/** As the service takes it. */
const reasonMost = 200;

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

function Opener({ name, children }: { readonly name: AccountDialog; readonly children: string }) {
  const dialog = useAccountDialog();
  return (
    <Button className="button secondary" aria-haspopup="dialog" onPress={() => dialog.open(name)}>
      {children}…
    </Button>
  );
}

interface RuleDialogProps {
  readonly name: AccountDialog;
  readonly icon: IconName;
  readonly title: string;
  readonly text: string;
  readonly action: string;
  readonly isOff?: boolean;
  readonly change: ReturnType<typeof useChangeAccount>;
  readonly children?: ReactNode;
  submit(): void;
}

function RuleDialog({ name, text, isOff = false, change, children, ...props }: RuleDialogProps) {
  const dialog = useAccountDialog();
  return (
    <FormDialog
      {...props}
      isOpen={dialog.isOpen(name)}
      isOff={isOff || change.isBusy}
      error={change.failure}
      close={() => {
        change.reset();
        dialog.close();
      }}
    >
      <p>{text}</p>
      {children}
    </FormDialog>
  );
}

function SecondPerson({ account }: { readonly account: Account }) {
  const { account: words, forms } = useWords(accountWords, formWords);
  const { approval: texts } = words;
  const user = useUser();
  const dialog = useAccountDialog();
  const change = useChangeAccount(dialog.close);
  const keep = useChangeAccount(() => undefined);
  const failure = useFailure(keep.failure, forms.failed);
  const { accountID, needsApproval, approvalOffRequestedBy: by, approvalOffRequestedOn: since } = account;
  const isOther = by !== '' && by !== user?.userID;
  const opener = !needsApproval
    ? texts.require
    : by === ''
      ? texts.drop
      : isOther
        ? texts.agree
        : texts.again;
  const dropAction = isOther
    ? texts.agreeAction({ account: accountID })
    : texts.dropAction({ account: accountID });
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
      <Opener name="approval">{opener}</Opener>
      <RuleDialog
        name="approval"
        icon="user-check"
        title={needsApproval ? texts.dropTitle : texts.requireTitle}
        text={needsApproval ? texts.dropText : texts.requireText}
        action={needsApproval ? dropAction : texts.requireAction({ account: accountID })}
        change={change}
        submit={() => change.run({ accountID, needsApproval: !needsApproval })}
      />
    </Rule>
  );
}

function PasswordAgain({ account }: { readonly account: Account }) {
  const { account: words } = useWords(accountWords);
  const { password: texts } = words;
  const user = useUser();
  const dialog = useAccountDialog();
  const { accountID, needsPassword } = account;
  const proof = usePersonProof(needsPassword, user?.hasPassword ?? null);
  const change = useChangeAccount(() => {
    proof.answered(true);
    dialog.close();
  });
  const { secret } = proof;
  const proven = secret === null || secret === '' ? {} : { password: secret };
  return (
    <Rule name={texts.name} isOn={needsPassword} text={needsPassword ? texts.on : texts.off}>
      <Opener name="password">{needsPassword ? texts.drop : texts.require}</Opener>
      <RuleDialog
        name="password"
        icon="lock"
        title={needsPassword ? texts.dropTitle : texts.requireTitle}
        text={needsPassword ? texts.dropText : texts.requireText}
        action={
          needsPassword
            ? texts.dropAction({ account: accountID })
            : texts.requireAction({ account: accountID })
        }
        isOff={secret === null}
        change={change}
        submit={() => change.run({ accountID, needsPassword: !needsPassword, ...proven })}
      >
        <ProofField proof={proof} relay="enginecutoff" />
      </RuleDialog>
    </Rule>
  );
}

function ResetDialog({ accountID }: { readonly accountID: string }) {
  const { account: words } = useWords(accountWords);
  const { breaker: texts } = words;
  const queries = useQueryClient();
  const dialog = useAccountDialog();
  const [reason, setReason] = useState('');
  const resetting = useMutation({
    mutationFn: () => call('resetBreaker', { body: { reason: reason.trim() } }),
    onSuccess: () => {
      setReason('');
      dialog.close();
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['orders'] }),
  });
  return (
    <ChangeDialog
      isOpen={dialog.isOpen('breaker')}
      icon="triangle-alert"
      title={texts.title({ account: accountID })}
      action={texts.action({ account: accountID })}
      isOff={reason.trim() === ''}
      change={resetting}
      close={dialog.close}
    >
      <p>{texts.text}</p>
      <FormField
        label={texts.reason}
        hint={texts.reasonHint}
        value={reason}
        most={reasonMost}
        isRequired
        onChange={setReason}
      />
    </ChangeDialog>
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
                  <Opener name="breaker">{words.breaker.reset}</Opener>
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
            {isOpen ? <ResetDialog accountID={accountID} /> : null}
          </>
        )}
      </View>
    </li>
  );
}

export function CutRules({ account }: { readonly account: Account }) {
  const { account: texts, approvals } = useWords(accountWords, cutWords);
  return (
    <section className="card" aria-labelledby="cut-rules-title">
      <header>
        <h2 id="cut-rules-title">{texts.cuts}</h2>
      </header>
      <div className="card-body stack">
        <ul className="stack">
          <SecondPerson account={account} />
          <PasswordAgain account={account} />
          <Breaker accountID={account.accountID} />
        </ul>
        <p className="muted">{approvals.restoreFree}</p>
      </div>
    </section>
  );
}
