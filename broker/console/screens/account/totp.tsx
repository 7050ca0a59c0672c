// The authenticator app of the user: set up with a code, shown with what is left of its recovery codes, and taken off. The password is asked for.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { accountWords } from '../../../../build/words/account.ts';
import type { Result } from '../../api/operations.ts';
import { QrCode } from '../../components/codes/qr-code.tsx';
import { ChangeDialog } from '../../components/form-dialog.tsx';
import { Icon } from '../../components/icon.tsx';
import { DialogButton, useDialog } from '../../components/patterns/address.tsx';
import { ActionDialog, Fields, useFields } from '../../components/patterns/form.tsx';
import { Card } from '../../components/patterns/page.tsx';
import { ShownSecret } from '../../components/shown-secret.tsx';
import { Age, Badge, Notice } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { View } from '../../components/view.tsx';
import { call, ServiceError } from '../../service/call.ts';
import { useUser } from '../../service/role.ts';
import { saveFile } from '../../service/save-file.ts';
import type { WordsWith } from '../../words/word-set.ts';
import { passwordField } from './password-field.ts';

type Begun = Result<'beginTotp'>;

/** What the password opens. */
function Begin({ isAnew, onBegun }: { readonly isAnew: boolean; onBegun(begun: Begun): void }) {
  const { totp: texts, passkeys } = useWords(accountWords).account;
  const [draft, put] = useFields({ password: '' });
  return (
    <ActionDialog
      icon="key-round"
      title={texts.add}
      action={texts.next}
      isOff={draft.password === ''}
      beginsInField
      changes={[]}
      run={() => call('beginTotp', { body: { password: draft.password } })}
      onDone={onBegun}
    >
      <p>{isAnew ? texts.againText : texts.text}</p>
      <Fields of={[{ ...passwordField(passkeys.password), hasFocus: true }]} draft={draft} onChange={put} />
    </ActionDialog>
  );
}

function Recovery({ codes }: { readonly codes: readonly string[] }) {
  const { totp: texts } = useWords(accountWords).account;
  const user = useUser();
  const save = (): void =>
    saveFile(
      `recovery-codes-${user?.userID ?? ''}.txt`,
      new Blob([`${codes.join('\n')}\n`], { type: 'text/plain' }),
    );
  return (
    <>
      <Notice tone="busy" icon="key-round" role="status" title={texts.codes}>
        {texts.codesText}
      </Notice>
      <ul className="stack tight" aria-label={texts.codes}>
        {codes.map((code) => (
          <li key={code}>
            <bdi className="mono">{code}</bdi>
          </li>
        ))}
      </ul>
      <Button className="button secondary" onPress={save}>
        <Icon name="download" />
        {texts.save}
      </Button>
    </>
  );
}

/** In the language of the reader; the words of the sign-in name what a wrong code is. */
const refusalOf =
  ({ account: { totp: texts }, login }: WordsWith<[typeof accountWords]>) =>
  (thrown: unknown): never => {
    const say = (detail: string, hint: string | null): never => {
      throw new ServiceError({ code: 'conflict', detail, hint }, 422);
    };
    if (thrown instanceof ServiceError && thrown.code === 'invalid_content')
      return say(login.codeFailed, login.codeFailedHint);
    if (thrown instanceof ServiceError && thrown.code === 'conflict') return say(texts.expired, null);
    throw thrown;
  };

/** The secret, once, and the code that proves that the app has it; then the recovery codes. */
function Confirm({ begun, close }: { readonly begun: Begun; close(): void }) {
  const words = useWords(accountWords);
  const { totp: texts } = words.account;
  const queries = useQueryClient();
  const [draft, put] = useFields({ code: '' });
  const confirming = useMutation({
    mutationFn: () => call('confirmTotp', { body: { code: draft.code } }).catch(refusalOf(words)),
    retry: false,
    // It holds secrets.
    gcTime: 0,
    onSuccess: () => queries.invalidateQueries({ queryKey: ['account'] }),
  });
  const { data } = confirming;
  return (
    <ChangeDialog
      isOpen
      icon="key-round"
      title={texts.add}
      action={data === undefined ? texts.confirm : null}
      isOff={draft.code.trim().length < 6}
      beginsInField
      change={confirming}
      close={close}
    >
      {data === undefined ? (
        <>
          <Notice tone="busy" icon="key-round" role="status" title={texts.scan}>
            {texts.once}
          </Notice>
          <QrCode text={begun.otpauthURL} label={texts.qr} />
          <ShownSecret label={texts.secret} value={begun.secret} />
          <Fields
            of={[
              {
                name: 'code',
                label: texts.code,
                most: 16,
                autoComplete: 'one-time-code',
                isRequired: true,
                hasFocus: true,
              },
            ]}
            draft={draft}
            onChange={put}
          />
        </>
      ) : (
        <Recovery codes={data.codes} />
      )}
    </ChangeDialog>
  );
}

function Remove() {
  const { totp: texts, passkeys } = useWords(accountWords).account;
  const [draft, put] = useFields({ password: '' });
  return (
    <ActionDialog
      title={texts.removeTitle}
      action={texts.removeAction}
      isOff={draft.password === ''}
      changes={['account']}
      run={() => call('deleteTotp', { body: { password: draft.password } })}
    >
      <p>{texts.removeText}</p>
      <Fields of={[passwordField(passkeys.password)]} draft={draft} onChange={put} />
    </ActionDialog>
  );
}

function Present({ app }: { readonly app: NonNullable<Result<'getTotp'>['totp']> }) {
  const { totp: texts, passkeys } = useWords(accountWords).account;
  const { lastUsed, recoveryCodes } = app;
  return (
    <div className="stack">
      <p className="row wrap">
        <Badge icon="circle-check" tone="ok">
          {texts.on}
        </Badge>
      </p>
      <small>
        {lastUsed === null ? passkeys.unused : passkeys.used}{' '}
        {lastUsed === null ? null : <Age at={lastUsed} />}
      </small>
      <small>{texts.left({ count: recoveryCodes })}</small>
      <DialogButton name="totp-delete" className="button small">
        {texts.remove}
      </DialogButton>
    </div>
  );
}

export function Totp() {
  const { totp: texts } = useWords(accountWords).account;
  const { opened } = useDialog();
  const [begun, setBegun] = useState<Begun | null>(null);
  const { data, error } = useQuery({
    queryKey: ['account', 'totp'],
    queryFn: ({ signal }) => call('getTotp', { signal }),
  });
  const app = data?.totp ?? null;
  return (
    <Card
      title={texts.title}
      head={
        <DialogButton name="totp" className="button small secondary push" isOff={data === undefined}>
          {app === null ? texts.add : texts.again}
        </DialogButton>
      }
    >
      <View error={error} isLoaded={data !== undefined} empty={null}>
        {app === null ? (
          <>
            <p>{texts.none}</p>
            <p className="muted">{texts.text}</p>
          </>
        ) : (
          <Present app={app} />
        )}
      </View>
      {opened === 'totp' ? <Begin isAnew={app !== null} onBegun={setBegun} /> : null}
      {opened === 'totp-delete' ? <Remove /> : null}
      {begun === null ? null : <Confirm begun={begun} close={() => setBegun(null)} />}
    </Card>
  );
}
