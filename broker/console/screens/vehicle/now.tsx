// What a vehicle is now: its facts, its unit, its sensors as evidence, and its open alarms.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { Form } from 'react-aria-components';
import { formWords } from '../../../../build/words/form.ts';
import { tabWords } from '../../../../build/words/tab.ts';
import { presenceOf } from '../../../../src/core/presence.ts';
import type { Device } from '../../api/operations.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { FormField } from '../../components/fields/form-field.tsx';
import { Icon } from '../../components/icon.tsx';
import { Place } from '../../components/places/place.tsx';
import { Age, Empty, numberText, spanText, Time } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { Known, useFailure, usePicture } from '../../components/view.tsx';
import { call } from '../../service/call.ts';
import { alarms, connection, readFleetAgain } from '../../service/live.ts';
import { useRole } from '../../service/role.ts';
import { compareAlarms } from '../../state/fleet-messages.ts';
import { AlarmBadge } from './badges.tsx';
import { useOwnEvents } from './use-own-events.ts';
import { VehicleBus } from './vehicle-bus.tsx';

// Where a vehicle stands and how many people it carries: the street address of its last position, which users write, and its own count.

/** Characters of an address, as the service takes them. */
const addressMost = 256;

/** The form of one position. A new position discards the draft: an address is saved for the displayed position only. */
function AddressForm({ device }: { readonly device: Device }) {
  const { place: texts, forms, stream } = useWords(tabWords, formWords);
  const { deviceID, deviceLastValidAddress: address, deviceLastValidTimestamp: timestamp } = device;
  const queries = useQueryClient();
  const { state } = useValue(connection);
  const [text, setText] = useState<string | null>(null);
  const saving = useMutation({
    mutationFn: (wanted: string) => call('updateAddress', { body: { deviceID, timestamp, address: wanted } }),
    async onSuccess() {
      await queries.invalidateQueries({ queryKey: ['device', deviceID] });
      readFleetAgain();
      setText(null);
    },
  });
  const failure = useFailure(saving.error, forms.failed);
  const isDown = state !== 'live';
  const wanted = (text ?? address).trim();
  const isSame = wanted === address;
  const isOff = isSame || saving.isPending || isDown;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!isOff) saving.mutate(wanted);
  };
  return (
    <Form className="stack" onSubmit={submit} validationBehavior="aria">
      <FormField
        label={texts.address}
        hint={texts.hint}
        value={text ?? address}
        most={addressMost}
        onChange={(value) => {
          saving.reset();
          setText(value);
        }}
      />
      {failure}
      <div className="row wrap">
        <span className="muted" role="status">
          {isDown ? stream.commandsOff : saving.isSuccess ? forms.saved : ''}
        </span>
        <ActionButton className="button secondary push" type="submit" isOff={isOff}>
          {texts.save}
        </ActionButton>
      </div>
    </Form>
  );
}

function Position({ device }: { readonly device: Device }) {
  const { place: texts, vehicle: words } = useWords(tabWords);
  const role = useRole();
  const { deviceLastValidTimestamp: at, deviceLastValidAddress: address } = device;
  if (at === 0) return <p className="muted">{words.noPosition}</p>;
  return (
    <>
      <dl className="pairs">
        <dt>{words.position}</dt>
        <dd>
          <Place latitude={device.deviceLastValidLatitude} longitude={device.deviceLastValidLongitude} />{' '}
          <span className="age">
            <Age at={at} />
          </span>
        </dd>
        {role === 'operator' || role === 'admin' ? null : (
          <>
            <dt>{texts.address}</dt>
            <dd>{address === '' ? <span className="muted">{texts.none}</span> : <bdi>{address}</bdi>}</dd>
          </>
        )}
      </dl>
      {role === 'operator' || role === 'admin' ? (
        <AddressForm key={`${device.deviceID} ${at}`} device={device} />
      ) : null}
    </>
  );
}

