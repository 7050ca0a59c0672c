// The events of a vehicle: speed as a plot, the table, and the proof of one event.

import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { Button } from 'react-aria-components';
import { tabWords } from '../../../../build/words/tab.ts';
import type { Device } from '../../api/operations.ts';
import { Chips } from '../../components/chips.tsx';
import { failureText } from '../../components/failure.ts';
import { Icon } from '../../components/icon.tsx';
import { lineOf, Plot } from '../../components/plot.tsx';
import {
  amountText,
  Badge,
  codeText,
  Empty,
  iconOf,
  Notice,
  spanText,
  Time,
} from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { Known } from '../../components/view.tsx';
import { call } from '../../service/call.ts';
import { shownTheme } from '../../shell/theme.ts';
import { eventNumber, matchesKind } from '../../state/vehicle/event-view.ts';
import {
  type EventKind,
  eventKinds,
  type Range,
  rangeOf,
  rangeS,
  ranges,
} from '../../state/vehicle/vehicle-view.ts';
import type { WordsWith } from '../../words/word-set.ts';
import { Proof, type Record } from './proof.tsx';
import { useOwnEvents } from './use-own-events.ts';

/** Rows in the document; the newest of the period. */
const rowsMost = 300;
const pointsMost = '5000';
/** A longer time without a position breaks the line of the plot, s. */
const gapS = 600;

function useRecords(deviceID: string, range: Range) {
  return useQuery({
    queryKey: ['events', deviceID, range],
    queryFn: async ({ signal }) => {
      const startTime = String(Math.floor(Date.now() / 1000) - rangeS[range]);
      const { eventdata } = await call('deviceDataRange', {
        params: { deviceID, startTime, endTime: '0' },
        query: { points: pointsMost },
        signal,
      });
      // Without `fields` every member is there.
      return eventdata.devices as readonly Record[];
    },
    refetchInterval: 30_000,
  });
}

function Choices({ range, kind }: { readonly range: Range; readonly kind: EventKind }) {
  const { events: texts } = useWords(tabWords);
  const navigate = useNavigate({ from: '/vehicle/$deviceID' });
  return (
    <>
      <Chips
        label={texts.range}
        values={ranges}
        chosen={range}
        content={(one) => texts.ranges[one]}
        onChoose={(one) => void navigate({ search: (before) => ({ ...before, range: one }), replace: true })}
      />
      <Chips
        label={texts.kinds}
        values={eventKinds}
        chosen={kind}
        content={(one) => texts.kind[one]}
        onChoose={(one) => void navigate({ search: (before) => ({ ...before, kind: one }), replace: true })}
      />
    </>
  );
}

function valueText(record: Record, words: WordsWith<[typeof tabWords]>): string {
  const { events } = words;
  const parts = [
    record.commandState ?? '',
    record.geozoneDisplayName || record.geozoneID,
    record.isPositionValid && record.speed !== null ? amountText(record.speed, 'kmh', words, 1) : '',
    record.isPositionValid && record.heading !== null && record.speed !== 0
      ? events.heading({ degrees: record.heading })
      : '',
  ];
  return parts.filter((part) => part !== '').join(' · ');
}

function EventRow({ record, isSelected }: { readonly record: Record; readonly isSelected: boolean }) {
  const words = useWords(tabWords);
  const { events: texts } = words;
  const number = eventNumber(record.eventID);
  const isAlarm = matchesKind(record.statusCode, 'alarms');
  return (
    <tr data-selected={isSelected}>
      <td className="nowrap">
        <Time at={record.timestamp} />
      </td>
      <td className="nowrap" data-label={texts.stored}>
        {texts.later({ span: spanText(record.creationTime - record.timestamp, words) })}
      </td>
      <td>
        <Link
          className="plain-link"
          from="/vehicle/$deviceID"
          to="/vehicle/$deviceID"
          params={{ deviceID: record.deviceID }}
          search={(before) => ({ ...before, event: record.eventID })}
          replace
        >
          <Badge
            icon={iconOf(record.statusCode, isAlarm ? 'circle-alert' : 'activity')}
            {...(isAlarm ? { tone: 'look' as const } : {})}
          >
            {codeText(record.statusCode, words)}
          </Badge>
        </Link>
      </td>
      <td data-label={texts.value}>{valueText(record, words)}</td>
      <td className="num mono" data-label={texts.number}>
        <bdi>{number === null ? record.eventID : `${number.boot.slice(0, 6)} : ${number.seq}`}</bdi>
      </td>
    </tr>
  );
}

