// Les liens partagés, en français.
import { counterOf, formatNumber } from '../base/format.ts';
import type { ShareTexts } from './en.ts';

const many = counterOf('fr');

export const shareTexts: ShareTexts = {
  shares: {
    lead: 'Liens qui montrent un véhicule ou un trajet à des personnes sans compte',
    share: 'Partager',
    titleLive: (name) => `Partager ${name}`,
    titleTrip: (name) => `Partager un trajet de ${name}`,
    liveText: (name) => `Qui a le lien voit où est ${name}, et rien d'autre du compte`,
    tripText: "Qui a le lien voit le chemin de ce trajet, et rien d'autre du compte",
    what: 'Ce qui est partagé',
    kinds: { live: 'Position en direct', trip: 'Trajet' },
    life: 'Pour combien de temps',
    lives: { '1': '1 heure', '4': '4 heures', '24': '24 heures', '72': '3 jours', '168': '7 jours' },
    endsAt: 'Finit',
    note: 'Note pour la personne',
    noteHint: 'Le lien ne montre aucun nom. Dites qui partage, et quoi',
    endsToo: 'Il finit aussi quand vous ne pouvez plus partager ou ne voyez plus le véhicule',
    ofVehicle: 'Tous les liens vers ce véhicule',
    make: 'Créer le lien',
    link: 'Lien',
    qr: 'Code QR du lien',
    openLinks: (count) => many(count, 'lien ouvert', 'liens ouverts'),
    tripOf: (time) => `Partager le trajet de ${time}`,
    all: 'Liens vers tous les véhicules',
    of: (name) => `Liens vers ${name}`,
    allVehicles: 'Tous les véhicules',
    filter: "Filtrer par l'état",
    filters: { open: 'Ouverts', ended: 'Finis', all: 'Tous' },
    caption: 'Liens, les plus récents en premier',
    columns: {
      share: 'Lien vers',
      state: 'État',
      made: 'Créé par',
      until: "Jusqu'à",
      used: 'Ouvert (fois)',
      action: 'Action',
    },
    standings: { open: 'Ouvert', expired: 'Expiré', revoked: 'Révoqué' },
    revoke: 'Révoquer',
    revokeOf: (name, note) =>
      note === '' ? `Révoquer le lien vers ${name}` : `Révoquer le lien vers ${name} : ${note}`,
    revokeTitle: (name) => `Révoquer le lien vers ${name}`,
    revokeText: 'Il ne montre plus rien ensuite, même là où il est ouvert. On ne peut pas revenir en arrière',
    empty: {
      open: "Aucun lien n'est ouvert",
      ended: 'Aucun lien fini récemment',
      all: 'Pas encore de liens',
    },
    emptyHint: 'Ouvrez un véhicule et appuyez sur Partager. Les liens finis restent ici 30 jours',
    newest: (most) => `Les ${formatNumber(most, 'fr')} plus récents sont listés`,
    viewer: 'Les opérateurs et les administrateurs partagent les véhicules',
    viewerHint: "Demandez à l'un d'eux dans votre compte",
  },
};
