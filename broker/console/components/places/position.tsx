// Where a vehicle is, in words.
import type { Vehicle } from '../../state/fleet.ts';
import { useWords } from '../use.ts';
import { Place } from './place.tsx';
import { useZoneName } from './use-zones.ts';

interface PositionProps {
  readonly vehicle: Vehicle;
  /** Its zone is shown nowhere else. */
  readonly hasZone?: boolean;
  /** Without the coordinates, where there is no room for them. */
  readonly isShort?: boolean;
}

/** Its address, else its zone where that is shown nowhere else, else its last fix in words. */
export function Position({ vehicle, hasZone = false, isShort = false }: PositionProps) {
  const { vehicle: words } = useWords();
  const zoneName = useZoneName();
  const { address, zone, place } = vehicle;
  if (address !== '') return <bdi>{address}</bdi>;
  if (hasZone && zone !== '') return <bdi>{zoneName(zone)}</bdi>;
  return place === null ? (
    words.noPosition
  ) : (
    <Place latitude={place[1]} longitude={place[0]} isShort={isShort} />
  );
}
