// The proof of one event: its number, both times, its place, whether the numbers beside it are stored, and to whom it was sent.

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { tabWords } from '../../../../build/words/tab.ts';
import type { EventRecord } from '../../api/operations.ts';
import { Deliveries } from '../../components/deliveries.tsx';
import { failureText } from '../../components/failure.ts';
import { Icon } from '../../components/icon.tsx';
import { Place } from '../../components/places/place.tsx';
import {
  Badge,
  codeText,
  Empty,
  iconOf,
  Loading,
  numberText,
  spanText,
  Time,
} from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { useFailure } from '../../components/view.tsx';
import { call } from '../../service/call.ts';
import { useRole } from '../../service/role.ts';
import { readRecord } from '../../service/track.ts';
import { eventNumber, hasNeighbours, matchesKind } from '../../state/vehicle/event-view.ts';
import { AlarmBadge } from './badges.tsx';

/** Without `fields` the service names every member. */
export type Record = Required<EventRecord>;

// What the service knows of one event beyond its record: the numbers beside it, the receiver at that moment, and its alarm.

/** Numbers beside an event are looked for among what happened so long before and after it, s. */
const neighboursS = 1800;
/** Alarms that are looked through, the newest first. */
const alarmsMost = '10';

/** Whether the numbers before and after are stored; undefined until it is known. */
function useNeighbours({ deviceID, eventID, timestamp }: Record) {
  return useQuery({
    queryKey: ['neighbours', deviceID, eventID],
    queryFn: async ({ signal }) => {
      const { eventdata } = await call('deviceDataRange', {
        params: {
          deviceID,
          startTime: String(Math.max(1, timestamp - neighboursS)),
          endTime: String(timestamp + neighboursS),
        },
        query: { fields: 'eventID' },
        signal,
      });
      return hasNeighbours(eventID, new Set(eventdata.devices.map((one) => one.eventID ?? '')));
    },
    refetchOnWindowFocus: false,
  });
}

