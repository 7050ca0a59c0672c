// The screen "Who was here?": the question, the vehicles, and on the map the circle with their ways. All of it stands in the address.
import { Link, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo, useRef } from 'react';
import { Button } from 'react-aria-components';
import { mapWords } from '../../../../build/words/map.ts';
import { visitWords } from '../../../../build/words/visit.ts';
import type { Point } from '../../../../src/core/geo/geo.ts';
import { Icon } from '../../components/icon.tsx';
import { MapTools } from '../../components/map-tools.tsx';
import { usePut } from '../../components/patterns/address.tsx';
import { CopyLink } from '../../components/patterns/copy-link.tsx';
import { useWorstFirst } from '../../components/rows/use-worst-first.ts';
import { amountText, Empty, momentText, timeText } from '../../components/texts.tsx';
import { useTitle, useValue, useWords } from '../../components/use.ts';
import { useFleetMap } from '../../components/use-fleet-map.ts';
import { View } from '../../components/view.tsx';
import { vehicles } from '../../service/live.ts';
import { shownTheme } from '../../shell/theme.ts';
import { parsePlace, placeText } from '../../state/map-place.ts';
import { without } from '../../state/search.ts';
import { questionOf, type VisitQuestion, visitMembers } from '../../state/visits/visit-view.ts';
import { pointText } from '../../state/zones/zone-draft.ts';
import { isInMiles } from '../../words/measures.ts';
import { VisitForm } from './form.tsx';
import { useVisits, useWays, type Visit, waysMost } from './use-visits.ts';

/** Zoom at which a circle of 200 m is seen with the streets about it. */
const zoom = 15;

function Row({ visit, isSelected }: { readonly visit: Visit; readonly isSelected: boolean }) {
  const words = useWords(visitWords);
  const { visits: texts } = words;
  const fleet = useValue(vehicles);
  const { deviceID, firstTimestamp, lastTimestamp, nearestDistance, positions } = visit;
  const [first, last] = [momentText(firstTimestamp, 'time'), momentText(lastTimestamp, 'time')];
  return (
    <>
      <Link
        className="vehicle"
        to="/visits"
        from="/visits"
        search={(before) => (isSelected ? without(before, 'vehicle') : { ...before, vehicle: deviceID })}
        {...(isSelected ? { 'aria-current': true as const } : {})}
      >
        <Icon name="truck" />
        <span className="name cut-off">{fleet.get(deviceID)?.name ?? deviceID}</span>
        <span className="speed">
          <bdi>{first === last ? first : texts.span({ first, last })}</bdi>
        </span>
        <span className="line">
          {positions === 0 ? texts.crossed : texts.positions({ count: positions })}
        </span>
        <span className="age">{texts.nearest({ distance: amountText(nearestDistance, 'm', words) })}</span>
      </Link>
      {isSelected ? (
        <p className="row wrap visit-links">
          <Link to="/vehicle/$deviceID" params={{ deviceID }}>
            {words.vehicle.open}
          </Link>
        </p>
      ) : null}
    </>
  );
}

interface AnswerProps {
  readonly answer: ReturnType<typeof useVisits>;
  readonly selected: string | undefined;
}

function Answer({ answer, selected }: AnswerProps) {
  const { visits: texts } = useWords(visitWords);
  const { visits, readMs, error, hasMore, isBusy, readMore } = answer;
  const nothing =
    visits.length > 0 || hasMore ? null : (
      <Empty icon="search" title={texts.none}>
        <p>{texts.noneHint}</p>
      </Empty>
    );
  return (
    <View error={error} readMs={readMs} empty={nothing}>
      <p className="visit-links muted" role="status">
        {texts.found({ count: visits.length, time: timeText(readMs / 1000) })}
        {visits.length > waysMost && selected === undefined ? ` · ${texts.ways({ count: waysMost })}` : ''}
      </p>
      <ul className="list" aria-label={texts.list}>
        {visits.map((visit) => (
          <li key={visit.deviceID}>
            <Row visit={visit} isSelected={visit.deviceID === selected} />
          </li>
        ))}
        {hasMore ? (
          <li className="empty">
            {texts.more}{' '}
            <Button className="button small secondary" isDisabled={isBusy} onPress={readMore}>
              {texts.readMore}
            </Button>
          </li>
        ) : null}
      </ul>
    </View>
  );
}

