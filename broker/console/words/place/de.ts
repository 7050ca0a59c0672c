// Adresse der letzten Position und Personen an Bord, auf Deutsch.
import { formatNumber } from '../base/format.ts';
import type { PlaceTexts } from './en.ts';

const n = (value: number): string => formatNumber(value, 'de');

export const placeTexts: PlaceTexts = {
  place: {
    title: 'Ort und Personen',
    address: 'Adresse der letzten Position',
    hint: 'Leer entfernt sie. Die nächste Position beginnt ohne Adresse',
    save: 'Adresse speichern',
    none: 'Für diese Position ist keine Adresse eingetragen',
    aboard: 'Personen an Bord',
    notCounted: 'Das Fahrzeug hat keine Anzahl gemeldet',
    of: (count, most) => `${n(count)} von ${n(most)}`,
    tooMany: 'Mehr, als es befördern darf',
  },
};
