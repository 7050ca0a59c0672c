// Devices that are picked in the list, what is offered for them, and their deletion in one request. What was not deleted stays picked, with the reason.
import { useMutation } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Button } from 'react-aria-components';
import { deviceWords } from '../../../../build/words/device.ts';
import { peopleWords } from '../../../../build/words/people.ts';
import type { Result } from '../../api/operations.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { DialogButton, useDialog } from '../../components/patterns/address.tsx';
import { ActionDialog, Fields, groupOptions, useFields } from '../../components/patterns/form.tsx';
import { Notice } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import { useRole } from '../../service/role.ts';
import { pickedMost } from '../../state/device-view.ts';
import { changeGroup, peopleChanges, useGroups } from '../people/use-people.ts';
import { type DeviceRow } from './device-rows.ts';
import { CommandButtons, type ManyCommands } from './many-commands.tsx';
import type { Picks } from './table.tsx';
import { useDevicesChanged } from './use-devices.ts';
import { usePicked } from './use-picked.ts';

type Item = Result<'deleteDevices'>['items'][number];

/** For roles that may command or delete. */
export function usePicks(): Picks {
  const role = useRole();
  const { ids, toggle } = usePicked();
  const set = useMemo(() => new Set(ids), [ids]);
  return role === 'admin' || role === 'operator' ? { ids: set, toggle } : null;
}

export function PickedBar({ commands }: { readonly commands: ManyCommands }) {
  const { many: texts } = useWords(deviceWords).devices;
  const role = useRole();
  const { ids, pick } = usePicked();
  if ((role !== 'admin' && role !== 'operator') || ids.length === 0) return null;
  return (
    <div className="row wrap">
      <span role="status">{texts.picked({ count: ids.length, most: pickedMost })}</span>
      <Button className="button secondary small" onPress={() => pick([])}>
        {texts.none}
      </Button>
      <CommandButtons commands={commands} />
      {role === 'admin' ? (
        <>
          <DialogButton name="group" icon="layers" className="button secondary small">
            {texts.group}
          </DialogButton>
          <DialogButton name="delete" icon="x" className="button secondary small">
            {texts.open}
          </DialogButton>
        </>
      ) : null}
    </div>
  );
}

function Kept({ items }: { readonly items: readonly Item[] }) {
  const { many: texts } = useWords(deviceWords).devices;
  return (
    <>
      <Notice tone="look" icon="triangle-alert" role="alert" title={texts.kept({ count: items.length })} />
      <ul className="stack tight">
        {items.map(({ deviceID, error }) => (
          <li key={deviceID}>
            <bdi className="strong">{deviceID}</bdi> <bdi>{error?.detail ?? ''}</bdi>
          </li>
        ))}
      </ul>
    </>
  );
}

/** All of the picked devices join one group; a device that is in it stays. */
export function JoinGroup() {
  const { devices, people } = useWords(deviceWords, peopleWords);
  const { ids, pick } = usePicked();
  const groups = useGroups().items;
  const [draft, put] = useFields({ groupID: '' });
  const group = groups?.find(({ groupID }) => groupID === draft.groupID);
  return (
    <ActionDialog
      icon="layers"
      title={devices.many.groupTitle({ count: ids.length })}
      action={
        group === undefined ? devices.many.group : people.groups.addAction({ group: group.groupDisplayName })
      }
      isOff={group === undefined}
      beginsInField
      changes={peopleChanges}
      run={() => changeGroup({ groupID: draft.groupID, add: [...ids] })}
      onDone={() => pick([])}
    >
      <Fields
        of={[{ name: 'groupID', label: people.groups.columns.group, options: groupOptions(groups) }]}
        draft={draft}
        onChange={put}
      />
    </ActionDialog>
  );
}

export function DeleteDevices({ rows }: { readonly rows: readonly DeviceRow[] }) {
  const { many: texts } = useWords(deviceWords).devices;
  const { close } = useDialog();
  const { ids, pick } = usePicked();
  const changed = useDevicesChanged();
  const deleting = useMutation({
    mutationFn: (deviceIDs: readonly string[]) =>
      call('deleteDevices', { body: { deviceIDs: [...deviceIDs] } }),
    async onSuccess({ items }) {
      pick(items.filter(({ status }) => status !== 200).map(({ deviceID }) => deviceID));
      await changed();
    },
  });
  const names = new Map(rows.map(({ id, name }) => [id, name]));
  const kept = deleting.data?.items.filter(({ status }) => status !== 200) ?? [];
  const done = deleting.data?.done ?? 0;
  return (
    <FormDialog
      isOpen
      icon="circle-alert"
      title={texts.title({ count: deleting.data === undefined ? ids.length : done + kept.length })}
      action={deleting.data === undefined && ids.length > 0 ? texts.action({ count: ids.length }) : null}
      isOff={deleting.isPending}
      error={deleting.error}
      submit={() => deleting.mutate(ids)}
      close={close}
    >
      {deleting.data === undefined ? (
        <>
          <p>{texts.consequence}</p>
          <div className="scroll import-lines" tabIndex={0} role="region" aria-label={texts.list}>
            <ul>
              {ids.map((id) => (
                <li key={id}>
                  <bdi>{names.get(id) ?? id}</bdi>
                </li>
              ))}
            </ul>
          </div>
          <p className="muted">{texts.hint}</p>
        </>
      ) : (
        <>
          {done === 0 ? null : (
            <Notice tone="ok" icon="circle-check" role="status" title={texts.done({ count: done })} />
          )}
          {kept.length === 0 ? null : <Kept items={kept} />}
        </>
      )}
    </FormDialog>
  );
}
