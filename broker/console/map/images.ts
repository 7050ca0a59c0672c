// The marks of vehicles as pictures for the map, in the forms that the list shows. Sizes in CSS pixels, drawn at twice that.

import type { Colours } from './vehicles/colour-names.ts';
import {
  type MarkLayer,
  markForms,
  markLayers,
  noImage,
  ringForms,
  ringLayers,
} from './vehicles/mark-layers.ts';

export interface MarkImage {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8ClampedArray;
}

export const pixelRatio = 2;
const ringSide = 36;
/** Turned by an eighth, it still leaves room for the name below it. */
const markSide = 24;

function draw(side: number, paint: (context: CanvasRenderingContext2D) => void): MarkImage {
  const canvas = document.createElement('canvas');
  canvas.width = side * pixelRatio;
  canvas.height = side * pixelRatio;
  const context = canvas.getContext('2d');
  if (context === null) return { width: 1, height: 1, data: new Uint8ClampedArray(4) };
  context.scale(pixelRatio, pixelRatio);
  context.translate(side / 2, side / 2);
  context.lineJoin = 'round';
  paint(context);
  const { width, height, data } = context.getImageData(0, 0, canvas.width, canvas.height);
  return { width, height, data };
}

function paintLayers(
  context: CanvasRenderingContext2D,
  layers: readonly MarkLayer[],
  colours: Colours,
): void {
  for (const { path, fill, opacity = 1, stroke, width = 0, dash = [] } of layers) {
    const shape = new Path2D(path);
    if (stroke !== undefined) {
      context.strokeStyle = colours[stroke];
      context.lineWidth = width;
      context.setLineDash([...dash]);
      context.stroke(shape);
    }
    if (fill === undefined) continue;
    context.globalAlpha = opacity;
    context.fillStyle = colours[fill];
    // oxlint-disable-next-line unicorn/no-array-fill-with-reference-type -- a path of a canvas, no array
    context.fill(shape);
    context.globalAlpha = 1;
  }
}

/** Every picture by the name that the layers use. */
export function markImages(colours: Colours): ReadonlyMap<string, MarkImage> {
  const all = new Map<string, MarkImage>();
  const add = (name: string, side: number, layers: readonly MarkLayer[]): void =>
    void all.set(
      name,
      draw(side, (context) => paintLayers(context, layers, colours)),
    );
  for (const form of markForms) add(`mark-${form}`, markSide, markLayers[form]);
  for (const form of ringForms) add(`ring-${form}`, ringSide, ringLayers[form]);
  add(noImage, 1, []);
  all.set(
    'ring-selected',
    draw(ringSide, (context) => {
      context.strokeStyle = colours.accent;
      context.lineWidth = 2.5;
      context.beginPath();
      context.arc(0, 0, 15, 0, Math.PI * 2);
      context.stroke();
      for (const [x, y] of [
        [0, 1],
        [0, -1],
        [1, 0],
        [-1, 0],
      ] as const) {
        context.beginPath();
        context.moveTo(x * 12, y * 12);
        context.lineTo(x * 18, y * 18);
        context.stroke();
      }
    }),
  );
  return all;
}
