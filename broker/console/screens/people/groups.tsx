// Groups of devices: a user with a group may read its devices. The list, and of one its devices and users. Administrators change them.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { Button, ComboBox, Input, Label, ListBox, ListBoxItem, Popover } from 'react-aria-components';
import { formWords } from '../../../../build/words/form.ts';
import { peopleWords } from '../../../../build/words/people.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Icon } from '../../components/icon.tsx';
import { ItemLink } from '../../components/patterns/address.tsx';
import { Actions } from '../../components/patterns/detail.tsx';
import { ActionDialog, Fields, useFields, useNewID } from '../../components/patterns/form.tsx';
import { byText, ListDetail } from '../../components/patterns/list-detail.tsx';
import { Card } from '../../components/patterns/page.tsx';
import { numberText } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { useFailure } from '../../components/view.tsx';
import { call } from '../../service/call.ts';
import { connection, vehicles } from '../../service/live.ts';
import { useRole } from '../../service/role.ts';
import type { Group, User } from '../../state/people-view.ts';
import { changeGroup, type GroupChange, peopleChanges, useGroups, useUsers } from './use-people.ts';

/** Devices that are listed, and offered, at once: the search narrows them. */
const shownMost = 50;

function useChange(groupID: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (change: Omit<GroupChange, 'groupID'>) => changeGroup({ groupID, ...change }),
    onSettled: () =>
      Promise.all(peopleChanges.map((name) => queries.invalidateQueries({ queryKey: [name] }))),
  });
}

interface JoiningProps {
  readonly group: Group;
  readonly isOff: boolean;
  onJoin(deviceID: string): void;
}

function Joining({ group, isOff, onJoin }: JoiningProps) {
  const { groups: texts } = useWords(peopleWords).people;
  const fleet = useValue(vehicles);
  const [chosen, setChosen] = useState<string | null>(null);
  const [text, setText] = useState('');
  const offered = useMemo(() => {
    const inside = new Set(group.devices);
    const wanted = text.trim().toLowerCase();
    return [...fleet.values()]
      .filter(({ id, name }) => !inside.has(id) && `${name} ${id}`.toLowerCase().includes(wanted))
      .slice(0, shownMost);
  }, [fleet, group.devices, text]);
  return (
    <div className="secret">
      <ComboBox
        className="field"
        items={offered}
        inputValue={text}
        onInputChange={setText}
        selectedKey={chosen}
        onSelectionChange={(key) => setChosen(key === null ? null : String(key))}
        menuTrigger="focus"
        allowsEmptyCollection
      >
        <Label>{texts.add}</Label>
        <div className="row">
          <Input className="input" />
          <Button className="button square secondary">
            <Icon name="chevron-left" />
          </Button>
        </div>
        <Popover className="menu">
          <ListBox>
            {({ id, name }: { readonly id: string; readonly name: string }) => (
              <ListBoxItem id={id} textValue={name}>
                {name}
              </ListBoxItem>
            )}
          </ListBox>
        </Popover>
      </ComboBox>
      <ActionButton
        className="button secondary"
        isOff={isOff || chosen === null}
        onPress={() => {
          if (chosen === null) return;
          onJoin(chosen);
          setChosen(null);
          setText('');
        }}
      >
        {texts.addAction({ group: group.groupDisplayName })}
      </ActionButton>
    </div>
  );
}

function Devices({ group, mayChange }: { readonly group: Group; readonly mayChange: boolean }) {
  const { people, forms, stream } = useWords(formWords, peopleWords);
  const { groups: texts } = people;
  const fleet = useValue(vehicles);
  const change = useChange(group.groupID);
  const failure = useFailure(change.error, forms.failed);
  const isDown = useValue(connection).state !== 'live';
  const isOff = isDown || change.isPending;
  const rest = group.devices.length - shownMost;
  return (
    <>
      <h3>{texts.devices}</h3>
      {group.devices.length === 0 ? <p className="muted">{texts.noDevices}</p> : null}
      <ul className="stack tight">
        {group.devices.slice(0, shownMost).map((deviceID) => {
          const name = fleet.get(deviceID)?.name ?? deviceID;
          return (
            <li key={deviceID} className="row">
              <Link to="/vehicle/$deviceID" params={{ deviceID }} search={{ tab: 'device' }}>
                {name}
              </Link>
              {mayChange ? (
                <ActionButton
                  className="button small push"
                  aria-label={texts.removeOf({ device: name, group: group.groupDisplayName })}
                  isOff={isOff}
                  onPress={() => change.mutate({ remove: [deviceID] })}
                >
                  {texts.remove}
                </ActionButton>
              ) : null}
            </li>
          );
        })}
      </ul>
      {rest > 0 ? <p className="muted">{texts.more({ count: rest })}</p> : null}
      {mayChange ? (
        <Joining group={group} isOff={isOff} onJoin={(deviceID) => change.mutate({ add: [deviceID] })} />
      ) : null}
      {isDown ? <p className="muted">{stream.commandsOff}</p> : null}
      {failure}
    </>
  );
}