function PeopleAboard({ deviceID }: { readonly deviceID: string }) {
  const { place: texts, common } = useWords(tabWords);
  const { data, error, refetch } = useQuery({
    queryKey: ['passengers', deviceID],
    queryFn: ({ signal }) => call('passengerCount', { params: { deviceID }, signal }),
    refetchInterval: 60_000,
  });
  useOwnEvents(deviceID, refetch);
  const failure = useFailure(error);
  if (data === undefined) return failure ?? <p className="muted">{common.loading}</p>;
  const { passengerCount: count, maxPassengers: most, timestamp } = data;
  return (
    <>
      {failure}
      <dl className="pairs">
        <dt>{texts.aboard}</dt>
        <dd>
          {count === null ? (
            <span className="muted">{texts.notCounted}</span>
          ) : (
            <>
              <bdi>{most === null ? numberText(count) : texts.of({ count, most })}</bdi>{' '}
              <span className="age">{timestamp === 0 ? common.unknown : <Age at={timestamp} />}</span>
              {most !== null && count > most ? <span className="note">{texts.tooMany}</span> : null}
            </>
          )}
        </dd>
      </dl>
    </>
  );
}

/** Address of the last position, and people aboard. */
function VehiclePlace({ device }: { readonly device: Device }) {
  const { place: texts } = useWords(tabWords);
  return (
    <section className="card" aria-labelledby="place-title">
      <header>
        <h2 id="place-title">{texts.title}</h2>
      </header>
      <div className="card-body stack">
        <Position device={device} />
        <PeopleAboard deviceID={device.deviceID} />
      </div>
    </section>
  );
}

const witnessIcons = {
  proven: ['circle-check', 'tick'],
  unproven: ['circle-x', 'cross'],
  stale: ['circle-x', 'cross'],
  contradicted: ['triangle-alert', 'cross'],
  suspended: ['circle-x', 'cross'],
  absent: ['circle-help', 'unknown'],
} as const;

/** Why the vehicle of a foreign tracker has no orders, and what may be missing of it. */
function Foreign({ deviceID }: { readonly deviceID: string }) {
  const { place: texts } = useWords(tabWords);
  const { data } = useQuery({
    queryKey: ['tracker', deviceID],
    queryFn: ({ signal }) => call('getTracker', { params: { deviceID }, signal }),
  });
  return (
    <>
      <p>{texts.foreign}</p>
      {data?.source === 'traccar' && !data.fetchesLost ? <p className="muted">{texts.lostForGood}</p> : null}
    </>
  );
}

