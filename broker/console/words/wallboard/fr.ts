// Le tableau mural en français.
import { counterOf } from '../base/format.ts';
import type { WallboardTexts } from './en.ts';

const many = counterOf('fr');

export const wallboardTexts: WallboardTexts = {
  wallboard: {
    title: 'Tableau mural',
    states: 'Véhicules par état',
    map: 'Carte des véhicules ; les nombres à côté comptent les mêmes',
    noMap: 'La carte a besoin de WebGL, que ce navigateur n’offre pas',
    alarms: (count) => many(count, 'alarme ouverte', 'alarmes ouvertes'),
    noAlarms: 'Aucune alarme ouverte',
    alarmsUnknown: 'Alarmes ouvertes : inconnu',
    takenBy: (user) => `Prise par ${user}`,
    shelved: (count) => many(count, 'alarme est mise de côté', 'alarmes sont mises de côté'),
    orders: (count) => many(count, 'commande attend', 'commandes attendent'),
    noOrders: 'Aucune commande n’attend',
    ordersUnknown: 'Commandes en attente : inconnu',
    more: (count) => `et ${many(count, 'autre', 'autres')}`,
    opening: 'Connexion',
    down: (time, span) => `Pas de connexion depuis ${time} (${span})`,
    downHint: (time) => `Vous voyez l’état de ${time}. Un nouvel essai se fait tout seul`,
    noAnswer: (time, span) => `Le service ne répond pas depuis ${time} (${span})`,
    noAnswerHint: 'Un nouvel essai se fait tout seul',
    ended: (time, span) => `Cet écran n’a plus d’accès depuis ${time} (${span})`,
    endedHint:
      'Son jeton a expiré ou a été révoqué. Un nouvel essai se fait chaque minute ; un nouveau jeton se règle ci-dessous',
    refused: 'Ce jeton n’est pas pour un tableau mural',
    expires: (span) => `Le jeton de cet écran prend fin dans ${span}. Réglez-en un nouveau avant`,
    mayGoDark: 'Ce navigateur peut éteindre l’écran',
    setUp: 'Régler cet écran',
  },
  wallboardSetup: {
    title: 'Régler ce tableau mural',
    text: 'Un tableau mural a besoin d’un jeton d’API qui peut lire et rien d’autre. Il n’offre ni commande ni modification.',
    steps: [
      'Un administrateur crée un utilisateur pour les écrans, avec le rôle Observateur et les groupes qui peuvent être montrés',
      'Connectez-vous avec cet utilisateur. Sous Personnes, Vos sessions et jetons, créez-en un qui peut seulement lire',
      'Collez-le ici. Il reste dans ce navigateur jusqu’à ce qu’il soit retiré ici, ou révoqué sous Personnes',
    ],
    token: 'Jeton d’API',
    use: 'Montrer la flotte avec ce jeton',
    busy: 'Le service est interrogé',
    faults: {
      shape: 'Ce n’est pas un jeton d’API entier. Copiez-le en entier',
      login: 'C’est la session d’une personne. Créez un jeton qui peut lire',
      scopes: 'Ce jeton peut plus que lire. Créez-en un qui peut seulement lire',
      unknown: 'Le service n’accepte pas ce jeton. Il a peut-être pris fin',
      unreachable: 'Le service ne répond pas. Vérifiez le réseau, puis essayez encore',
    },
    remove: 'Retirer le jeton de ce navigateur',
    back: 'Retour au tableau mural',
    language: 'Langue',
    theme: 'Thème',
  },
};
