// The mark of a vehicle, as list and map show it: form by state, ring by alarm.

import {
  formOf,
  type MarkForm,
  type MarkLayer,
  markLayers,
  ringLayers,
  turnOf,
} from '../map/vehicles/mark-layers.ts';
import { severityOf, type Vehicle } from '../state/fleet.ts';

const colourOf = (name: string | undefined): string => (name === undefined ? 'none' : `var(--${name})`);

function Layers({ layers, turn = 0 }: { readonly layers: readonly MarkLayer[]; readonly turn?: number }) {
  return layers.map(({ path, fill, opacity = 1, stroke, width = 0, dash }, at) => (
    <path
      key={at}
      d={path}
      {...(turn === 0 ? {} : { transform: `rotate(${turn})` })}
      fill={colourOf(fill)}
      fillOpacity={opacity}
      stroke={colourOf(stroke)}
      strokeWidth={width}
      strokeLinejoin="round"
      paintOrder="stroke"
      {...(dash === undefined ? {} : { strokeDasharray: dash.join(' ') })}
    />
  ));
}

interface DrawnMarkProps {
  readonly form: MarkForm | null;
  readonly ring: keyof typeof ringLayers | 'none';
  readonly turn?: number;
}

/** A mark alone, as the legend explains it. */
export function DrawnMark({ form, ring, turn = 0 }: DrawnMarkProps) {
  return (
    <svg className="mark" viewBox="-16 -16 32 32" aria-hidden="true" data-form={form} data-ring={ring}>
      {ring === 'none' ? null : <Layers layers={ringLayers[ring]} />}
      {form === null ? null : <Layers layers={markLayers[form]} turn={form === 'moving' ? turn : 0} />}
    </svg>
  );
}

export function Mark({ vehicle }: { readonly vehicle: Vehicle }) {
  return <DrawnMark form={formOf(vehicle)} ring={severityOf(vehicle)} turn={turnOf(vehicle)} />;
}
