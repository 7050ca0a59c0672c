// Places for the labels of a map, so that none lies over another, over a dot or outside: beside its point where that is free, else further
// around it with a line to it. Pure.

type Point = readonly [x: number, y: number];

export interface LabelBox {
  readonly from: Point;
  /** Middle of the label. */
  readonly x: number;
  readonly y: number;
  /** So far from its point that a line has to lead there. */
  readonly isAside: boolean;
}

interface Label {
  readonly at: Point;
  readonly width: number;
  /** Where it stands best, so that its own line does not run through it; radians. */
  readonly angle: number;
}

interface Rectangle {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** Half of the side of a dot. */
const dotSize = 70;
const rings = 12;
const directions = 16;
/** From the best direction to both sides of it: 0, 1, -1, 2, -2 ... */
const turns = Array.from({ length: directions }, (_, at) => (at % 2 === 0 ? -at / 2 : (at + 1) / 2));

const meets = (a: Rectangle, b: Rectangle): boolean =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

/** @returns a box for each label; null: there is no free place near it. */
export function placeLabels(
  labels: readonly Label[],
  of: {
    readonly width: number;
    readonly height: number;
    readonly labelHeight: number;
    readonly dots: readonly Point[];
  },
): readonly (LabelBox | null)[] {
  const taken: Rectangle[] = of.dots.map(([x, y]) => ({
    left: x - dotSize,
    right: x + dotSize,
    top: y - dotSize,
    bottom: y + dotSize,
  }));
  const isFree = (box: Rectangle): boolean =>
    box.left >= 0 &&
    box.top >= 0 &&
    box.right <= of.width &&
    box.bottom <= of.height &&
    !taken.some((other) => meets(box, other));
  return labels.map(({ at: [pointX, pointY], width, angle: best }) => {
    for (let ring = 1; ring <= rings; ring += 1) {
      for (const turn of turns) {
        const angle = best + (2 * Math.PI * turn) / directions;
        const x = Math.round(pointX + Math.cos(angle) * (width / 2 + of.labelHeight * (ring - 0.5)));
        const y = Math.round(pointY + Math.sin(angle) * of.labelHeight * ring);
        const box = {
          left: x - width / 2,
          right: x + width / 2,
          top: y - of.labelHeight / 2,
          bottom: y + of.labelHeight / 2,
        };
        if (!isFree(box)) continue;
        taken.push(box);
        return { from: [pointX, pointY], x, y, isAside: ring > 1 };
      }
    }
    return null;
  });
}
