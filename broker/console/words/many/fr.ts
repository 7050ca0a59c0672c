// Plusieurs alarmes et plusieurs véhicules à la fois, en français.
import { counterOf, formatNumber } from '../base/format.ts';
import type { ManyTexts } from './en.ts';

const n = (value: number): string => formatNumber(value, 'fr');
const many = counterOf('fr');
const alarms = (count: number): string => many(count, 'alarme', 'alarmes');
const engines = (count: number): string => many(count, 'moteur', 'moteurs');
const vehicles = (count: number): string => many(count, 'véhicule', 'véhicules');

export const manyTexts: ManyTexts = {
  many: {
    pick: (alarm, vehicle) => `Choisir ${alarm} de ${vehicle}`,
    picked: (count, most) => `${n(count)} sur ${n(most)} au plus choisies`,
    all: 'Choisir toutes celles affichées',
    none: 'Ne rien choisir',
    dismiss: 'Fermer les résultats',
    results: 'Résultats',
    alarms: {
      take: (count) => `Prendre ${alarms(count)}`,
      assignTitle: (count) => `Attribuer ${alarms(count)}`,
      assignText:
        'L’utilisateur en est alors chargé. Les nouvelles alarmes et les vôtres peuvent être attribuées ; un administrateur attribue toute alarme prise',
      assignAction: (count, user) => `Attribuer ${alarms(count)} à ${user}`,
      user: 'Utilisateur',
      userHint: 'Un opérateur ou administrateur qui voit les véhicules',
      chooseUser: 'Choisir un utilisateur',
      close: (count) => `Clore ${alarms(count)}`,
      done: {
        take: (count) => many(count, 'alarme prise', 'alarmes prises'),
        assign: (count) => many(count, 'alarme attribuée', 'alarmes attribuées'),
        close: (count) => many(count, 'alarme close', 'alarmes closes'),
      },
      failed: (count) => many(count, 'alarme non modifiée', 'alarmes non modifiées'),
    },
    commands: {
      restore: (count) => `Rétablir ${engines(count)}`,
      lock: (count) => `Verrouiller la cargaison de ${vehicles(count)}`,
      cut: (count) => `Couper ${engines(count)}`,
      done: {
        restore: (count) => `Rétablissement demandé à ${vehicles(count)}`,
        lock: (count) => `Verrouillage demandé à ${vehicles(count)}`,
        cut: (count) => `Coupure demandée à ${vehicles(count)}`,
      },
      failed: (count) => many(count, 'véhicule sans commande', 'véhicules sans commande'),
      follow: 'Suivre',
      evidence: (vehicle) => `Ce que ${vehicle} a jugé`,
      meant: (vehicle) => `Il s’agit bien de ${vehicle}`,
      meantMissing: 'Cochez chaque véhicule voulu, et retirez les autres',
      takeOut: (vehicle) => `Retirer ${vehicle}`,
      tooMany: (most) => `Au plus ${n(most)} moteurs par demande. Retirez-en`,
      overLimit: (left) => `Il ne reste que ${n(left)} coupures permises cette heure. Retirez des véhicules`,
      gone: 'Ce véhicule n’existe plus',
      notYours: 'Vous ne pouvez pas commander ce véhicule',
      button: (count) => `Couper ${engines(count)}, chacun à l’arrêt`,
    },
  },
};
