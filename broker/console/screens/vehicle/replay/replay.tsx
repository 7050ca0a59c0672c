// A period of a vehicle under one cursor: map, speed, fuel, ignition and alarms, and what was known at that moment.

import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState } from 'react';
import { tabWords } from '../../../../../build/words/tab.ts';
import { failureText } from '../../../components/failure.ts';
import { Place } from '../../../components/places/place.tsx';
import { lineOf, Plot, type PlotBand, type PlotCursor } from '../../../components/plot.tsx';
import {
  amountOf,
  Badge,
  codeText,
  Empty,
  Fact,
  iconOf,
  Notice,
  spanText,
  Time,
} from '../../../components/texts.tsx';
import { useValue, useWords } from '../../../components/use.ts';
import { Known } from '../../../components/view.tsx';
import { readTrack, type TrackPeriod } from '../../../service/track.ts';
import { shownTheme } from '../../../shell/theme.ts';
import {
  alarmStretchesOf,
  gapsOf,
  ignitionOf,
  lastAt,
  momentAt,
  occurrencesOf,
  plotOf,
  type ReplayTrack,
  type TrackRecord,
} from '../../../state/replay.ts';
import type { Value } from '../../../state/value.ts';
import { ReplayMap } from './replay-map.tsx';
import { Transport } from './transport.tsx';
import { useReplay } from './use-replay.ts';

interface MomentProps {
  readonly deviceID: string;
  readonly track: ReplayTrack;
  readonly occurrences: readonly TrackRecord[];
  readonly time: Value<number>;
}

/** What was known at the moment of the cursor, in words. */
function Moment({ deviceID, track, occurrences, time }: MomentProps) {
  const words = useWords(tabWords);
  const { vehicle, replay, units, common } = words;
  const timeS = Math.round(useValue(time));
  const { place, speed, fuel, ignition, fixS, isMissing } = momentAt(track, timeS);
  const last = occurrences[lastAt(occurrences, timeS)];
  const age = fixS === 0 ? replay.noFix : replay.before({ span: spanText(timeS - fixS, words) });
  return (
    <aside className="card" aria-labelledby="moment-title">
      <header>
        <h2 id="moment-title">{replay.atMoment}</h2>
        <span className="push">
          <Time at={timeS} />
        </span>
      </header>
      <div className="card-body stack">
        {isMissing && fixS > 0 ? (
          <Notice
            tone="look"
            icon="circle-help"
            title={replay.missing({ span: spanText(timeS - fixS, words) })}
          />
        ) : null}
        <dl className="facts">
          <Fact
            isBig
            name={vehicle.speed}
            {...(speed === null ? { value: null } : amountOf(speed, 'kmh', words))}
            age={age}
          />
          <Fact
            name={vehicle.fuel}
            value={fuel === null ? null : String(Math.round(fuel * 100))}
            unit={units.percent}
          />
          <Fact
            name={vehicle.ignition}
            value={ignition === null ? null : ignition ? common.on : common.off}
          />
          <Fact
            name={vehicle.position}
            value={place === null ? null : <Place latitude={place[1]} longitude={place[0]} />}
            age={age}
          />
        </dl>
        <h3>{replay.lastEvent}</h3>
        {last === undefined ? (
          <p className="muted">{common.none}</p>
        ) : (
          <p className="row wrap">
            <Link
              className="plain-link"
              to="/vehicle/$deviceID"
              params={{ deviceID }}
              search={{ tab: 'events', kind: 'changes', event: last.eventID, from: last.timestamp }}
            >
              <Badge icon={iconOf(last.statusCode, 'activity')}>{codeText(last.statusCode, words)}</Badge>
            </Link>
            <span className="faint">
              <Time at={last.timestamp} />
            </span>
          </p>
        )}
      </div>
    </aside>
  );
}

function useBands(track: ReplayTrack): readonly PlotBand[] {
  const words = useWords(tabWords);
  return useMemo(() => {
    const gaps = gapsOf(track).map(({ fromS, toS, reason }) => ({
      kind: 'gap' as const,
      fromS,
      toS,
      text: words.replay.gap({ span: spanText(toS - fromS, words), reason: words.replay.reasons[reason] }),
    }));
    const ignition = ignitionOf(track).map((one) => ({ kind: 'ignition' as const, ...one }));
    const alarms = alarmStretchesOf(track).map((one) => ({ kind: 'alarm' as const, ...one }));
    return [...gaps, ...ignition, ...alarms];
  }, [track, words]);
}

/** What the colours and forms of the plot mean. */
function PlotKey({ hasFuel, hasLate, gaps }: PlotKeyProps) {
  const words = useWords(tabWords);
  const { replay } = words;
  return (
    <div className="row wrap plot-key">
      <span className="key speed">{`${replay.speed}, ${amountOf(0, 'kmh', words).unit}`}</span>
      {hasFuel ? <span className="key fuel">{replay.fuel}</span> : null}
      <span className="key ignition">{replay.ignition}</span>
      <span className="key alarm">{replay.alarm}</span>
      {hasLate ? <span>{replay.late}</span> : null}
      {gaps.length > 0 ? <span>{replay.hatched}</span> : null}
    </div>
  );
}

interface PlotKeyProps {
  readonly hasFuel: boolean;
  readonly hasLate: boolean;
  readonly gaps: readonly PlotBand[];
}

