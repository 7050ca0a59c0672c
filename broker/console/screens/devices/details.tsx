// What is known of a device, and its change; beside it the unit, a new secret, and deletion.
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ComponentProps, useState } from 'react';
import { deviceWords } from '../../../../build/words/device.ts';
import { formWords } from '../../../../build/words/form.ts';
import type { Device } from '../../api/operations.ts';
import { Icon } from '../../components/icon.tsx';
import { CardForm } from '../../components/patterns/card-form.tsx';
import { OrNone, Pairs } from '../../components/patterns/detail.tsx';
import { Fields } from '../../components/patterns/form.tsx';
import { Card } from '../../components/patterns/page.tsx';
import { Age, Badge, Empty, Time } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { useFailure } from '../../components/view.tsx';
import { call } from '../../service/call.ts';
import { useOwner } from '../../service/reading/owner.ts';
import { useRole } from '../../service/role.ts';
import { DangerActions } from './danger.tsx';
import { isHardwareNumber } from './device-rows.ts';
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
  const { devices: texts, forms } = useWords(deviceWords, formWords);
  const { fields } = texts;
  const changed = useDevicesChanged();
  const [typed, setTyped] = useState<Draft>({});
  const shown = shownOf(device);
  const draft = { ...shown, ...typed };
  const saving = useMutation({
    mutationFn: (changes: Draft) => save(device.deviceID, changes),
    onSettled: () => changed(device.deviceID),
    // What the service has now is shown, and no longer what was typed.
    onSuccess: () => setTyped({}),
  });
  const changes: Draft = Object.fromEntries(
    names.flatMap((name) => (draft[name] === shown[name] ? [] : [[name, draft[name]]])),
  );
  // What the service has is not judged again: it would stand in the way of other changes.
  const faults: Readonly<Partial<Record<Name, string>>> = {
    ...(isHardwareNumber(typed.unique ?? '') ? {} : { unique: fields.uniqueWrong }),
    ...(isEmail(typed.email ?? '') ? {} : { email: fields.emailWrong }),
  };
  const hints: Readonly<Partial<Record<Name, string>>> = {
    name: fields.nameHint,
    unique: fields.uniqueHint,
    sms: fields.smsHint,
  };
  const isSame = Object.keys(changes).length === 0;
  return (
    <CardForm
      isOff={isSame || Object.keys(faults).length > 0 || saving.isPending}
      status={saving.isSuccess ? forms.saved : isSame ? forms.unchanged : ''}
      failure={useFailure(saving.error, forms.failed)}
      submit={() => saving.mutate(changes)}
    >
      <div className="halves even">
        <Fields
          of={names.map((name) => ({
            name,
            label: fields[name],
            hint: hints[name],
            fault: faults[name] ?? null,
            most: most[name],
            type: name === 'email' ? 'email' : name === 'sms' ? 'tel' : 'text',
          }))}
          draft={draft}
          onChange={(change) => {
            saving.reset();
            setTyped((before) => ({ ...before, ...change }));
          }}
        />
      </div>
    </CardForm>
  );
}

/** What a viewer sees. */
function Facts({ device }: { readonly device: Device }) {
  const { devices: texts } = useWords(deviceWords);
  const shown = shownOf(device);
  return (
    <div className="card-body stack">
      <Pairs
        rows={names
          .filter((name) => name !== 'sms')
          .map((name) => [texts.fields[name], <OrNone key={name}>{shown[name]}</OrNone>])}
      />
      <p className="muted">{texts.viewer}</p>
    </div>
  );
}

/** What the unit said of its owner's key at its last hello. */
function ownerRows(
  { owner }: Device,
  known: ReturnType<typeof useOwner>,
  texts: ReturnType<typeof useWords<[typeof deviceWords]>>['devices']['owner'],
): ComponentProps<typeof Pairs>['rows'] {
  if (owner === null) return [[texts.key, <span className="muted">{texts.none}</span>]];
  const { key, set, list, at } = owner;
  const isOlder = known !== null && (known.set > set || (known.set === set && known.list > list));
  return [
    [texts.key, <bdi className="mono">{key}</bdi>],
    [
      texts.list,
      <>
        {list === 0 ? texts.noList : texts.version({ list })}
        {isOlder ? (
          <Badge icon="triangle-alert" tone="look">
            {texts.older({ list: known.list })}
          </Badge>
        ) : null}
      </>,
    ],
    [texts.reported, <Age at={at} />],
    [
      texts.needed,
      known?.needed == null
        ? null
        : texts.neededText({ cut: known.needed.enginecutoff, unlock: known.needed.cargoaccess }),
    ],
  ];
}

function Unit({ device }: { readonly device: Device }) {
  const { devices: texts, vehicle } = useWords(deviceWords);
  const { deviceID, owner } = device;
  const known = useOwner(owner?.key);
  return (
    <Card title={texts.facts}>
      <Pairs
        rows={[
          [texts.fields.id, <bdi className="mono">{deviceID}</bdi>],
          [texts.created, <Time at={device.deviceCreatedOn} />],
          [vehicle.lastReported, <Age at={device.deviceLastHeartbeat} />],
          ...ownerRows(device, known, texts.owner),
        ]}
      />
      <Link
        className="button secondary"
        to="/vehicle/$deviceID"
        params={{ deviceID }}
        search={{ tab: 'health' }}
      >
        <Icon name="activity" />
        {texts.health}
      </Link>
    </Card>
  );
}

export function DeviceDetails({ device }: { readonly device: Device }) {
  const { devices: texts } = useWords(deviceWords);
  const role = useRole();
  return (
    <div className="split">
      <div className="narrow-container">
        <Card title={texts.details} isBare>
          {device.authorities['update'] === true ? <EditForm device={device} /> : <Facts device={device} />}
        </Card>
      </div>
      <aside className="stack">
        <Unit device={device} />
        <Card title={texts.danger}>
          {role === 'admin' ? (
            <DangerActions device={device} />
          ) : (
            <Empty icon="lock" title={texts.adminsOnly}>
              <p>{texts.adminsOnlyHint}</p>
            </Empty>
          )}
        </Card>
      </aside>
    </div>
  );
}
