// La boîte de réception, en français.
import { counterOf } from '../base/format.ts';
import type { InboxTexts } from './en.ts';

const many = counterOf('fr');

export const inboxTexts: InboxTexts = {
  inbox: {
    filter: 'Filtrer selon ce que vous avez vu',
    filters: { all: 'Toutes', unviewed: 'Non vues' },
    only: (vehicle) => `Seulement ${vehicle}`,
    every: 'Montrer tous les véhicules',
    caption: 'Notifications, les plus récentes d’abord',
    columns: { what: 'Quoi', vehicle: 'Véhicule', when: 'Quand', state: 'État' },
    empty: 'Rien ici pour le moment',
    emptyHint:
      'Les alertes des véhicules que vous voyez, et ce que les règles vous envoient, restent ici 90 jours',
    allViewed: 'Vous avez tout vu',
    account: (user) => `Avis du compte à propos de ${user}`,
    late: 'arrivée tard',
    lateAlarms: 'Alarmes en retard',
    fresh: 'Non vue',
    viewed: 'Vue',
    mark: 'Marquer comme vue',
    markOf: (what, vehicle) => `Marquer comme vue : ${what}, ${vehicle}`,
    markAll: 'Tout marquer comme vu',
    marked: 'Tout est marqué comme vu',
    alarm: 'Ouvrir l’alarme',
    older: 'Montrer les plus anciennes',
    shown: (count) => many(count, 'notification montrée', 'notifications montrées'),
    fromVehicles: {
      title: 'Messages des véhicules',
      none: 'Aucun message non lu des véhicules',
      hint: 'Ce que les unités de vos véhicules envoient comme texte apparaît ici pendant 30 jours',
      own: 'Pour vous seul, de tous les véhicules',
      read: 'Marquer ceux-ci comme lus',
    },
    push: {
      title: 'Notifications de ce navigateur',
      text: 'Les règles avec push vous avertissent ici, même console fermée et après la déconnexion',
      states: {
        insecure: 'Impossible : les notifications demandent HTTPS',
        unsupported: 'Ce navigateur n’en offre pas',
        refused: 'Refusées pour ce site dans les réglages du navigateur. Autorisez-les d’abord là',
        off: 'Désactivées dans ce navigateur',
        on: 'Activées dans ce navigateur',
        other: 'Activées dans ce navigateur pour un autre utilisateur',
      },
      faults: {
        refused: 'Le navigateur n’a pas le droit de notifier',
        no_service: 'Le navigateur n’a pas atteint son service push',
        undeliverable: 'Le service ne peut pas envoyer à ce navigateur',
      },
      switchOn: 'Activer dans ce navigateur',
      switchOff: 'Désactiver dans ce navigateur',
      failed: 'Rien n’a été changé',
    },
  },
};