interface LoadedProps {
  /** As the address has it, and from the first record to the last. */
  readonly asked: { readonly fromS: number; readonly toS: number };
  readonly period: TrackPeriod;
  readonly track: ReplayTrack;
  readonly startS: number | null;
  /** By a link of the list, not the newest trip by itself. */
  readonly isChosen: boolean;
}

function useShownPlot(track: ReplayTrack, { time, seek }: PlotCursor) {
  const words = useWords(tabWords);
  const { replay, units } = words;
  const bands = useBands(track);
  return useMemo(() => {
    const { times, speeds, lateSpeeds, fuels } = plotOf(track);
    const hasFuel = fuels.some((fuel) => typeof fuel === 'number');
    const hasLate = lateSpeeds.some((speed) => typeof speed === 'number');
    const speed = { name: replay.speed, colour: 'plot-1' } as const;
    const fuel = {
      name: replay.fuel,
      unit: units.percent,
      colour: 'plot-2',
      values: fuels,
      most: 100,
    } as const;
    return {
      hasFuel,
      hasLate,
      gaps: bands.filter(({ kind }) => kind === 'gap'),
      plot: {
        times,
        series: [
          { ...speed, ...lineOf(speeds, 'kmh', words) },
          { ...speed, ...lineOf(lateSpeeds, 'kmh', words), isDotted: true },
          ...(hasFuel ? [fuel] : []),
        ],
        bands,
        label: replay.plot,
        cursor: { time, seek },
      },
    };
  }, [track, bands, words, replay, units, time, seek]);
}

/** Takes the focus on from the link that chose the replay: the page begins at its top again, and the link is out of sight. */
function useChosenFocus(isChosen: boolean) {
  const section = useRef<HTMLElement>(null);
  const [wasChosen] = useState(isChosen);
  useEffect(() => {
    if (wasChosen && document.activeElement?.closest('[aria-labelledby="trips-title"]') != null)
      section.current?.focus();
  }, [wasChosen]);
  return section;
}

function Loaded({ asked, period, track, startS, isChosen }: LoadedProps) {
  const { replay } = useWords(tabWords);
  const navigate = useNavigate({ from: '/vehicle/$deviceID' });
  const [isFollowed, setFollowed] = useState(true);
  const gaps = useMemo(() => gapsOf(track), [track]);
  const occurrences = useMemo(() => occurrencesOf(track), [track]);
  const { fromS, toS } = period;
  const clock = useReplay({
    fromS,
    toS,
    startS,
    gaps,
    // The period as well: the newest trip may be another one when the address is opened.
    onRest: (time) =>
      void navigate({
        search: (before) => ({
          ...before,
          from: asked.fromS,
          ...(asked.toS === 0 ? {} : { to: asked.toS }),
          time,
        }),
        replace: true,
      }),
  });
  const shown = useShownPlot(track, clock);
  const chosenTheme = useValue(shownTheme);
  const section = useChosenFocus(isChosen);
  return (
    <>
      <section className="card" aria-labelledby="replay-title" ref={section} tabIndex={-1}>
        <h2 className="hidden" id="replay-title">
          {replay.title}
        </h2>
        <ReplayMap track={track} time={clock.time} isFollowed={isFollowed} />
        <Transport
          clock={clock}
          period={period}
          occurrences={occurrences}
          isFollowed={isFollowed}
          onFollow={setFollowed}
        />
        <Plot {...shown.plot} theme={chosenTheme} />
        <PlotKey hasFuel={shown.hasFuel} hasLate={shown.hasLate} gaps={shown.gaps} />
      </section>
      <Moment deviceID={period.deviceID} track={track} occurrences={occurrences} time={clock.time} />
    </>
  );
}

interface ReplayProps {
  readonly deviceID: string;
  /** Epoch seconds; `toS` 0: now. */
  readonly fromS: number;
  readonly toS: number;
  readonly startS: number | null;
  /** By a link of the list, not the newest trip by itself. */
  readonly isChosen: boolean;
}

/** Two cards of the page's grid: the replay, and the moment. */
export function Replay({ deviceID, fromS, toS, startS, isChosen }: ReplayProps) {
  const words = useWords(tabWords);
  const {
    data: track,
    error,
    dataUpdatedAt,
  } = useQuery({
    queryKey: ['replay', deviceID, fromS, toS],
    queryFn: ({ signal }) => readTrack({ deviceID, fromS, toS }, signal),
    staleTime: toS === 0 ? 0 : 60_000,
    refetchOnWindowFocus: false,
  });
  const failure = error === null ? null : failureText(error, words);
  const [first, last] = [track?.records[0], track?.records.at(-1)];
  if (track === undefined || first === undefined || last === undefined || track.fixes.length < 2)
    return (
      <section className="card whole-row" aria-label={words.replay.title}>
        {failure !== null ? (
          <Notice tone="look" icon="triangle-alert" role="alert" title={failure.title}>
            {failure.hint}
          </Notice>
        ) : (
          <Known readMs={dataUpdatedAt} isDated>
            <Empty icon="map" title={words.replay.empty}>
              <p>{words.replay.emptyHint}</p>
            </Empty>
          </Known>
        )}
      </section>
    );
  const period = { deviceID, fromS: first.timestamp, toS: last.timestamp };
  return (
    <Loaded
      key={`${fromS} ${toS}`}
      asked={{ fromS, toS }}
      period={period}
      track={track}
      startS={startS ?? track.fixes[0]?.timestamp ?? null}
      isChosen={isChosen}
    />
  );
}
