// The owner's list as the service keeps it: what it can and cannot do with it, and the upload of a newer one.
import { useState } from 'react';
import { accountWords } from '../../../../build/words/account.ts';
import { FileField } from '../../components/fields/file-field.tsx';
import { Icon } from '../../components/icon.tsx';
import { DialogButton, useDialog } from '../../components/patterns/address.tsx';
import { Pairs } from '../../components/patterns/detail.tsx';
import { ActionDialog } from '../../components/patterns/form.tsx';
import { Card } from '../../components/patterns/page.tsx';
import { Empty, Time } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { View } from '../../components/view.tsx';
import { call } from '../../service/call.ts';
import { type OwnerRecord, useOwners } from '../../service/reading/owner.ts';

function Upload() {
  const { owner: texts } = useWords(accountWords).account;
  const [file, setFile] = useState<{ readonly name: string; readonly text: string } | null>(null);
  const choose = async (chosen: File | undefined): Promise<void> =>
    setFile(chosen === undefined ? null : { name: chosen.name, text: await chosen.text() });
  return (
    <ActionDialog
      icon="upload"
      title={texts.open}
      action={texts.action}
      isOff={file === null}
      changes={['account', 'orders']}
      run={() => call('setOwner', { body: { document: file?.text ?? '' } })}
    >
      <p>{texts.about}</p>
      <FileField text={texts.choose} types={['application/json', '.json']} chosen={file} choose={choose} />
    </ActionDialog>
  );
}

function Known({ owner }: { readonly owner: OwnerRecord }) {
  const { owner: texts } = useWords(accountWords).account;
  const { key, list, validUntil, needed, persons, units, outdated, uploaded, uploadedBy } = owner;
  const roles: Readonly<Record<string, string>> = texts.roles;
  return (
    <div className="stack">
      <Pairs
        rows={[
          [texts.key, <bdi className="mono">{key}</bdi>],
          [texts.list, list === 0 ? texts.noList : String(list)],
          [texts.validUntil, list === 0 ? null : <Time at={validUntil} />],
          [
            texts.needed,
            needed === null
              ? null
              : texts.neededText({ cut: needed.enginecutoff, unlock: needed.cargoaccess }),
          ],
          [texts.units, texts.unitsText({ units, outdated })],
          [
            texts.uploaded,
            <>
              <Time at={uploaded} /> {texts.uploadedBy({ user: uploadedBy })}
            </>,
          ],
        ]}
      />
      {persons.length === 0 ? null : (
        <>
          <h3>{texts.persons}</h3>
          <ul className="stack tight">
            {persons.map(({ personID, name, role, vehicles, passkeys }) => (
              <li key={personID} className="stack tight">
                <span className="row wrap">
                  <Icon name="user" />
                  <bdi className="strong">{name}</bdi>
                  <bdi className="mono muted">{personID}</bdi>
                </span>
                <small>
                  {roles[role] ?? role} · <bdi className="mono">{vehicles.join(', ')}</bdi> ·{' '}
                  {texts.passkeys({ count: passkeys })}
                </small>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

/** For administrators. */
export function Owner() {
  const { owner: texts } = useWords(accountWords).account;
  const { opened } = useDialog();
  const { data, error } = useOwners();
  return (
    <Card
      title={texts.title}
      head={
        <DialogButton name="owner" icon="upload" className="button small secondary push">
          {texts.open}
        </DialogButton>
      }
    >
      <p className="muted">{texts.text}</p>
      <View error={error} isLoaded={data !== undefined} empty={null}>
        {data?.owners.length === 0 ? <Empty icon="key-round" title={texts.none} /> : null}
        {data?.owners.map((one) => (
          <Known key={one.key} owner={one} />
        ))}
      </View>
      {opened === 'owner' ? <Upload /> : null}
    </Card>
  );
}