/** Precision, satellites, fuel and ignition as the record has them; null when it is no longer there. */
function useReading({ deviceID, eventID, timestamp }: Record) {
  return useQuery({
    queryKey: ['reading', deviceID, eventID],
    queryFn: ({ signal }) => readRecord({ deviceID, eventID, timestamp }, signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** The alarm that holds this event, with its deliveries; null: it raised none. */
function useAlarmOf({ deviceID, eventID, statusCode, creationTime }: Record) {
  return useQuery({
    queryKey: ['alarm', 'of', deviceID, eventID],
    queryFn: async ({ signal }) => {
      const { alarms } = await call('listAlarms', {
        query: {
          state: 'open,closed',
          deviceID,
          statusCode: String(statusCode),
          // An alarm is opened by its first event, a moment after that was stored.
          to: String(creationTime + 60),
          limit: alarmsMost,
        },
        signal,
      });
      for (const { alarmID } of alarms) {
        const alarm = await call('getAlarm', { params: { alarmID }, signal });
        if (alarm.events.some((one) => one.eventID === eventID)) return alarm;
      }
      return null;
    },
    // Positions never raise one.
    enabled: matchesKind(statusCode, 'changes'),
  });
}

function CopyButton({ record }: { readonly record: Record }) {
  const { events } = useWords(tabWords);
  const [isCopied, setCopied] = useState(false);
  // Plain HTTP has no clipboard.
  if (!window.isSecureContext) return null;
  return (
    <Button
      className="button square small push"
      aria-label={isCopied ? events.copied : events.copy}
      onPress={() =>
        void navigator.clipboard.writeText(JSON.stringify(record, null, 2)).then(() => setCopied(true))
      }
    >
      <Icon name={isCopied ? 'circle-check' : 'link'} />
    </Button>
  );
}

/** Whether the numbers beside it are stored. */
function Neighbours({ record }: { readonly record: Record }) {
  const words = useWords(tabWords);
  const { events: texts, proof } = words;
  const { data, error } = useNeighbours(record);
  const [icon, tone] =
    data === true ? (['circle-check', 'tick'] as const) : (['circle-help', 'unknown'] as const);
  return (
    <p className="row">
      <span className={tone}>
        <Icon name={icon} />
      </span>
      <span>
        {texts.neighbours}:{' '}
        {data === undefined
          ? error === null
            ? words.common.loading
            : failureText(error, words).title
          : data
            ? proof.bothStored
            : proof.notBoth({ span: spanText(neighboursS, words) })}
      </span>
    </p>
  );
}

/** What the receiver and the tank said at that moment. */
function Reading({ record }: { readonly record: Record }) {
  const { proof, vehicle, units, common } = useWords(tabWords);
  const { data } = useReading(record);
  if (data == null) return null;
  const { hdop, satellites, fuelLevel, ignition } = data;
  return (
    <>
      {hdop === null && satellites === null ? null : (
        <>
          <dt>{proof.receiver}</dt>
          <dd>
            <bdi>
              {[
                hdop === null ? '' : `HDOP ${hdop}`,
                satellites === null ? '' : proof.satellites({ count: satellites }),
              ]
                .filter((text) => text !== '')
                .join(', ')}
            </bdi>
          </dd>
        </>
      )}
      {ignition === null ? null : (
        <>
          <dt>{vehicle.ignition}</dt>
          <dd>{ignition ? common.on : common.off}</dd>
        </>
      )}
      {fuelLevel === null ? null : (
        <>
          <dt>{vehicle.fuel}</dt>
          <dd>
            <bdi>
              {numberText(fuelLevel * 100)} {units.percent}
            </bdi>
          </dd>
        </>
      )}
    </>
  );
}

/** To whom it was sent, as the alarm that holds it has it. */
function Delivered({ record }: { readonly record: Record }) {
  const words = useWords(tabWords);
  const { proof, alarms } = words;
  const { data: alarm, error, isPending, isEnabled } = useAlarmOf(record);
  const failure = useFailure(error);
  const role = useRole();
  return (
    <section className="stack tight">
      <h3>{words.deliveries.title}</h3>
      {failure}
      {alarm === null || !isEnabled ? (
        <p className="muted">{proof.noAlarm}</p>
      ) : isPending || alarm === undefined ? (
        failure === null ? (
          <Loading rows={2} />
        ) : null
      ) : (
        <>
          <p className="row wrap">
            <Link to="/alarms" search={{ alarm: alarm.alarmID }} className="plain-link">
              <AlarmBadge alarm={alarm} />
            </Link>
            <span>{alarms.states[alarm.alarmState]}</span>
            <span className="muted">{alarm.owner}</span>
            <span className="faint push">{proof.activity({ count: alarm.activity.length })}</span>
          </p>
          {alarm.count > 1 ? <p className="muted">{proof.together({ count: alarm.count })}</p> : null}
          <Deliveries deliveries={alarm.deliveries} />
          {role === 'viewer' && alarm.deliveries.length > 0 ? (
            <p className="muted">{words.deliveries.viewer}</p>
          ) : null}
        </>
      )}
    </section>
  );
}

function Facts({ record }: { readonly record: Record }) {
  const words = useWords(tabWords);
  const { events: texts, vehicle } = words;
  const number = eventNumber(record.eventID);
  return (
    <dl className="pairs">
      <dt>{texts.boot}</dt>
      <dd className="mono">{number?.boot ?? record.eventID}</dd>
      <dt>{texts.sequence}</dt>
      <dd className="mono">{number?.seq ?? words.common.unknown}</dd>
      <dt>{texts.vehicleTime}</dt>
      <dd>
        <Time at={record.timestamp} />
      </dd>
      <dt>{texts.storedTime}</dt>
      <dd>
        <Time at={record.creationTime} />{' '}
        <span className="age">
          {texts.later({ span: spanText(record.creationTime - record.timestamp, words) })}
        </span>
      </dd>
      <dt>{vehicle.position}</dt>
      <dd>
        {record.isPositionValid ? (
          <Place latitude={record.latitude} longitude={record.longitude} />
        ) : (
          vehicle.noPosition
        )}
      </dd>
      <Reading record={record} />
      {record.geozoneID === '' ? null : (
        <>
          <dt>{texts.zone}</dt>
          <dd>{record.geozoneDisplayName || record.geozoneID}</dd>
        </>
      )}
      {record.commandID === null ? null : (
        <>
          <dt>{texts.command}</dt>
          <dd>
            <Link
              to="/vehicle/$deviceID"
              params={{ deviceID: record.deviceID }}
              search={{ tab: 'commands', command: record.commandID }}
              className="mono"
            >
              {record.commandID}
            </Link>
          </dd>
        </>
      )}
    </dl>
  );
}

export function Proof({ record }: { readonly record: Record | undefined }) {
  const words = useWords(tabWords);
  const { events: texts } = words;
  if (record === undefined)
    return (
      <aside className="card not-narrow" aria-label={texts.proof}>
        <Empty icon="table" title={texts.pick} />
      </aside>
    );
  return (
    <aside className="card" aria-labelledby="proof-title">
      <header>
        <h2 id="proof-title">{texts.proof}</h2>
        <CopyButton key={record.eventID} record={record} />
      </header>
      <div className="card-body stack">
        <div>
          <Badge icon={iconOf(record.statusCode, 'activity')}>{codeText(record.statusCode, words)}</Badge>
        </div>
        <Facts record={record} />
        <Neighbours record={record} />
        <Delivered record={record} />
      </div>
    </aside>
  );
}
