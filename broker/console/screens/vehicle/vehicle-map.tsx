// The map on the page of a vehicle: where it is, its way of the last hours, and the zones around it.
import { useMemo } from 'react';
import { hourS } from '../../../../src/core/durations.ts';
import { MapPane } from '../../components/places/map-pane.tsx';
import type { Vehicle } from '../../state/fleet.ts';

const wayS = 4 * hourS;

const ignore = (): void => undefined;

export function VehicleMap({ vehicle }: { readonly vehicle: Vehicle }) {
  const vehicles = useMemo(() => [vehicle], [vehicle]);
  return (
    <MapPane
      vehicles={vehicles}
      selected={vehicle.id}
      place={null}
      wayS={wayS}
      hasLegend={false}
      onSelect={ignore}
      onSeveral={ignore}
      onMove={ignore}
    />
  );
}
