// Creation of one device. The operation would change a device of that id which is there, so that is looked up first.
import { useMutation } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { deviceWords } from '../../../../build/words/device.ts';
import { formWords } from '../../../../build/words/form.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { FormField } from '../../components/form-field.tsx';
import { useWords } from '../../components/use.ts';
import { call, ServiceError } from '../../service/call.ts';
import { isHardwareNumber, isID } from '../../state/device-view.ts';
import { without } from '../../state/search.ts';
import { useDevicesChanged } from './use-devices.ts';

interface Draft {
  readonly id: string;
  readonly name: string;
  readonly unique: string;
  readonly driver: string;
  readonly description: string;
}

const nothing: Draft = { id: '', name: '', unique: '', driver: '', description: '' };

/** Null: there is none. */
async function findDevice(deviceID: string): Promise<object | null> {
  try {
    return await call('getDevice', { params: { deviceID } });
  } catch (thrown) {
    if (thrown instanceof ServiceError && thrown.code === 'not_found') return null;
    throw thrown;
  }
}

function useCreate(takenText: (a: { readonly id: string }) => string, onCreated: (deviceID: string) => void) {
  const changed = useDevicesChanged();
  return useMutation({
    mutationFn: async ({ id, name, unique, driver, description }: Draft) => {
      if ((await findDevice(id)) !== null)
        throw new ServiceError({ code: 'conflict', detail: takenText({ id }), hint: null }, 422);
      await call('createDevice', {
        body: {
          deviceID: id,
          ...(unique === '' ? {} : { uniqueid: unique }),
          ...(driver === '' ? {} : { deviceDriver: driver }),
          ...(description === '' ? {} : { deviceDescription: description }),
        },
      });
      if (name !== '') await call('deviceSettings', { body: { deviceID: id, deviceDisplayName: name } });
    },
    onSuccess: (_answer, { id }) => onCreated(id),
    onSettled: () => changed(),
  });
}

export function CreateDevice() {
  const { devices: texts, forms } = useWords(deviceWords, formWords);
  const { fields } = texts;
  const navigate = useNavigate({ from: '/devices' });
  const { open } = useSearch({ from: '/shell/devices' });
  const [draft, setDraft] = useState(nothing);
  const close = (): void =>
    void navigate({ search: (before) => without(before, 'open'), replace: true }).then(() =>
      setDraft(nothing),
    );
  const creating = useCreate(texts.taken, (deviceID) => {
    setDraft(nothing);
    void navigate({ to: '/devices/$deviceID', params: { deviceID }, search: { part: 'enrol' } });
  });
  const set = (name: keyof Draft) => (value: string) => setDraft((before) => ({ ...before, [name]: value }));
  const idFault = draft.id === '' || isID(draft.id) ? null : forms.idWrong;
  const uniqueFault = isHardwareNumber(draft.unique) ? null : fields.uniqueWrong;
  const isReady = isID(draft.id) && uniqueFault === null;
  return (
    <FormDialog
      isOpen={open === 'create'}
      icon="hard-drive"
      title={texts.createTitle}
      action={texts.create}
      isOff={!isReady || creating.isPending}
      error={creating.error}
      beginsInField
      submit={() => creating.mutate(draft)}
      close={() => {
        creating.reset();
        close();
      }}
    >
      <p>{texts.createHint}</p>
      <FormField
        label={fields.id}
        value={draft.id}
        hint={forms.idHint}
        fault={idFault}
        most={64}
        isRequired
        hasFocus
        onChange={set('id')}
      />
      <FormField
        label={fields.name}
        value={draft.name}
        hint={fields.nameHint}
        most={128}
        onChange={set('name')}
      />
      <FormField
        label={fields.unique}
        value={draft.unique}
        hint={fields.uniqueHint}
        fault={uniqueFault}
        most={16}
        onChange={set('unique')}
      />
      <FormField label={fields.driver} value={draft.driver} most={128} onChange={set('driver')} />
      <FormField
        label={fields.description}
        value={draft.description}
        most={128}
        onChange={set('description')}
      />
    </FormDialog>
  );
}
