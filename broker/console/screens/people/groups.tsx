// Groups of devices: a user with a group may read its devices. Administrators change them.
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { formWords } from '../../../../build/words/form.ts';
import { peopleWords } from '../../../../build/words/people.ts';
import { FormField } from '../../components/form-field.tsx';
import { Icon } from '../../components/icon.tsx';
import { Empty, numberText } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { View } from '../../components/view.tsx';
import { call } from '../../service/call.ts';
import { useRole } from '../../service/role.ts';
import { isID } from '../../state/device-view.ts';
import type { Group, User } from '../../state/people-view.ts';
import { Ask } from './ask.tsx';
import { DialogButton } from './dialog-button.tsx';
import { GroupDetail } from './group-detail.tsx';
import { useGroups, useUsers } from './use-people.ts';

function NewGroup() {
  const { people, forms } = useWords(formWords, peopleWords);
  const { groups: texts } = people;
  const navigate = useNavigate();
  const [groupID, setID] = useState('');
  const [name, setName] = useState('');
  const { groups } = useGroups();
  // The operation would change a group that is there.
  const isTaken = groups?.some((one) => one.groupID === groupID) === true;
  return (
    <Ask
      name="group-create"
      icon="layers"
      title={texts.createTitle}
      action={texts.create}
      isOff={!isID(groupID) || isTaken || groups === undefined}
      beginsInField
      run={() =>
        call('updateGroup', { body: { groupID, ...(name === '' ? {} : { groupDisplayName: name }) } })
      }
      onDone={() => {
        setID('');
        setName('');
        void navigate({ to: '/people', search: { list: 'groups', group: groupID } });
      }}
    >
      <FormField
        label={texts.id}
        value={groupID}
        hint={forms.idHint}
        fault={groupID === '' || (isID(groupID) && !isTaken) ? null : forms.idWrong}
        most={64}
        isRequired
        hasFocus
        onChange={setID}
      />
      <FormField label={texts.name} value={name} most={128} onChange={setName} />
    </Ask>
  );
}

interface TableProps {
  readonly groups: readonly Group[];
  /** Undefined: the reader may not see them. */
  readonly users: readonly User[] | undefined;
  readonly selected: string | null;
}

function Table({ groups, users, selected }: TableProps) {
  const { people } = useWords(peopleWords);
  const { groups: texts } = people;
  return (
    <div className="scroll">
      <table className="table folds people">
        <caption className="hidden">{texts.caption}</caption>
        <thead>
          <tr>
            <th scope="col">{texts.columns.group}</th>
            <th scope="col" className="num">
              {texts.columns.devices}
            </th>
            {users === undefined ? null : (
              <th scope="col" className="num">
                {texts.columns.members}
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {groups.map(({ groupID, groupDisplayName, devices }) => (
            <tr key={groupID} data-selected={groupID === selected}>
              <th scope="row">
                <Link
                  to="/people"
                  search={{ list: 'groups', group: groupID }}
                  resetScroll={false}
                  {...(groupID === selected ? { 'aria-current': true as const } : {})}
                >
                  {groupDisplayName}
                </Link>
                <span className="note">{groupDisplayName === groupID ? '' : groupID}</span>
              </th>
              <td className="num">{numberText(devices.length)}</td>
              {users === undefined ? null : (
                <td className="num" data-label={texts.columns.members}>
                  {numberText(users.filter((user) => user.groups.includes(groupID)).length)}
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function Groups() {
  const { people } = useWords(peopleWords);
  const { groups: texts } = people;
  const { group: groupID = null } = useSearch({ from: '/shell/people' });
  const role = useRole();
  const { groups, readMs, error } = useGroups();
  const { users } = useUsers();
  const selected = groups?.find((group) => group.groupID === groupID);
  const pick = groupID === null || groups === undefined ? texts.pick : people.gone;
  return (
    <div className="split">
      <section className="card" aria-labelledby="groups-title">
        <header className="wrap">
          <h2 id="groups-title">{people.lists.groups}</h2>
          <span className="push">
            {role === 'admin' ? (
              <DialogButton name="group-create" className="button primary">
                <Icon name="plus" />
                {texts.create}…
              </DialogButton>
            ) : (
              <span className="muted">{texts.viewer}</span>
            )}
          </span>
        </header>
        <View
          error={error}
          readMs={readMs}
          empty={
            groups?.length === 0 ? (
              <Empty icon="layers" title={texts.empty}>
                <p>{texts.emptyHint}</p>
              </Empty>
            ) : null
          }
        >
          <Table groups={groups ?? []} users={users} selected={groupID} />
        </View>
      </section>
      {selected === undefined ? (
        <aside className="card not-narrow" aria-label={texts.devices}>
          <Empty icon="layers" title={pick} />
        </aside>
      ) : (
        <GroupDetail key={selected.groupID} group={selected} users={users} mayChange={role === 'admin'} />
      )}
      {role === 'admin' ? <NewGroup /> : null}
    </div>
  );
}
