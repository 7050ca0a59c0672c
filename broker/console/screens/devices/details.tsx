// What is known of a device, and its change; beside it the unit, a new secret, and deletion.
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { Form } from 'react-aria-components';
import { deviceWords } from '../../../../build/words/device.ts';
import { formWords } from '../../../../build/words/form.ts';
import type { Device } from '../../api/operations.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { FormField } from '../../components/form-field.tsx';
import { Icon } from '../../components/icon.tsx';
import { Age, Empty, Time } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { useFailure } from '../../components/view.tsx';
import { call } from '../../service/call.ts';
import { connection } from '../../service/live.ts';
import { useRole } from '../../service/role.ts';
import { isHardwareNumber } from '../../state/device-view.ts';
import { DeleteDevice } from './delete.tsx';
import { DeviceSecret } from './secret.tsx';
import { useDevicesChanged } from './use-devices.ts';

const names = ['name', 'description', 'driver', 'unique', 'sms', 'type', 'email'] as const;
type Name = (typeof names)[number];
type Draft = Readonly<Partial<Record<Name, string>>>;

const most: Readonly<Record<Name, number>> = {
  name: 128,
  description: 128,
  driver: 128,
  unique: 16,
  sms: 128,
  type: 64,
  email: 254,
};

/** The service does not show the telephone number. */
const shownOf = (device: Device): Readonly<Record<Name, string>> => ({
  name: device.deviceDisplayName,
  description: device.deviceDescription,
  driver: device.deviceDriver,
  unique: device.deviceUnique,
  sms: '',
  type: device.deviceType,
  email: device.deviceNotifyEmail,
});

const isEmail = (text: string): boolean =>
  text === '' || /^[^\s@,;<>"]{1,64}@[A-Za-z0-9.-]{1,253}$/.test(text);

/** Two operations have these members; the one without a change is not called. */
async function save(deviceID: string, { unique, sms, description, driver, name, type, email }: Draft) {
  const own = {
    ...(unique === undefined ? {} : { uniqueid: unique }),
    ...(sms === undefined ? {} : { sms }),
    ...(description === undefined ? {} : { devicedescription: description }),
    ...(driver === undefined ? {} : { devicedriver: driver }),
  };
  const further = {
    ...(name === undefined ? {} : { deviceDisplayName: name }),
    ...(type === undefined ? {} : { deviceType: type }),
    ...(email === undefined ? {} : { deviceNotifyEmail: email }),
  };
  if (Object.keys(own).length > 0) await call('updateDevice', { body: { deviceid: deviceID, ...own } });
  if (Object.keys(further).length > 0) await call('deviceSettings', { body: { deviceID, ...further } });
}

function EditForm({ device }: { readonly device: Device }) {
  const { devices: texts, forms, stream } = useWords(deviceWords, formWords);
  const { fields } = texts;
  const { state } = useValue(connection);
  const changed = useDevicesChanged();
  const [draft, setDraft] = useState<Draft>({});
  const shown = shownOf(device);
  const saving = useMutation({
    mutationFn: (changes: Draft) => save(device.deviceID, changes),
    onSettled: () => changed(device.deviceID),
    // What the service has now is shown, and no longer what was typed.
    onSuccess: () => setDraft({}),
  });
  const failure = useFailure(saving.error, forms.failed);
  const changes: Draft = Object.fromEntries(
    Object.entries(draft).filter(([name, value]) => value !== shown[name as Name]),
  );
  const faults: Readonly<Partial<Record<Name, string>>> = {
    ...(isHardwareNumber(draft.unique ?? '') ? {} : { unique: fields.uniqueWrong }),
    ...(isEmail(draft.email ?? '') ? {} : { email: fields.emailWrong }),
  };
  const hints: Readonly<Partial<Record<Name, string>>> = {
    name: fields.nameHint,
    unique: fields.uniqueHint,
    sms: fields.smsHint,
  };
  const isDown = state !== 'live';
  const isSame = Object.keys(changes).length === 0;
  const isOff = isSame || Object.keys(faults).length > 0 || saving.isPending || isDown;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!isOff) saving.mutate(changes);
  };
  return (
    <Form className="card-body stack" onSubmit={submit} validationBehavior="aria">
      <div className="halves even">
        {names.map((name) => (
          <FormField
            key={name}
            label={fields[name]}
            value={draft[name] ?? shown[name]}
            hint={hints[name]}
            fault={faults[name] ?? null}
            most={most[name]}
            type={name === 'email' ? 'email' : name === 'sms' ? 'tel' : 'text'}
            onChange={(value) => {
              saving.reset();
              setDraft((before) => ({ ...before, [name]: value }));
            }}
          />
        ))}
      </div>
      {failure}
      <div className="row wrap">
        <span className="muted" role="status">
          {isDown ? stream.commandsOff : saving.isSuccess ? forms.saved : isSame ? forms.unchanged : ''}
        </span>
        <ActionButton className="button primary push" type="submit" isOff={isOff}>
          {forms.change}
        </ActionButton>
      </div>
    </Form>
  );
}

/** What a viewer sees. */
function Facts({ device }: { readonly device: Device }) {
  const { devices: texts, common } = useWords(deviceWords);
  const shown = shownOf(device);
  return (
    <div className="card-body stack">
      <dl className="pairs">
        {names
          .filter((name) => name !== 'sms')
          .map((name) => (
            <div key={name} className="pair">
              <dt>{texts.fields[name]}</dt>
              <dd>{shown[name] || <span className="muted">{common.none}</span>}</dd>
            </div>
          ))}
      </dl>
      <p className="muted">{texts.viewer}</p>
    </div>
  );
}

function Unit({ device }: { readonly device: Device }) {
  const { devices: texts, vehicle } = useWords(deviceWords);
  const { deviceID } = device;
  return (
    <section className="card" aria-labelledby="unit-title">
      <header>
        <h2 id="unit-title">{texts.facts}</h2>
      </header>
      <div className="card-body stack">
        <dl className="pairs">
          <dt>{texts.fields.id}</dt>
          <dd>
            <bdi className="mono">{deviceID}</bdi>
          </dd>
          <dt>{texts.created}</dt>
          <dd>
            <Time at={device.deviceCreatedOn} />
          </dd>
          <dt>{vehicle.lastReported}</dt>
          <dd>
            <Age at={device.deviceLastHeartbeat} />
          </dd>
        </dl>
        <Link
          className="button secondary"
          to="/vehicle/$deviceID"
          params={{ deviceID }}
          search={{ tab: 'health' }}
        >
          <Icon name="activity" />
          {texts.health}
        </Link>
      </div>
    </section>
  );
}

export function DeviceDetails({ device }: { readonly device: Device }) {
  const { devices: texts } = useWords(deviceWords);
  const role = useRole();
  return (
    <div className="split">
      <section className="card narrow-container" aria-labelledby="details-title">
        <header>
          <h2 id="details-title">{texts.details}</h2>
        </header>
        {device.authorities['update'] === true ? <EditForm device={device} /> : <Facts device={device} />}
      </section>
      <aside className="stack">
        <Unit device={device} />
        <section className="card" aria-labelledby="danger-title">
          <header>
            <h2 id="danger-title">{texts.danger}</h2>
          </header>
          {role === 'admin' ? (
            <div className="card-body stack">
              <DeviceSecret device={device} />
              <DeleteDevice device={device} />
            </div>
          ) : (
            <Empty icon="lock" title={texts.adminsOnly}>
              <p>{texts.adminsOnlyHint}</p>
            </Empty>
          )}
        </section>
      </aside>
    </div>
  );
}
