// The list of vehicles, worst first: the same content as the map. Only rows in sight are in the document.
import { Link } from '@tanstack/react-router';
import { type KeyboardEvent } from 'react';
import { mapWords } from '../../../../build/words/map.ts';
import { Mark } from '../../components/mark.tsx';
import { VirtualList } from '../../components/rows/virtual-list.tsx';
import { Age, codeText, numberText } from '../../components/texts.tsx';
import { useNow, useWords } from '../../components/use.ts';
import { severityOf, stateNameOf, stateOf, type Vehicle } from '../../state/fleet.ts';

/** A position is old after this, s: moving vehicles report every few seconds, standing ones every few minutes. */
const lateS = 600;

function Row({ vehicle, isSelected }: { readonly vehicle: Vehicle; readonly isSelected: boolean }) {
  const words = useWords();
  const now = useNow();
  const severity = severityOf(vehicle);
  const state = stateOf(vehicle);
  const speed = vehicle.place === null ? null : vehicle.speed;
  const isLate = state === 'offline' || state === 'doubtful' || now - vehicle.heartbeatS > lateS;
  const place = [vehicle.address || vehicle.zone, vehicle.driver].filter((text) => text !== '').join(' · ');
  return (
    <Link
      className="vehicle"
      to="/live"
      search={(before) => ({ ...before, vehicle: vehicle.id })}
      {...(isSelected ? { 'aria-current': true as const } : {})}
    >
      <Mark vehicle={vehicle} />
      <span className="name cut-off">
        {vehicle.name}
        <span className="hidden">, {words.state[stateNameOf(vehicle)]}</span>
      </span>
      <span className="speed">
        <bdi>
          {speed === null ? words.common.unknown : numberText(speed, 1)}
          {speed === null ? null : <span className="unit"> {words.units.kmh}</span>}
        </bdi>
      </span>
      <span className="line cut-off">
        {vehicle.alarm === null ? null : (
          <>
            <span className={severity === 'look' ? 'look strong' : 'act strong'}>
              {codeText(vehicle.alarm.statusCode, words)}
            </span>
            {place === '' ? '' : ' · '}
          </>
        )}
        {vehicle.alarm === null && place === '' ? words.state[stateNameOf(vehicle)] : place}
      </span>
      <span className={isLate ? 'age late' : 'age'}>
        <Age at={vehicle.heartbeatS} isBare />
        <span className="hidden"> {words.age.old}</span>
      </span>
    </Link>
  );
}

/** Arrow keys go from row to row. */
function moveFocus(event: KeyboardEvent<HTMLDivElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined || !(event.target instanceof HTMLElement)) return;
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>('a.vehicle')].toSorted(
    (one, other) =>
      Number(one.closest('li')?.dataset['index']) - Number(other.closest('li')?.dataset['index']),
  );
  const next = rows[rows.indexOf(event.target) + step];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
  next.scrollIntoView({ block: 'nearest' });
}

export function VehicleList({
  vehicles,
  selected,
}: {
  readonly vehicles: readonly Vehicle[];
  readonly selected: string | null;
}) {
  const { live } = useWords(mapWords);
  // Asked once and not for each row, and rows have no keys here: the list of a large fleet changes four times a second.
  const rowPx = matchMedia('(pointer: coarse), (max-width: 720px)').matches ? 56 : 44;
  return (
    <VirtualList
      items={vehicles}
      rowPx={rowPx}
      frame={{ className: 'list', onKeyDown: moveFocus }}
      label={live.list}
      keyOf={({ id }) => id}
      row={(vehicle) => <Row vehicle={vehicle} isSelected={vehicle.id === selected} />}
    />
  );
}
