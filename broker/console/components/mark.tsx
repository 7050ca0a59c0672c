// The mark of a vehicle, as list and map show it: form by state, ring by alarm.
import { severityOf, stateOf, type Vehicle } from '../state/fleet.ts';

const arrow = 'M0,-10 L7,8 L0,4.200 L-7,8 Z';

function Shape({ vehicle }: { readonly vehicle: Vehicle }) {
  const edge = { stroke: 'var(--mark-edge)', strokeWidth: 1.8 };
  switch (stateOf(vehicle)) {
    case 'moving':
      return (
        <path
          d={arrow}
          transform={`rotate(${vehicle.heading ?? 0})`}
          fill="var(--mark-moving)"
          strokeLinejoin="round"
          paintOrder="stroke"
          {...edge}
        />
      );
    case 'standing':
      return <rect x="-6" y="-6" width="12" height="12" rx="3" fill="var(--mark-standing)" {...edge} />;
    case 'offline':
      return <circle r="6" fill="none" stroke="var(--mark-standing)" strokeWidth="2.500" />;
    case 'doubtful':
      return (
        <circle r="7" fill="var(--look-soft)" stroke="var(--look)" strokeWidth="2" strokeDasharray="2 2" />
      );
  }
}

function Ring({ vehicle }: { readonly vehicle: Vehicle }) {
  switch (severityOf(vehicle)) {
    case 'act':
      return (
        <circle
          r="14.500"
          fill="var(--act-fill)"
          fillOpacity=".14"
          stroke="var(--act-fill)"
          strokeWidth="3"
        />
      );
    case 'act-taken':
      return <circle r="13.500" fill="none" stroke="var(--act-fill)" strokeWidth="2" />;
    case 'look':
      return <circle r="13.500" fill="none" stroke="var(--look)" strokeWidth="2" strokeDasharray="4 3" />;
    case 'none':
      return null;
  }
}

export function Mark({ vehicle }: { readonly vehicle: Vehicle }) {
  return (
    <svg className="mark" viewBox="-16 -16 32 32" aria-hidden="true">
      <Ring vehicle={vehicle} />
      <Shape vehicle={vehicle} />
    </svg>
  );
}
