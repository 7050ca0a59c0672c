// What a vehicle is now: its facts, its unit, its sensors as evidence, and its open alarms.

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { tabWords } from '../../../../build/words/tab.ts';
import { presenceOf } from '../../../../src/core/presence.ts';
import type { Device } from '../../api/operations.ts';
import { Icon } from '../../components/icon.tsx';
import { Age, Empty, numberText, spanText, Time } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { Known, usePicture } from '../../components/view.tsx';
import { call } from '../../service/call.ts';
import { alarms } from '../../service/live.ts';
import { compareAlarms } from '../../state/fleet-messages.ts';
import { AlarmBadge } from './badges.tsx';
import { VehiclePlace } from './place.tsx';
import { VehicleBus } from './vehicle-bus.tsx';

const witnessIcons = {
  proven: ['circle-check', 'tick'],
  unproven: ['circle-x', 'cross'],
  stale: ['circle-x', 'cross'],
  contradicted: ['triangle-alert', 'cross'],
  suspended: ['circle-x', 'cross'],
  absent: ['circle-help', 'unknown'],
} as const;

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
        {witnesses === null ? (
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
