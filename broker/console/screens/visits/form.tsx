// What is asked: a place by coordinates, by a zone's name or on the map, a radius, and a time in the reader's zone.
import { useSearch } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { Button } from 'react-aria-components';
import { visitWords } from '../../../../build/words/visit.ts';
import type { Point } from '../../../../src/core/geo/geo.ts';
import { Icon } from '../../components/icon.tsx';
import { usePut } from '../../components/patterns/address.tsx';
import { useZones } from '../../components/places/use-zones.ts';
import { amountText, lengthText } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import {
  clockOf,
  minuteChoices,
  momentOfFields,
  radiusChoices,
  visitMembers,
  withChosen,
} from '../../state/visits/visit-view.ts';
import { parsePoint } from '../../state/zones/zone-address.ts';
import { pointText } from '../../state/zones/zone-draft.ts';
import { pointsOf } from '../../state/zones/zone-geometry.ts';
import { zoneName } from '../../state/zones/zone-name.ts';
import { shownZone } from '../../words/measures.ts';

interface FormProps {
  /** Null without a map. */
  readonly middle: (() => Point) | null;
  /** The same question is asked once more. */
  onAgain(): void;
}

function textOf(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === 'string' ? value : '';
}

/** The place of a text: coordinates, or the first point of a zone of that name. */
function usePlaceOf(): (text: string) => Point | null {
  const zones = useZones();
  return (text) => {
    const zone = zones.find((one) => zoneName(one).toLowerCase() === text.trim().toLowerCase());
    return parsePoint(text) ?? (zone === undefined ? null : (pointsOf(zone)[0] ?? null));
  };
}

interface ExtentProps {
  readonly radius: number;
  readonly minutes: number;
  readonly from: number;
}

function Extent({ radius, minutes, from }: ExtentProps) {
  const words = useWords(visitWords);
  const { visits: texts } = words;
  const clock = clockOf(from, shownZone());
  return (
    <div className="row wrap">
      <label className="row">
        <span className="muted">{texts.radius}</span>
        <select className="input" name="radius" defaultValue={radius}>
          {withChosen(radiusChoices, radius).map((one) => (
            <option key={one} value={one}>
              {amountText(one, 'm', words)}
            </option>
          ))}
        </select>
      </label>
      <label className="row">
        <span className="muted">{texts.date}</span>
        <input type="date" className="input date" name="date" required defaultValue={clock.date} />
      </label>
      <label className="row">
        <span className="muted">{texts.time}</span>
        <input type="time" className="input" name="time" required defaultValue={clock.time} />
      </label>
      <label className="row">
        <span className="muted">{texts.length}</span>
        <select className="input" name="minutes" defaultValue={minutes}>
          {withChosen(minuteChoices, minutes).map((one) => (
            <option key={one} value={one}>
              {lengthText(one * 60, words)}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}

export function VisitForm({ middle, onAgain }: FormProps) {
  const { visits: texts } = useWords(visitWords);
  const put = usePut();
  const search = useSearch({ from: '/shell/visits' });
  const zones = useZones();
  const placeOf = usePlaceOf();
  const [isWrong, setWrong] = useState(false);
  const { place = '' } = search;
  const { radius, from, minutes } = visitMembers(search, Date.now() / 1000);
  const zone = shownZone();
  const apply = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const to = placeOf(textOf(form, 'place'));
    const moment = momentOfFields(textOf(form, 'date'), textOf(form, 'time'), zone);
    setWrong(to === null);
    if (to === null || moment === null) return;
    const next = {
      place: pointText(to),
      radius: Number(textOf(form, 'radius')),
      // A time that has seconds keeps them while its fields are not changed.
      from: moment === Math.floor(from / 60) * 60 ? from : moment,
      minutes: Number(textOf(form, 'minutes')),
    };
    const isSame = place === next.place && search.radius === next.radius && search.from === next.from;
    if (isSame && search.minutes === next.minutes) onAgain();
    else put({ ...next, vehicle: undefined });
  };
  return (
    // Another address is another form: its fields show what is asked for.
    <form
      key={JSON.stringify([place, radius, from, minutes])}
      className="stack"
      role="search"
      onSubmit={apply}
    >
      <label className="field">
        {texts.place}
        <input
          className="input"
          name="place"
          dir="ltr"
          defaultValue={place.replace(',', ', ')}
          list="visit-zones"
          maxLength={200}
          required
          autoComplete="off"
          aria-invalid={isWrong}
          aria-describedby="visit-place"
        />
      </label>
      <datalist id="visit-zones">
        {zones.map((one) => (
          <option key={one.geozoneID} value={zoneName(one)} />
        ))}
      </datalist>
      <p id="visit-place" className={isWrong ? 'look' : 'hint'} {...(isWrong ? { role: 'alert' } : {})}>
        {isWrong ? texts.noPlace : texts.placeHint}
      </p>
      {middle === null ? null : (
        <Button
          className="button small secondary"
          onPress={() =>
            put({
              ...visitMembers(search, Date.now() / 1000),
              place: pointText(middle()),
              vehicle: undefined,
            })
          }
        >
          {texts.middle}
        </Button>
      )}
      <Extent radius={radius} minutes={minutes} from={from} />
      <button type="submit" className="button primary">
        <Icon name="search" />
        {texts.ask}
      </button>
    </form>
  );
}
