// What addresses say of a geozone or route that is being drawn: `type;radius;lat,lng;...`. A separate file, as the router loads it at the start: it imports
// types only. Pure.
import type { Point } from '../../../../src/core/geo/geo.ts';
import type { Zone, ZoneType, zoneLimits } from '../../../../src/core/geo/geozone.ts';

export const pointsMost = 8 satisfies (typeof zoneLimits)['points'];

/** Of a route. */
export const routePointsMost = 100;

export const zoneTypes = [3, 0, 2, 1, 4] as const satisfies readonly ZoneType[];

/** `<lat>,<lng>` as the service gives points; null for what is no place. */
export function parsePoint(text: string): Point | null {
  const [, latitudeText, longitudeText] =
    /^\s*([+-]?\d{1,2}(?:\.\d{1,25})?)\s*°?\s*[,;\s]\s*([+-]?\d{1,3}(?:\.\d{1,25})?)\s*°?\s*$/.exec(text) ??
    [];
  const [latitude, longitude] = [Number(latitudeText), Number(longitudeText)];
  if (latitudeText === undefined || Math.abs(latitude) > 90 || Math.abs(longitude) > 180) return null;
  return { latitude, longitude };
}

/** @returns null for an invalid text, and for more points than allowed. */
export function parseDraft(text: string | undefined, most: number = pointsMost): Zone | null {
  const [typeText = '', radiusText = '', ...pointTexts] = (text ?? '').split(';');
  const type = zoneTypes.find((one) => String(one) === typeText);
  const points = pointTexts.map(parsePoint).filter((point) => point !== null);
  if (type === undefined || !/^\d{1,5}$/.test(radiusText)) return null;
  if (points.length !== pointTexts.length || points.length > most) return null;
  return { type, radiusM: Number(radiusText), points };
}
