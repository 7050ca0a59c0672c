// Adresse de la dernière position et personnes à bord, en français.
import { formatNumber } from '../base/format.ts';
import type { PlaceTexts } from './en.ts';

const n = (value: number): string => formatNumber(value, 'fr');

export const placeTexts: PlaceTexts = {
  place: {
    title: 'Lieu et personnes',
    address: 'Adresse de la dernière position',
    hint: 'Un champ vide la retire. La position suivante commence sans adresse',
    save: 'Enregistrer l’adresse',
    none: 'Aucune adresse n’a été saisie pour cette position',
    aboard: 'Personnes à bord',
    notCounted: 'Le véhicule n’a signalé aucun nombre',
    of: (count, most) => `${n(count)} sur ${n(most)}`,
    tooMany: 'Plus qu’il ne peut transporter',
  },
};
