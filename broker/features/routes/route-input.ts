// From a request to a route. Pure. It rejects points with gaps in their numbers.
import { AppError } from '../../../src/core/errors.ts';
import { readPoints } from '../../api/geozones/coordinates.ts';
import { defaultRadiusM, type RouteBody } from './route-shapes.ts';
import type { RouteContent } from './route-statements.ts';

/** The points as sent; null when none were. They are the whole way, numbered from 1 without a gap. */
function sentPoints(sent: RouteBody): RouteContent['points'] | null {
  const texts = new Map(
    Object.entries(sent).flatMap(([name, value]): readonly (readonly [string, string])[] =>
      name.startsWith('routePoint') && typeof value === 'string' ? [[name, value]] : [],
    ),
  );
  if (texts.size === 0) return null;
  const at = (name: string) => {
    const text = texts.get(name);
    if (text !== undefined) return { name, text };
    const details = [
      { pointer: `/${name}`, message: 'is missing: points are numbered from 1 without a gap' },
    ];
    throw new AppError('invalid_content', `/${name} is missing`, { details });
  };
  const count = Math.max(2, Math.ceil(texts.size / 2));
  const numbers = Array.from({ length: count }, (_unused, index) => index + 1);
  return readPoints(
    numbers.map((n) => ({ latitude: at(`routePoint${n}lat`), longitude: at(`routePoint${n}lng`) })),
  );
}

/**
 * The route as it shall be: what was sent is changed, the rest stays. A new one needs its way.
 * @throws AppError `invalid_content` with a pointer to what is missing or out of range.
 */
export function routeAfter(known: RouteContent | null, sent: RouteBody): RouteContent {
  const points = sentPoints(sent) ?? known?.points;
  if (points === undefined) {
    const details = [
      { pointer: '/routePoint1lat', message: 'is missing: a new route needs at least two points' },
    ];
    throw new AppError('invalid_content', 'A new route needs at least two points', { details });
  }
  return {
    displayName: sent.routeDisplayName ?? known?.displayName ?? '',
    radiusM: sent.routeRadius ?? known?.radiusM ?? defaultRadiusM,
    points,
  };
}
