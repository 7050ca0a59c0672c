// The marks of vehicles as pictures for the map, in the forms that the list shows. Sizes in CSS pixels, drawn at twice that.
import type { Severity, VehicleState } from '../state/fleet.ts';
import type { Colours } from './colour-names.ts';

export interface MarkImage {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8ClampedArray;
}

export const pixelRatio = 2;
const side = 36;

function draw(paint: (context: CanvasRenderingContext2D) => void): MarkImage {
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

const edged = (context: CanvasRenderingContext2D, fill: string, edge: string): void => {
  context.strokeStyle = edge;
  context.lineWidth = 3;
  context.stroke();
  context.fillStyle = fill;
  context.fill();
};

function circle(context: CanvasRenderingContext2D, radius: number): void {
  context.beginPath();
  context.arc(0, 0, radius, 0, Math.PI * 2);
}

const marks: Readonly<Record<VehicleState, (context: CanvasRenderingContext2D, colours: Colours) => void>> = {
  moving(context, colours) {
    context.beginPath();
    for (const [x, y] of [
      [0, -10],
      [7, 8],
      [0, 4.2],
      [-7, 8],
    ] as const)
      context.lineTo(x, y);
    context.closePath();
    edged(context, colours['mark-moving'], colours['mark-edge']);
  },
  standing(context, colours) {
    context.beginPath();
    context.roundRect(-6, -6, 12, 12, 3);
    edged(context, colours['mark-standing'], colours['mark-edge']);
  },
  offline(context, colours) {
    circle(context, 6);
    edged(context, 'rgba(0,0,0,0)', colours['mark-edge']);
    context.strokeStyle = colours['mark-standing'];
    context.lineWidth = 2.5;
    context.stroke();
  },
  doubtful(context, colours) {
    circle(context, 8);
    edged(context, colours['look-soft'], colours['mark-edge']);
    context.clip();
    context.strokeStyle = colours.look;
    context.lineWidth = 2;
    for (let at = -16; at <= 16; at += 4) {
      context.beginPath();
      context.moveTo(at - 8, 8);
      context.lineTo(at + 8, -8);
      context.stroke();
    }
    circle(context, 8);
    context.stroke();
  },
};

const rings: Readonly<
  Record<Exclude<Severity, 'none'>, (context: CanvasRenderingContext2D, colours: Colours) => void>
> = {
  act(context, colours) {
    circle(context, 14.5);
    context.globalAlpha = 0.16;
    context.fillStyle = colours['act-fill'];
    context.fill();
    context.globalAlpha = 1;
    context.strokeStyle = colours['act-fill'];
    context.lineWidth = 3;
    context.stroke();
  },
  'act-taken'(context, colours) {
    circle(context, 13.5);
    context.strokeStyle = colours['act-fill'];
    context.lineWidth = 2;
    context.stroke();
  },
  look(context, colours) {
    circle(context, 13.5);
    context.setLineDash([4, 3]);
    context.strokeStyle = colours.look;
    context.lineWidth = 2;
    context.stroke();
  },
};

/** Every picture by the name that the layers use. */
export function markImages(colours: Colours): ReadonlyMap<string, MarkImage> {
  const all = new Map<string, MarkImage>();
  for (const [name, paint] of Object.entries(marks))
    all.set(
      `mark-${name}`,
      draw((context) => paint(context, colours)),
    );
  for (const [name, paint] of Object.entries(rings))
    all.set(
      `ring-${name}`,
      draw((context) => paint(context, colours)),
    );
  all.set(
    'ring-selected',
    draw((context) => {
      context.strokeStyle = colours.accent;
      context.lineWidth = 2.5;
      circle(context, 15);
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
