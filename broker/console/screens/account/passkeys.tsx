// The passkeys of the user: a list, a new one, and a deletion. The password is asked for at each change.
import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { Button } from 'react-aria-components';
import { accountWords } from '../../../../build/words/account.ts';
import type { Result } from '../../api/operations.ts';
import { Icon } from '../../components/icon.tsx';
import { DialogButton, useDialog } from '../../components/patterns/address.tsx';
import { ActionDialog, Fields, useFields } from '../../components/patterns/form.tsx';
import { ListView } from '../../components/patterns/list-detail.tsx';
import { Card } from '../../components/patterns/page.tsx';
import { Age } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { call, ServiceError } from '../../service/call.ts';
import { addPasskey, keptPasskeys, NoPasskey } from '../../service/passkeys.ts';
import { useUser } from '../../service/role.ts';
import { saveFile } from '../../service/save-file.ts';
import { passwordField } from './password-field.ts';

type Passkey = Result<'getPasskeys'>['passkeys'][number];

const queryKey = ['account', 'passkeys'];
const nameMost = 64;

function Row({ one: { passkeyID, name, lastUsed, isBackedUp } }: { readonly one: Passkey }) {
  const { passkeys: texts } = useWords(accountWords).account;
  return (
    <li className="stack tight">
      <div className="row wrap">
        <Icon name="key-round" />
        <bdi className="strong cut-off">{name}</bdi>
        <DialogButton
          name="passkey-delete"
          about={{ passkey: passkeyID }}
          className="button small push"
          label={texts.removeOf({ name })}
        >
          {texts.remove}
        </DialogButton>
      </div>
      <small>
        {lastUsed === null ? texts.unused : texts.used} {lastUsed === null ? null : <Age at={lastUsed} />}
        {isBackedUp ? ` · ${texts.backedUp}` : ''}
      </small>
    </li>
  );
}

function Add() {
  const { passkeys: texts } = useWords(accountWords).account;
  const [draft, put] = useFields({ name: '', password: '' });
  const name = draft.name.trim();
  return (
    <ActionDialog
      icon="key-round"
      title={texts.add}
      action={texts.next}
      isOff={name === '' || draft.password === ''}
      beginsInField
      changes={['account']}
      run={() =>
        addPasskey({ name, password: draft.password }).catch((thrown: unknown) => {
          // Said in the reader's language; nothing was sent to the service.
          if (!(thrown instanceof NoPasskey)) throw thrown;
          throw new ServiceError({ code: 'conflict', detail: texts.failed, hint: null }, 422);
        })
      }
    >
      <p>{texts.text}</p>
      <Fields
        of={[
          { name: 'name', label: texts.name, hint: texts.nameHint, most: nameMost, hasFocus: true },
          passwordField(texts.password),
        ]}
        draft={draft}
        onChange={put}
      />
    </ActionDialog>
  );
}

function Delete({ one }: { readonly one: Passkey | undefined }) {
  const { passkeys: texts } = useWords(accountWords).account;
  const [draft, put] = useFields({ password: '' });
  const { password } = draft;
  const name = one?.name ?? '';
  return (
    <ActionDialog
      title={texts.removeTitle({ name })}
      action={texts.removeOf({ name })}
      isOff={one === undefined || password === ''}
      changes={['account']}
      run={() => call('deletePasskeys', { body: { passkeyID: one?.passkeyID ?? '', password } })}
    >
      <p>{texts.removeText}</p>
      <Fields of={[passwordField(texts.password)]} draft={draft} onChange={put} />
    </ActionDialog>
  );
}

/** The file that `fleetward-broker owner people` takes. Absent where this browser made none of the passkeys. */
function SaveForOwner({ passkeys }: { readonly passkeys: readonly Passkey[] }) {
  const { passkeys: texts } = useWords(accountWords).account;
  const user = useUser();
  const kept = keptPasskeys();
  const own = passkeys.flatMap(({ passkeyID: credential }) => {
    const one = kept[credential];
    return one === undefined ? [] : [{ credential, ...one }];
  });
  const [first] = own;
  if (first === undefined || user === undefined) return null;
  const { userID, userDisplayName } = user;
  const person = {
    id: userID,
    name: userDisplayName || userID,
    passkeys: own.map(({ credential, publicKey }) => ({ credential, publicKey })),
  };
  const file = { rpID: first.rpID, origins: [location.origin], persons: [person] };
  return (
    <div className="card-body stack tight">
      <Button
        className="button secondary"
        onPress={() =>
          saveFile(
            `passkeys-${userID}.json`,
            new Blob([JSON.stringify(file, null, 2)], { type: 'application/json' }),
          )
        }
      >
        <Icon name="download" />
        {texts.save}
      </Button>
      <small>{texts.saveHint}</small>
    </div>
  );
}

export function Passkeys() {
  const { passkeys: texts } = useWords(accountWords).account;
  const { opened } = useDialog();
  const { passkey: named } = useSearch({ from: '/shell/account' });
  const { data, error, dataUpdatedAt } = useQuery({
    queryKey,
    queryFn: ({ signal }) => call('getPasskeys', { signal }),
  });
  return (
    <Card
      title={texts.title}
      head={
        <DialogButton name="passkey" className="button small secondary push">
          {texts.add}
        </DialogButton>
      }
      isBare
    >
      <ListView
        list={{ items: data?.passkeys, readMs: dataUpdatedAt, error }}
        empty={{ icon: 'key-round', title: texts.none, hint: texts.text }}
      >
        <ul className="card-body stack">
          {data?.passkeys.map((one) => (
            <Row key={one.passkeyID} one={one} />
          ))}
        </ul>
      </ListView>
      {data === undefined ? null : <SaveForOwner passkeys={data.passkeys} />}
      {opened === 'passkey' ? <Add /> : null}
      {opened === 'passkey-delete' ? (
        <Delete one={data?.passkeys.find(({ passkeyID }) => passkeyID === named)} />
      ) : null}
    </Card>
  );
}