function EventTable({
  records,
  selected,
}: {
  readonly records: readonly Record[];
  readonly selected: string | null;
}) {
  const { events: texts } = useWords(tabWords);
  return (
    <div className="scroll">
      <table className="table folds events">
        <caption className="hidden">{texts.title}</caption>
        <thead>
          <tr>
            <th scope="col">{texts.time}</th>
            <th scope="col">{texts.stored}</th>
            <th scope="col">{texts.event}</th>
            <th scope="col">{texts.value}</th>
            <th scope="col" className="num">
              {texts.number}
            </th>
          </tr>
        </thead>
        <tbody>
          {records.slice(0, rowsMost).map((record) => (
            <EventRow key={record.eventID} record={record} isSelected={record.eventID === selected} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function SpeedPlot({ records }: { readonly records: readonly Record[] }) {
  const words = useWords(tabWords);
  const { events: texts } = words;
  const chosenTheme = useValue(shownTheme);
  const { times, values } = useMemo(() => {
    const times: number[] = [];
    const values: (number | null)[] = [];
    for (const { timestamp, speed, isPositionValid } of records) {
      const last = times.at(-1);
      if (!isPositionValid || (last !== undefined && timestamp <= last)) continue;
      if (last !== undefined && timestamp - last > gapS) {
        times.push(last + 1);
        values.push(null);
      }
      times.push(timestamp);
      values.push(speed);
    }
    return { times, values };
  }, [records]);
  const props = useMemo(
    () => ({
      times,
      series: [{ ...lineOf(values, 'kmh', words), name: texts.plot, colour: 'plot-1' as const }],
      label: texts.plot,
    }),
    [times, values, words, texts],
  );
  return times.length < 2 ? null : <Plot {...props} theme={chosenTheme} />;
}

export function VehicleEvents({ device }: { readonly device: Device }) {
  const words = useWords(tabWords);
  const { events: texts } = words;
  const search = useSearch({ from: '/shell/vehicle/$deviceID' });
  const { kind = 'changes', event = null, from } = search;
  const [openedS] = useState(() => Date.now() / 1000);
  const range = rangeOf(search.range, from, openedS);
  const { data, error, dataUpdatedAt, refetch } = useRecords(device.deviceID, range);
  useOwnEvents(device.deviceID, refetch);
  const shown = useMemo(
    () => (data ?? []).filter(({ statusCode }) => matchesKind(statusCode, kind)).toReversed(),
    [data, kind],
  );
  const selected = data?.find(({ eventID }) => eventID === event);
  const failure = error === null ? null : failureText(error, words);
  const [isWide, setWide] = useState(true);
  return (
    <div className="split">
      <section className="card" aria-labelledby="events-title">
        <header className="wrap">
          <h2 id="events-title">{texts.title}</h2>
          <span className="muted">
            {data === undefined
              ? ''
              : texts.count({ shown: Math.min(shown.length, rowsMost), all: data.length })}
          </span>
          <Choices range={range} kind={kind} />
          <Button
            className="button square small push"
            aria-label={texts.plot}
            aria-pressed={isWide}
            onPress={() => setWide(!isWide)}
          >
            <Icon name="activity" />
          </Button>
        </header>
        {failure === null ? null : (
          <Notice tone="look" icon="triangle-alert" role="alert" title={failure.title}>
            {failure.hint}
          </Notice>
        )}
        {data !== undefined && isWide ? <SpeedPlot records={data} /> : null}
        {shown.length === 0 ? (
          <Known readMs={dataUpdatedAt} error={error}>
            <Empty icon="table" title={texts.empty}>
              <p>{texts.emptyHint}</p>
            </Empty>
          </Known>
        ) : (
          <EventTable records={shown} selected={event} />
        )}
      </section>
      <Proof record={selected} />
    </div>
  );
}
