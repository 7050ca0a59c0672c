// The ways of the vehicles that a caller sees, tile by tile.
import { Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import type { ApiServices } from '../../api/base/api-services.ts';
import { operation } from '../../api/base/operation.ts';
import { readyJson } from '../../api/base/ready-json.ts';
import { envelope, ok } from '../../api/base/shapes.ts';
import type { Tile } from './core/way-grid.ts';
import { createMerging } from './core/way-thinning.ts';
import { keptDays } from './core/way-tracks.ts';
import { ways } from './way-maker.ts';
import { type Asked, proofOf, seenWays } from './way-statements.ts';

/** @throws AppError `invalid_content` for a number that the zoom has no tile of. */
function tileIn({
  zoom,
  ...numbers
}: {
  readonly zoom: '8' | '12';
  readonly x: string;
  readonly y: string;
}): Tile {
  const tile = { zoom: zoom === '8' ? 8 : 12, x: Number(numbers.x), y: Number(numbers.y) } as const;
  const most = 2 ** tile.zoom - 1;
  const details = (['x', 'y'] as const).flatMap((name) =>
    tile[name] > most ? [{ pointer: `/${name}`, message: `must be 0 to ${most} at zoom ${zoom}` }] : [],
  );
  const [first] = details;
  if (first === undefined) return tile;
  throw new AppError('invalid_content', `${first.pointer} ${first.message}`, { details });
}

async function linesJson({ archive }: ApiServices, asked: Asked): Promise<Buffer> {
  const merging = createMerging(asked.tile);
  for await (const rows of seenWays(archive, asked)) for (const { lines } of rows) merging.add(lines ?? []);
  return Buffer.from(JSON.stringify({ ...ok, lines: merging.lines() }));
}

const number = (name: string) =>
  Type.String({ pattern: '^[0-9]{1,4}$', description: `${name} of the tile, as in {z}/{x}/{y}` });

const getWays = operation({
  id: 'getWays',
  method: 'GET',
  path: '/map/ways/{zoom}/{x}/{y}/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: true },
  tag: 'Geozones',
  summary: 'Ways that the vehicles have driven, in one tile of a map',
  isConditional: true,
  description: `Our addition. Where the vehicles that the caller sees have driven within the last ${keptDays} days and some more, each
street about once: without times, and without the vehicles. Zoom 8 is for overviews, 12 for streets; tiles are those of Web
Mercator. A line is a list of whole numbers, longitude before latitude, in steps of 0.00001 degrees: the first pair is the place, each further one the step
from the one before. A tile without ways has none. New ways come some minutes after they were driven. A way of which too
few positions came (more than a minute or 1,500 m apart) is not drawn, and ways of 15 days are hidden once the first of them is
older than the account keeps events.`,
  params: Type.Object({
    zoom: Type.Enum(['8', '12'], { description: 'Zoom of the tile: `8` or `12`' }),
    x: number('Column'),
    y: number('Row'),
  }),
  body: null,
  result: Type.Object({
    ...envelope,
    lines: Type.Array(Type.Array(Type.Integer()), {
      description: '`[lon, lat, dLon, dLat, ...]` each, in steps of 0.00001 degrees',
    }),
  }),
  errors: ['invalid_content'],
  effects: false,
  examples: {
    params: { zoom: '12', x: '1144', y: '1494' },
    result: { lines: [[-7_938_700, 4_364_500, 120, -85, 310, 12]] },
  },
  async run({ params, caller, until }, services) {
    const asked: Asked = { scope: caller.scope, tile: tileIn(params), nowMs: services.clock.utcMs() };
    const proof = await proofOf(services.db, asked);
    const key = JSON.stringify([asked.scope, asked.tile]);
    const { answers } = services.of(ways);
    const make = () => linesJson(services, asked);
    const text = answers.find(key, proof) ?? (await services.pageLimit.runBusy(caller, until(), make));
    answers.keep(key, proof, text);
    return readyJson(() => [text], JSON.stringify([key, proof]));
  },
});

export const wayOperations = [getWays] as const;
