// One group: its devices with removal, addition of devices, and the users with this group.
import { useMutation } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { Button, ComboBox, Input, Label, ListBox, ListBoxItem, Popover } from 'react-aria-components';
import { formWords } from '../../../../build/words/form.ts';
import { peopleWords } from '../../../../build/words/people.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { FormField } from '../../components/form-field.tsx';
import { Icon } from '../../components/icon.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { useFailure } from '../../components/view.tsx';
import { call, ServiceError } from '../../service/call.ts';
import { connection, vehicles } from '../../service/live.ts';
import type { Group, User } from '../../state/people-view.ts';
import { Ask } from './ask.tsx';
import { DialogButton } from './dialog-button.tsx';
import { usePeopleChanged } from './use-people.ts';

/** Devices that are listed, and offered, at once: the search narrows them. */
const shownMost = 50;

interface Change {
  readonly add?: string[];
  readonly remove?: string[];
}

function useChange(groupID: string) {
  const changed = usePeopleChanged();
  return useMutation({
    mutationFn: async (change: Change) => {
      const { items } = await call('changeGroupDevices', { body: { groupID, ...change } });
      const failed = items.find(({ error }) => error !== null);
      if (failed?.error == null) return;
      throw new ServiceError(failed.error, failed.status);
    },
    onSettled: changed,
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
  const { state } = useValue(connection);
  const change = useChange(group.groupID);
  const failure = useFailure(change.error, forms.failed);
  const isDown = state !== 'live';
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
              <Link className="cut-off" to="/devices/$deviceID" params={{ deviceID }}>
                {name}
              </Link>
              {mayChange ? (
                <span className="push">
                  <ActionButton
                    className="button small"
                    aria-label={texts.removeOf({ device: name, group: group.groupDisplayName })}
                    isOff={isOff}
                    onPress={() => change.mutate({ remove: [deviceID] })}
                  >
                    {texts.remove}
                  </ActionButton>
                </span>
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

function Dialogs({ group }: { readonly group: Group }) {
  const { groups: texts } = useWords(peopleWords).people;
  const navigate = useNavigate();
  const { groupID } = group;
  const [name, setName] = useState(group.groupDisplayName);
  const [description, setDescription] = useState(group.groupDescription);
  return (
    <>
      <Ask
        name="group-edit"
        icon="layers"
        title={texts.editTitle({ group: groupID })}
        action={texts.editAction({ group: groupID })}
        beginsInField
        run={() =>
          call('updateGroup', {
            body: { groupID, groupDisplayName: name, groupDescription: description },
          })
        }
      >
        <FormField label={texts.name} value={name} most={128} hasFocus onChange={setName} />
        <FormField
          label={texts.description}
          value={description}
          most={500}
          isLong
          onChange={setDescription}
        />
      </Ask>
      <Ask
        name="group-delete"
        title={texts.deleteTitle({ group: groupID })}
        action={texts.deleteAction({ group: groupID })}
        run={() => call('deleteGroup', { body: { groupID } })}
        onDone={() => void navigate({ to: '/people', search: { list: 'groups' }, replace: true })}
      >
        <p>{texts.deleteText({ group: groupID })}</p>
      </Ask>
    </>
  );
}

interface GroupDetailProps {
  readonly group: Group;
  readonly users: readonly User[] | undefined;
  readonly mayChange: boolean;
}

export function GroupDetail({ group, users, mayChange }: GroupDetailProps) {
  const { people } = useWords(peopleWords);
  const { groups: texts } = people;
  const members = users?.filter((user) => user.groups.includes(group.groupID));
  return (
    <aside className="card" aria-labelledby="group-title">
      <header>
        <h2 id="group-title">{group.groupDisplayName}</h2>
      </header>
      <div className="card-body stack">
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
        {mayChange ? (
          <div className="row wrap">
            <DialogButton name="group-edit" className="button secondary">
              {people.edit}…
            </DialogButton>
            <DialogButton name="group-delete" className="button">
              {texts.delete}…
            </DialogButton>
            <Dialogs group={group} />
          </div>
        ) : null}
      </div>
    </aside>
  );
}