/** The map: the circle and the ways; before a question the fleet, to find the place. */
function useVisitMap(question: VisitQuestion | null, ways: ReturnType<typeof useWays>) {
  const { visits: texts } = useWords(visitWords);
  const put = usePut();
  const search = useSearch({ from: '/shell/visits' });
  const { at, place } = search;
  const fleet = useWorstFirst();
  const first = question === null ? null : { ...question.place, zoom };
  const opened = useFleetMap(
    {
      place: parsePlace(at) ?? first,
      isInMiles: isInMiles(),
      onSelect: () => undefined,
      onSeveral: () => undefined,
      onMove: (to) => put({ at: placeText(to) }),
    },
    texts.map,
    useValue(shownTheme),
  );
  const { map } = opened;
  const pressed = useRef('');
  const set = useRef((_point: Point): void => undefined);
  set.current = (point) => {
    pressed.current = pointText(point);
    put((before) => ({
      ...visitMembers(before, Date.now() / 1000),
      place: pointText(point),
      vehicle: undefined,
    }));
  };
  const circle = useMemo(
    () =>
      question === null ? null : { type: 0 as const, radiusM: question.radiusM, points: [question.place] },
    [question],
  );
  // Where the fleet is now says nothing of that time.
  useEffect(() => map?.show(circle === null ? fleet : [], null), [map, circle, fleet]);
  useEffect(() => map?.showDraft(circle), [map, circle]);
  useEffect(() => map?.showTrack(ways), [map, ways]);
  const wentTo = useRef(parsePlace(at) === null ? undefined : place);
  useEffect(() => {
    if (map === null || place === wentTo.current) return;
    // A place that was pressed is in sight.
    if (place !== undefined && place !== pressed.current) map.fitDraft();
    wentTo.current = place;
  }, [map, place]);
  useEffect(() => {
    if (map === null) return undefined;
    const take = (point: Point): void => set.current(point);
    void map.draw({ onAdd: take, onMove: (_at, point) => take(point), onUndo: () => undefined });
    return () => void map.draw(null);
  }, [map]);
  return opened;
}

/** The question of the address; another object only where it is another one. */
function useQuestion(): VisitQuestion | null {
  const { place, radius, from, minutes } = useSearch({ from: '/shell/visits' });
  return useMemo(() => questionOf({ place, radius, from, minutes }), [place, radius, from, minutes]);
}

export function VisitsScreen() {
  const { pages, visits: texts, live } = useWords(visitWords, mapWords);
  const search = useSearch({ from: '/shell/visits' });
  const { vehicle: selected } = search;
  const question = useQuestion();
  const answer = useVisits(question);
  const { visits } = answer;
  const shown = useMemo(
    () =>
      visits
        .filter(({ deviceID }) => selected === undefined || deviceID === selected)
        .slice(0, waysMost)
        .map(({ deviceID }) => deviceID),
    [visits, selected],
  );
  const { host, map, isImpossible } = useVisitMap(question, useWays(question, shown));
  useTitle(pages.visits.title);
  return (
    <main className="live alone" id="main">
      <h1 className="hidden">{pages.visits.title}</h1>
      <section className="vehicles" aria-labelledby="visits-title">
        <header>
          <div className="row">
            <h2 id="visits-title">{pages.visits.title}</h2>
            {question === null ? null : (
              <span className="push">
                <CopyLink isSmall to={{ to: '/visits', search }} what={pages.visits.title} />
              </span>
            )}
          </div>
          <VisitForm middle={map === null ? null : () => map.middle()} onAgain={answer.again} />
        </header>
        {question === null ? (
          <Empty icon="search" title={texts.first}>
            <p>{texts.firstHint}</p>
          </Empty>
        ) : (
          <Answer answer={answer} selected={selected} />
        )}
      </section>
      <div className="map">
        {isImpossible ? (
          <Empty icon="map" title={live.noWebgl} />
        ) : (
          <>
            <div className="map-host" ref={host} dir="ltr" />
            <MapTools
              map={map}
              fitText={question === null ? live.fit : texts.fit}
              onFit={() => (question === null ? map?.fit() : map?.fitDraft())}
            />
          </>
        )}
      </div>
    </main>
  );
}
