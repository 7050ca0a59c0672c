// Dirección de la última posición y personas a bordo, en español.
import { formatNumber } from '../base/format.ts';
import type { PlaceTexts } from './en.ts';

const n = (value: number): string => formatNumber(value, 'es');

export const placeTexts: PlaceTexts = {
  place: {
    title: 'Lugar y personas',
    address: 'Dirección de la última posición',
    hint: 'Vacío la retira. La posición siguiente empieza sin dirección',
    save: 'Guardar la dirección',
    none: 'No hay dirección escrita para esta posición',
    aboard: 'Personas a bordo',
    notCounted: 'El vehículo no ha comunicado ningún número',
    of: (count, most) => `${n(count)} de ${n(most)}`,
    tooMany: 'Más de las que puede llevar',
  },
};
