// Any of the vehicles of the fleet, found by name: of a report, a route or a rule.

import { useMemo, useState } from 'react';
import { reportWords } from '../../../build/words/report.ts';
import { vehicles } from '../service/live.ts';
import { matchesText, type Vehicle } from '../state/fleet.ts';
import { Checks } from './checks.tsx';
import { FindField } from './find-field.tsx';
import { useValue, useWords } from './use.ts';
import { Known, usePicture } from './view.tsx';

/** Vehicles in the list at once; a search finds the others. */
const choicesMost = 50;

const byName = (one: Vehicle, other: Vehicle): number => (one.name < other.name ? -1 : 1);

interface VehicleChoicesProps {
  readonly chosen: readonly string[];
  /** Vehicles that can be chosen. */
  readonly most: number;
  choose(ids: readonly string[]): void;
}

export function VehicleChoices({ chosen, most, choose }: VehicleChoicesProps) {
  const { reports: texts } = useWords(reportWords);
  const fleet = useValue(vehicles);
  const picture = usePicture('vehicles');
  const [find, setFind] = useState('');
  const sorted = useMemo(() => [...fleet.values()].toSorted(byName), [fleet]);
  const found = sorted.filter((vehicle) => matchesText(vehicle, find));
  const shown = found.slice(0, choicesMost);
  const ids = new Set(shown.map(({ id }) => id));
  // A vehicle that the search does not show stays chosen.
  const hidden = chosen.filter((id) => !ids.has(id));
  const moreText =
    found.length > shown.length ? texts.moreVehicles({ count: found.length - shown.length }) : undefined;
  return (
    <>
      <FindField label={texts.findVehicle} value={find} onChange={setFind} />
      {shown.length === 0 ? (
        <Known {...picture} isSmall>
          <p className="muted">{texts.noVehicle}</p>
        </Known>
      ) : (
        <Checks
          label={texts.vehicles}
          choices={shown.map(({ id, name }) => ({ value: id, text: name }))}
          chosen={chosen.filter((id) => ids.has(id))}
          hint={chosen.length >= most ? texts.most({ count: most }) : moreText}
          onChoose={(next) => choose([...hidden, ...next].slice(0, most))}
        />
      )}
    </>
  );
}
