// Coordinates as text, both ways. Decimal degrees of requests are rounded to the five decimals of answers, so
// calculations use the values that clients read back.
import { AppError, type ErrorDetail } from '../../../src/core/errors.ts';
import { degreesText, type Point } from '../../../src/core/geo/geo.ts';

/** One point as it was sent: each text with the member that carried it. */
export interface SentPoint {
  readonly latitude: { readonly name: string; readonly text: string };
  readonly longitude: { readonly name: string; readonly text: string };
}

const limits = { latitude: 90, longitude: 180 } as const;

function outOfRange({ name, text }: SentPoint['latitude'], most: number): readonly ErrorDetail[] {
  return Math.abs(Number(text)) <= most
    ? []
    : [{ pointer: `/${name}`, message: `must be between -${most} and ${most}` }];
}

// Adding 0 turns -0 into 0.
const round = (text: string): number => Math.round(Number(text) * 1e5) / 1e5 + 0;

/**
 * The points of texts that already fit the patterns of decimal degrees; an empty text is 0.
 * @throws AppError `invalid_content` that names every text out of range.
 */
export function readPoints(sent: readonly SentPoint[]): readonly Point[] {
  const details = sent.flatMap(({ latitude, longitude }) => [
    ...outOfRange(latitude, limits.latitude),
    ...outOfRange(longitude, limits.longitude),
  ]);
  const [first] = details;
  if (first !== undefined) {
    throw new AppError('invalid_content', `${first.pointer} ${first.message}`, { details });
  }
  return sent.map(({ latitude, longitude }) => ({
    latitude: round(latitude.text),
    longitude: round(longitude.text),
  }));
}

/** `<lat>,<lng>` with five decimals. */
export function pointText({ latitude, longitude }: Point): string {
  return `${degreesText(latitude)},${degreesText(longitude)}`;
}
