// Place and zoom of the map as text in the address: `latitude,longitude,zoom`. Pure.

export interface MapPlace {
  readonly latitude: number;
  readonly longitude: number;
  readonly zoom: number;
}

/** @returns null for what is no place. */
export function parsePlace(text: string | undefined): MapPlace | null {
  const numbers = (text ?? '').split(',').map(Number);
  const [latitude, longitude, zoom] = numbers;
  if (numbers.length !== 3 || latitude === undefined || longitude === undefined || zoom === undefined)
    return null;
  const isPlace = Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180 && zoom >= 0 && zoom <= 24;
  return isPlace ? { latitude, longitude, zoom } : null;
}

export const placeText = ({ latitude, longitude, zoom }: MapPlace): string =>
  `${latitude.toFixed(5)},${longitude.toFixed(5)},${zoom.toFixed(2)}`;
