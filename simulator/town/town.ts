// The town of the practice fleet: a bent grid of streets with a river through it, and what stands in its blocks. Vehicles drive on the same
// streets that its map shows. Same seed, same town.
import type { Point } from '../../src/core/geo/geo.ts';
import type { SeededEntropy } from '../core/random.ts';
import { type Crossing, createStreetGrid, gridSize, isAvenueLine, type Streets } from '../world/streets.ts';

export type BlockKind = 'houses' | 'shops' | 'halls' | 'park' | 'square' | 'school' | 'hospital';

/** The ground between four streets. */
export interface Block {
  /** Its corner with the lowest column and row. */
  readonly corner: Crossing;
  readonly kind: BlockKind;
}

export interface Town extends Streets {
  readonly river: { readonly row: number; readonly bridges: readonly number[] };
  /** The row at which the river flows at a column, beyond the town as well. */
  riverAt(column: number): number;
  readonly blocks: readonly Block[];
  /** Where each district has its name. */
  readonly districts: readonly Crossing[];
}

const middle = gridSize / 2;
/** Blocks from the middle of the town to its last streets, to where vehicles stop, and to the last houses. */
const edge = { streets: 12.2, stops: 11, houses: 11.8 } as const;

/** Of a bent square: convex, so that between two crossings within it there is a way that stays within it. */
const farFromMiddle = ({ column, row }: Crossing): number =>
  Math.cbrt(Math.abs(column - middle) ** 3 + Math.abs(row - middle) ** 3);

/** The first and the last crossing of the street along a line; null: there is none. */
export function streetEnds(line: number): readonly [number, number] | null {
  const side = edge.streets ** 3 - Math.abs(line - middle) ** 3;
  if (side < 1) return null;
  return [Math.ceil(middle - Math.cbrt(side)), Math.floor(middle + Math.cbrt(side))];
}

function kindOf(corner: Crossing, entropy: SeededEntropy): BlockKind | null {
  const far = farFromMiddle({ column: corner.column + 0.5, row: corner.row + 0.5 });
  const chance = entropy.fraction();
  if (far < 1) return 'square';
  if (far < 4) return chance < 0.06 ? 'park' : 'shops';
  if (far > edge.houses - 2 * chance ** 2) return null;
  const isSouthEast = corner.column > middle + 2 && corner.row < middle - 4;
  if (isSouthEast) return 'halls';
  if (chance < 0.06) return 'park';
  if (chance < 0.075) return 'school';
  return chance < 0.08 ? 'hospital' : 'houses';
}

/** @param centre the middle of the town. */
export function createTown(centre: Point, entropy: SeededEntropy): Town {
  const grid = createStreetGrid(centre, entropy);
  const riverRow = 16 + entropy.integer(0, 2);
  const [phase, phaseA, phaseB] = [0, 0, 0].map(() => entropy.fraction() * 6.3) as [number, number, number];
  const blocks: Block[] = [];
  for (let column = 0; column < gridSize; column += 1)
    for (let row = 0; row < gridSize; row += 1) {
      const corner = { column, row };
      // The banks of the river are green.
      const kind = kindOf(corner, entropy);
      if (kind !== null) blocks.push({ corner, kind: row === riverRow ? 'park' : kind });
    }
  return {
    // Blocks are of different sizes.
    at: ({ column, row }) =>
      grid({
        column: column + 0.2 * Math.sin(column * 1.7 + phaseA),
        row: row + 0.2 * Math.sin(row * 2.1 + phaseB),
      }),
    isInside: (crossing) => farFromMiddle(crossing) <= edge.streets,
    isStop: (crossing) => farFromMiddle(crossing) <= edge.stops,
    river: {
      row: riverRow,
      bridges: Array.from({ length: gridSize }, (_, column) => column).filter(
        (column) =>
          isAvenueLine(column) &&
          [riverRow, riverRow + 1].every((row) => farFromMiddle({ column, row }) <= edge.stops),
      ),
    },
    riverAt(column) {
      const outside = Math.max(0, -column, column - gridSize);
      return riverRow + 0.5 + (0.16 + outside * 0.25) * Math.sin(column / (2.3 + outside * 0.2) + phase);
    },
    blocks,
    districts: [
      { column: middle, row: middle - 2.5 },
      { column: 5.5, row: 6.5 },
      { column: 20.5, row: 5.5 },
      { column: 5.5, row: 21.5 },
      { column: 19.5, row: 21.5 },
    ],
  };
}
