// The marks of vehicles as layers of paths, the one table of what list, map, replay and legend draw. Units: CSS pixels about the place, north up. Pure.
import { type Severity, stateOf, type Vehicle } from '../../state/fleet.ts';
import type { Colours } from './colour-names.ts';

/** A stroke lies below the fill of its layer, so that half of its width shows. */
export interface MarkLayer {
  readonly path: string;
  readonly fill?: keyof Colours;
  readonly opacity?: number;
  readonly stroke?: keyof Colours;
  readonly width?: number;
  readonly dash?: readonly [number, number];
}

/** `unheaded`: it moves, and its heading is not known; `unknown`: its speed is not. Neither has an arrow. */
export const markForms = ['moving', 'unheaded', 'standing', 'unknown', 'offline', 'doubtful'] as const;
export type MarkForm = (typeof markForms)[number];
export const ringForms = ['act', 'act-taken', 'look'] as const satisfies readonly Severity[];

export function formOf(vehicle: Vehicle): MarkForm {
  const state = stateOf(vehicle);
  return state === 'moving' && vehicle.heading === null ? 'unheaded' : state;
}

/** Degrees from north that the mark is turned by: an arrow only, which has a heading. */
export const turnOf = (vehicle: Vehicle): number => {
  const { heading } = vehicle;
  return heading !== null && formOf(vehicle) === 'moving' ? heading : 0;
};

const circle = (radius: number): string =>
  `M${-radius},0 A${radius},${radius} 0 1 0 ${radius},0 A${radius},${radius} 0 1 0 ${-radius},0 Z`;

/** Lines across a circle of 7, 3 apart. */
const hatch = [-2, -1, 0, 1, 2]
  .map((line) => {
    const middle = line * 2.1;
    const half = Math.sqrt((49 - 2 * middle * middle) / 2);
    return `M${(middle - half).toFixed(2)},${(middle + half).toFixed(2)} L${(middle + half).toFixed(2)},${(middle - half).toFixed(2)}`;
  })
  .join(' ');

/** The outline of a hollow mark, with an edge on both sides. */
const hollow = (path: string): readonly MarkLayer[] => [
  { path, stroke: 'mark-edge', width: 5 },
  { path, stroke: 'mark-standing', width: 2.5 },
];
const solid = (path: string, fill: keyof Colours): readonly MarkLayer[] => [
  { path, fill, stroke: 'mark-edge', width: 3 },
];

export const markLayers: Readonly<Record<MarkForm, readonly MarkLayer[]>> = {
  moving: solid('M0,-10 L7,8 L0,4.2 L-7,8 Z', 'mark-moving'),
  unheaded: solid(circle(7), 'mark-moving'),
  standing: solid(
    'M-3,-6 H3 A3,3 0 0 1 6,-3 V3 A3,3 0 0 1 3,6 H-3 A3,3 0 0 1 -6,3 V-3 A3,3 0 0 1 -3,-6 Z',
    'mark-standing',
  ),
  unknown: hollow('M0,-8 L8,0 L0,8 L-8,0 Z'),
  offline: hollow(circle(6)),
  doubtful: [
    { path: circle(8), fill: 'look-soft', stroke: 'look', width: 4 },
    { path: hatch, stroke: 'look', width: 1.5 },
  ],
};

export const ringLayers: Readonly<Record<(typeof ringForms)[number], readonly MarkLayer[]>> = {
  act: [
    { path: circle(14.5), fill: 'act-fill', opacity: 0.16 },
    { path: circle(14.5), stroke: 'act-fill', width: 3 },
  ],
  'act-taken': [{ path: circle(13.5), stroke: 'act-fill', width: 2 }],
  look: [{ path: circle(13.5), stroke: 'look', width: 2, dash: [4, 3] }],
};

/** The name of a picture that shows nothing and takes room. */
export const noImage = 'none';
