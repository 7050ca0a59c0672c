// Creation of one device. The operation would change a device of that id which is there, so that is looked up first.
import { useNavigate } from '@tanstack/react-router';
import { deviceWords } from '../../../../build/words/device.ts';
import { formWords } from '../../../../build/words/form.ts';
import { ActionDialog, Fields, useFields, useNewID } from '../../components/patterns/form.tsx';
import { useWords } from '../../components/use.ts';
import { call, ServiceError } from '../../service/call.ts';
import { readFleetAgain } from '../../service/live.ts';
import { isHardwareNumber } from './device-rows.ts';

const nothing = { id: '', name: '', unique: '', driver: '', description: '' };

async function isThere(deviceID: string): Promise<boolean> {
  try {
    await call('getDevice', { params: { deviceID } });
    return true;
  } catch (thrown) {
    if (thrown instanceof ServiceError && thrown.code === 'not_found') return false;
    throw thrown;
  }
}

async function create({ id, name, unique, driver, description }: typeof nothing, takenText: string) {
  if (await isThere(id)) throw new ServiceError({ code: 'conflict', detail: takenText, hint: null }, 422);
  await call('createDevice', {
    body: {
      deviceID: id,
      ...(unique === '' ? {} : { uniqueid: unique }),
      ...(driver === '' ? {} : { deviceDriver: driver }),
      ...(description === '' ? {} : { deviceDescription: description }),
    },
  });
  if (name !== '') await call('deviceSettings', { body: { deviceID: id, deviceDisplayName: name } });
}

/** @param taken ids of all devices; undefined: they are not known yet. */
export function CreateDevice({ taken }: { readonly taken: readonly string[] | undefined }) {
  const { devices: texts, forms } = useWords(deviceWords, formWords);
  const { fields } = texts;
  const navigate = useNavigate();
  const [typed, put] = useFields(nothing);
  const made = useNewID(typed, fields, taken);
  const { draft } = made;
  const uniqueFault = isHardwareNumber(draft.unique) ? null : fields.uniqueWrong;
  return (
    <ActionDialog
      icon="hard-drive"
      title={texts.createTitle}
      action={texts.create}
      isOff={!made.isReady || uniqueFault !== null}
      beginsInField
      changes={['devices']}
      run={() => create(draft, forms.idTaken).finally(readFleetAgain)}
      onDone={() =>
        void navigate({
          to: '/vehicle/$deviceID',
          params: { deviceID: draft.id },
          search: { tab: 'device', part: 'enrol' },
        })
      }
    >
      <p>{texts.createHint}</p>
      <Fields
        of={[
          ...made.fields,
          {
            name: 'unique',
            label: fields.unique,
            hint: fields.uniqueHint,
            fault: uniqueFault,
            most: 16,
          },
          { name: 'driver', label: fields.driver, most: 128 },
          { name: 'description', label: fields.description, most: 128 },
        ]}
        draft={draft}
        onChange={put}
      />
    </ActionDialog>
  );
}
