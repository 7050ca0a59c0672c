// Health of the unit: its connection, its newest report in full, what is fitted, and what it can be asked.

import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { tabWords } from '../../../../build/words/tab.ts';
import { presenceOf } from '../../../../src/core/presence.ts';
import type { Device, Result } from '../../api/operations.ts';
import { Age, Badge, Empty, Notice, numberText, Time } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { View } from '../../components/view.tsx';
import { call } from '../../service/call.ts';
import { UnitRequests } from './unit-requests.tsx';

type Health = Result<'diagnostic'>;

/** Events that wait on the unit for longer than the link was away are worth a look from here on. */
const queueLook = 100;

function Pair({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function Connection({ health }: { readonly health: Health }) {
  const { health: texts, vehicle, state, common } = useWords(tabWords);
  const clocks: Readonly<Record<string, string>> = texts.clocks;
  return (
    <section className="card" aria-labelledby="link-title">
      <header>
        <h2 id="link-title">{vehicle.unit}</h2>
        <span className="push">
          <Badge icon={health.online ? 'signal' : 'wifi-off'} {...(health.online ? { tone: 'ok' } : {})}>
            {state[presenceOf({ isOnline: health.online, heartbeatS: health.lastHeartbeat }) ?? 'offline']}
          </Badge>
        </span>
      </header>
      <dl className="card-body pairs">
        <Pair name={vehicle.lastReported}>
          <Age at={health.lastHeartbeat} />
        </Pair>
        <Pair name={texts.connected}>
          <Age at={health.lastHello} />
        </Pair>
        <Pair name={vehicle.lastFix}>{health.lastFix === 0 ? common.none : <Age at={health.lastFix} />}</Pair>
        <Pair name={vehicle.program}>{health.agentVersion || common.unknown}</Pair>
        <Pair name={texts.boot}>
          <span className="mono">{health.boot ?? common.unknown}</span>
        </Pair>
        <Pair name={vehicle.clock}>
          {clocks[health.timeQuality] ?? (health.timeQuality || common.unknown)}
        </Pair>
      </dl>
    </section>
  );
}

/** What has a place of its own in the report; the rest is listed under the unit's own names. */
const ownMembers: ReadonlySet<string> = new Set(['queueDepth', 'voltage', 'gps', 'disk']);

function OtherValues({ health }: { readonly health: Health }) {
  const { health: texts } = useWords(tabWords);
  const others = Object.entries(health.diagnostic).filter(([name]) => !ownMembers.has(name));
  if (others.length === 0) return null;
  return (
    <details>
      <summary>{texts.others({ count: others.length })}</summary>
      <dl className="pairs">
        {others.map(([name, value]) => (
          <Pair key={name} name={name}>
            <bdi className="mono">{typeof value === 'string' ? value : JSON.stringify(value)}</bdi>
          </Pair>
        ))}
      </dl>
    </details>
  );
}

function Report({ health }: { readonly health: Health }) {
  const { health: texts, vehicle, units, common } = useWords(tabWords);
  const receivers: Readonly<Record<string, string>> = texts.receivers;
  const { queueDepth, voltage, gps, disk, diagnosticTime } = health;
  const amount = (value: Health['voltage'], unit: string): string =>
    typeof value === 'number'
      ? `${numberText(value, Number.isInteger(value) ? 0 : 1)} ${unit}`
      : common.unknown;
  return (
    <section className="card" aria-labelledby="report-title">
      <header>
        <h2 id="report-title">{texts.report}</h2>
        {diagnosticTime === 0 ? null : (
          <span className="push faint">
            <Age at={diagnosticTime} />
          </span>
        )}
      </header>
      {diagnosticTime === 0 ? (
        <Empty icon="activity" title={texts.noReport}>
          <p>{texts.noReportHint}</p>
        </Empty>
      ) : (
        <div className="card-body stack">
          {typeof queueDepth === 'number' && queueDepth >= queueLook ? (
            <Notice tone="look" icon="circle-alert" title={vehicle.waiting({ count: queueDepth })} />
          ) : null}
          <dl className="pairs">
            <Pair name={vehicle.queue}>
              {typeof queueDepth === 'number' ? vehicle.waiting({ count: queueDepth }) : common.unknown}
            </Pair>
            <Pair name={vehicle.supply}>
              <bdi>{amount(voltage, units.volts)}</bdi>
            </Pair>
            <Pair name={texts.receiver}>
              {gps === null ? common.unknown : (receivers[String(gps)] ?? String(gps))}
            </Pair>
            <Pair name={texts.disk}>
              <bdi>{amount(disk, texts.mebibytes)}</bdi>
            </Pair>
          </dl>
          <OtherValues health={health} />
          <p className="faint">
            {texts.reportedAt} <Time at={diagnosticTime} />
          </p>
        </div>
      )}
    </section>
  );
}

function Fitted({ health: { features, sensors } }: { readonly health: Health }) {
  const { health: texts } = useWords(tabWords);
  const names: Readonly<Record<string, string>> = texts.fittedNames;
  const list = (of: readonly string[]) => (
    <ul className="row wrap">
      {of.map((name) => (
        <li key={name}>
          <Badge icon="circle-check">{names[name] ?? name}</Badge>
        </li>
      ))}
    </ul>
  );
  return (
    <section className="card" aria-labelledby="fitted-title">
      <header>
        <h2 id="fitted-title">{texts.fitted}</h2>
      </header>
      <div className="card-body stack">
        <h3>{texts.relays}</h3>
        {features.length === 0 ? <p className="muted">{texts.noneFitted}</p> : list(features)}
        <h3>{texts.inputs}</h3>
        {sensors.length === 0 ? <p className="muted">{texts.noneFitted}</p> : list(sensors)}
      </div>
    </section>
  );
}

export function VehicleHealth({ device }: { readonly device: Device }) {
  const { deviceID } = device;
  const { data, error } = useQuery({
    queryKey: ['diagnostic', deviceID],
    queryFn: ({ signal }) => call('diagnostic', { params: { deviceID }, signal }),
    refetchInterval: 15_000,
  });
  return (
    <div className="thirds">
      {data === undefined ? (
        <section className="card">
          <View error={error} isLoaded={false} empty={null}>
            {null}
          </View>
        </section>
      ) : (
        <>
          <Connection health={data} />
          <Report health={data} />
          <Fitted health={data} />
        </>
      )}
      <UnitRequests deviceID={deviceID} isOnline={data?.online ?? null} />
    </div>
  );
}