function NewGroup({ groups }: { readonly groups: readonly Group[] | undefined }) {
  const { groups: texts } = useWords(peopleWords).people;
  const navigate = useNavigate();
  const [typed, put] = useFields({ id: '', name: '' });
  const { draft, fields, isReady } = useNewID(
    typed,
    texts,
    groups?.map(({ groupID }) => groupID),
  );
  const { id, name } = draft;
  return (
    <ActionDialog
      icon="layers"
      title={texts.createTitle}
      action={texts.create}
      isOff={!isReady}
      beginsInField
      changes={peopleChanges}
      run={() =>
        call('updateGroup', { body: { groupID: id, ...(name === '' ? {} : { groupDisplayName: name }) } })
      }
      onDone={() => void navigate({ to: '/people', search: { list: 'groups', group: id } })}
    >
      <Fields of={fields} draft={draft} onChange={put} />
    </ActionDialog>
  );
}

function EditGroup({ group }: { readonly group: Group }) {
  const { groups: texts } = useWords(peopleWords).people;
  const { groupID } = group;
  const [draft, put] = useFields({
    groupDisplayName: group.groupDisplayName,
    groupDescription: group.groupDescription,
  });
  return (
    <ActionDialog
      icon="layers"
      title={texts.editTitle({ group: groupID })}
      action={texts.editAction({ group: groupID })}
      beginsInField
      changes={peopleChanges}
      run={() => call('updateGroup', { body: { groupID, ...draft } })}
    >
      <Fields
        of={[
          { name: 'groupDisplayName', label: texts.name, most: 128, hasFocus: true },
          { name: 'groupDescription', label: texts.description, most: 500, isLong: true },
        ]}
        draft={draft}
        onChange={put}
      />
    </ActionDialog>
  );
}

function GroupActions({ group }: { readonly group: Group }) {
  const { people } = useWords(peopleWords);
  const { groups: texts } = people;
  const navigate = useNavigate();
  const { groupID } = group;
  return (
    <Actions
      of={[
        { name: 'group-edit', text: people.edit, dialog: <EditGroup group={group} /> },
        {
          name: 'group-delete',
          text: texts.delete,
          className: 'button',
          dialog: (
            <ActionDialog
              title={texts.deleteTitle({ group: groupID })}
              action={texts.deleteAction({ group: groupID })}
              changes={peopleChanges}
              run={() => call('deleteGroup', { body: { groupID } })}
              onDone={() => void navigate({ to: '/people', search: { list: 'groups' }, replace: true })}
            >
              <p>{texts.deleteText({ group: groupID })}</p>
            </ActionDialog>
          ),
        },
      ]}
    />
  );
}

interface GroupDetailProps {
  readonly group: Group;
  /** Undefined: the reader may not see them. */
  readonly users: readonly User[] | undefined;
  readonly mayChange: boolean;
}

function GroupDetail({ group, users, mayChange }: GroupDetailProps) {
  const { groups: texts } = useWords(peopleWords).people;
  const members = users?.filter((user) => user.groups.includes(group.groupID));
  return (
    <Card title={group.groupDisplayName} isAside>
      {group.groupDescription === '' ? null : <p>{group.groupDescription}</p>}
      <Devices group={group} mayChange={mayChange} />
      {members === undefined ? null : (
        <>
          <h3>{texts.members}</h3>
          {members.length === 0 ? <p className="muted">{texts.noMembers}</p> : null}
          <ul className="row wrap">
            {members.map(({ userID }) => (
              <li key={userID}>
                <Link to="/people" search={{ list: 'users', user: userID }}>
                  {userID}
                </Link>
              </li>
            ))}
          </ul>
        </>
      )}
      {mayChange ? <GroupActions group={group} /> : null}
    </Card>
  );
}

export function Groups() {
  const { people } = useWords(peopleWords);
  const { groups: texts } = people;
  const { columns } = texts;
  const { group: selected = null } = useSearch({ from: '/shell/people' });
  const mayChange = useRole() === 'admin';
  const groups = useGroups();
  const { items: users } = useUsers();
  const membersOf = (groupID: string): number =>
    users?.filter((user) => user.groups.includes(groupID)).length ?? 0;
  return (
    <ListDetail
      title={people.lists.groups}
      list={groups}
      empty={{ icon: 'layers', title: texts.empty, hint: texts.emptyHint }}
      head={mayChange ? null : <span className="muted push">{texts.viewer}</span>}
      create={
        mayChange
          ? { name: 'group-create', text: texts.create, form: <NewGroup groups={groups.items} /> }
          : undefined
      }
      caption={texts.caption}
      columns={[
        {
          name: columns.group,
          cell: ({ groupID, groupDisplayName: name }) => (
            <ItemLink
              search={{ list: 'groups', group: groupID }}
              isChosen={groupID === selected}
              note={name === groupID ? '' : groupID}
            >
              {name}
            </ItemLink>
          ),
          order: byText(({ groupDisplayName }) => groupDisplayName),
        },
        {
          name: columns.devices,
          isNum: true,
          isBare: true,
          cell: ({ devices }) => numberText(devices.length),
          order: (one, other) => one.devices.length - other.devices.length,
        },
        ...(users === undefined
          ? []
          : [
              {
                name: columns.members,
                isNum: true,
                cell: ({ groupID }: Group) => numberText(membersOf(groupID)),
              },
            ]),
      ]}
      keyOf={({ groupID }) => groupID}
      selected={selected}
      none={{ label: texts.devices, pick: texts.pick, gone: people.gone }}
      detail={(group) => (
        <GroupDetail key={group.groupID} group={group} users={users} mayChange={mayChange} />
      )}
    />
  );
}
