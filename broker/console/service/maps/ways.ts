// Where the fleet has driven, tile by tile, as the service has it for this user.
import type { ReadWays } from '../../map/world/ways.ts';
import { call } from '../call.ts';

export const readWays: ReadWays = async ({ zoom, x, y }) => {
  const { lines } = await call('getWays', {
    params: { zoom: zoom === 8 ? '8' : '12', x: String(x), y: String(y) },
  });
  return lines;
};