function Witnesses({ device }: { readonly device: Device }) {
  const { vehicle: words } = useWords();
  const { witnesses } = device;
  return (
    <section className="card" aria-labelledby="witnesses-title">
      <header>
        <h2 id="witnesses-title">{words.proofs}</h2>
        {witnesses === null ? null : (
          <span className="push faint">
            <Age at={witnesses.at} />
          </span>
        )}
      </header>
      <div className="card-body">
        {device.isForeign ? (
          <Foreign deviceID={device.deviceID} />
        ) : witnesses === null ? (
          <p className="muted">{words.noWitnesses}</p>
        ) : (
          <table className="evidence">
            <caption className="hidden">{words.proofs}</caption>
            <tbody>
              {(['gnss', 'motion', 'ignition', 'rpm', 'voltage'] as const).map((name) => {
                const [icon, tone] = witnessIcons[witnesses[name]];
                return (
                  <tr key={name}>
                    <td className={tone}>
                      <Icon name={icon} />
                    </td>
                    <th scope="row">
                      <span>{words.witness[name]}</span>
                    </th>
                    <td>{words.witnessStates[witnesses[name]]}</td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        )}
      </div>
    </section>
  );
}

function Unit({ deviceID }: { readonly deviceID: string }) {
  const allWords = useWords(tabWords);
  const { vehicle: words, common, units, state, health } = allWords;
  const clocks: Readonly<Record<string, string>> = health.clocks;
  const { data } = useQuery({
    queryKey: ['diagnostic', deviceID],
    queryFn: ({ signal }) => call('diagnostic', { params: { deviceID }, signal }),
    refetchInterval: 15_000,
  });
  const text = (value: string | number | null | undefined): string =>
    value === null || value === undefined || value === '' ? common.unknown : String(value);
  return (
    <section className="card" aria-labelledby="unit-title">
      <header>
        <h2 id="unit-title">{words.unit}</h2>
      </header>
      <dl className="card-body pairs">
        <dt>{words.link}</dt>
        <dd>
          {data === undefined
            ? common.unknown
            : state[presenceOf({ isOnline: data.online, heartbeatS: data.lastHeartbeat }) ?? 'offline']}{' '}
          <span className="age">{data === undefined ? null : <Age at={data.lastHeartbeat} />}</span>
        </dd>
        <dt>{words.supply}</dt>
        <dd>
          {typeof data?.voltage === 'number' ? (
            <bdi>
              {numberText(data.voltage, 2)} {units.volts}
            </bdi>
          ) : (
            common.unknown
          )}{' '}
          <span className="age">
            {data === undefined || data.voltage === null ? null : <Age at={data.diagnosticTime} />}
          </span>
        </dd>
        <dt>{words.queue}</dt>
        <dd>
          {typeof data?.queueDepth === 'number' ? words.waiting({ count: data.queueDepth }) : common.unknown}{' '}
          <span className="age">
            {data === undefined || data.queueDepth === null ? null : <Age at={data.diagnosticTime} />}
          </span>
        </dd>
        <dt>{words.clock}</dt>
        <dd>
          {text(clocks[data?.timeQuality ?? ''] ?? data?.timeQuality)}
          {data?.clockAhead == null ? null : (
            <>
              {' '}
              <strong className="look">
                {allWords.vehicle.clockAhead({ span: spanText(data.clockAhead, allWords) })}
              </strong>
            </>
          )}
        </dd>
        <dt>{words.program}</dt>
        <dd>{text(data?.agentVersion)}</dd>
        <dt>{words.lastFix}</dt>
        <dd>{data === undefined || data.lastFix === 0 ? common.unknown : <Time at={data.lastFix} />}</dd>
      </dl>
    </section>
  );
}

function OpenAlarms({ deviceID }: { readonly deviceID: string }) {
  const words = useWords();
  const own = [...useValue(alarms).values()]
    .filter((alarm) => alarm.deviceID === deviceID)
    .toSorted(compareAlarms);
  const picture = usePicture('alarms');
  return (
    <section className="card" aria-labelledby="own-alarms-title">
      <header>
        <h2 id="own-alarms-title">{words.vehicle.alarms}</h2>
      </header>
      {own.length === 0 ? (
        <Known {...picture}>
          <Empty icon="circle-check" title={words.vehicle.noAlarms} />
        </Known>
      ) : (
        <ul className="card-body stack">
          {own.map((alarm) => (
            <li key={alarm.alarmID} className="row wrap">
              <Link to="/alarms" search={{ alarm: alarm.alarmID }} className="plain-link">
                <AlarmBadge alarm={alarm} />
              </Link>
              <span>{words.alarms.states[alarm.alarmState]}</span>
              <span className="muted">{alarm.owner}</span>
              <span className="faint push">
                <Age at={alarm.opened} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

export function VehicleNow({ device }: { readonly device: Device }) {
  return (
    <div className="card-columns">
      <OpenAlarms deviceID={device.deviceID} />
      <Witnesses device={device} />
      <Unit deviceID={device.deviceID} />
      <VehiclePlace device={device} />
      {device.vehicleBus === null ? null : <VehicleBus bus={device.vehicleBus} />}
    </div>
  );
}
