// Le compte et les préférences de l’utilisateur, en français.
import { formatNumber } from '../base/format.ts';
import type { AccountTexts } from './en.ts';

const n = (value: number): string => formatNumber(value, 'fr');

export const accountTexts: AccountTexts = {
  account: {
    of: (account) => `Compte ${account}`,
    state: 'État',
    active: 'Actif',
    inactive: 'Suspendu ou expiré',
    ends: 'Fin',
    endsNever: 'Il ne finit pas',
    devices: 'Appareils',
    devicesOf: (count, most) => `${n(count)} sur ${n(most)}`,
    devicesFree: (count) => `${n(count)}, sans limite`,
    adminsOnly: 'Les réglages du compte sont modifiés par les administrateurs',
    settings: 'Réglages',
    fields: {
      name: 'Nom du compte',
      timeZone: 'Fuseau horaire',
      cutsPerHour: 'Coupures d’un utilisateur par heure',
      retainedDays: 'Jours de conservation des événements',
    },
    hints: {
      timeZone: 'Comme Europe/Paris ; les nouveaux utilisateurs commencent avec lui',
      cutsPerHour: '0 à 1 000. Une coupure de trop ouvre le disjoncteur ; 0 n’en permet aucune',
      retainedDays: (most, mayBeForEver) =>
        mayBeForEver
          ? `1 à ${n(most)} ; 0 les garde pour toujours`
          : `1 à ${n(most)}, comme l’exploitant le permet`,
    },
    wrong: {
      name: '128 caractères au plus',
      timeZone: 'Nommez un fuseau horaire',
      cutsPerHour: 'Un nombre entier de 0 à 1 000',
      retainedDays: 'Un nombre entier de jours dans les limites',
    },
    look: (account) => `Enregistrer pour le compte ${account} ?`,
    lookAction: (account) => `Enregistrer pour ${account}`,
    looks: {
      deletes: 'Les événements plus anciens sont supprimés définitivement',
      noCuts: 'Plus aucun utilisateur ne peut demander de coupure. Les rétablissements restent libres',
      fewerCuts: 'Qui a atteint la nouvelle limite ouvre le disjoncteur à sa prochaine coupure',
    },
    cuts: 'Règles des coupures',
    approval: {
      name: 'Deuxième personne',
      on: 'Chaque coupure demande un deuxième utilisateur',
      off: 'Un utilisateur suffit pour une coupure',
      require: 'Exiger un deuxième utilisateur',
      requireTitle: 'Exiger un deuxième utilisateur pour chaque coupure ?',
      requireText:
        'Dès lors, une coupure attend qu’un autre opérateur ou administrateur l’approuve. Y mettre fin demande deux administrateurs, ou un jour',
      requireAction: (account) => `Exiger un deuxième utilisateur dans ${account}`,
      drop: 'Mettre fin',
      dropTitle: 'Mettre fin au deuxième utilisateur ?',
      dropText:
        'Cela prend effet quand un autre administrateur demande la même chose ou, s’il n’y en a pas d’autre, quand vous le demandez encore un jour plus tard. Chaque administrateur est averti',
      dropAction: (account) => `Demander la fin dans ${account}`,
      asked: (user, time) => `${user} demande depuis ${time} d’y mettre fin`,
      agree: 'Consentir',
      agreeAction: (account) => `Y mettre fin dans ${account}`,
      again: 'Demander encore',
      keep: 'Garder la règle',
    },
    password: {
      name: 'Mot de passe à nouveau',
      on: 'Une coupure et son approbation redemandent le mot de passe',
      off: 'Une coupure ne redemande pas le mot de passe',
      require: 'Exiger le mot de passe',
      requireTitle: 'Exiger le mot de passe avant chaque coupure ?',
      requireText:
        'Dès lors, une coupure, l’ouverture de la cargaison et chaque approbation redemandent le mot de passe de l’utilisateur. Un rétablissement jamais',
      requireAction: (account) => `Exiger le mot de passe dans ${account}`,
      drop: 'Mettre fin',
      dropTitle: 'Mettre fin au mot de passe avant une coupure ?',
      dropText: 'Une session ouverte suffit alors pour une coupure. Chaque administrateur est averti',
      dropAction: (account) => `Ne plus exiger le mot de passe dans ${account}`,
    },
    breaker: {
      reset: 'Refermer le disjoncteur',
      title: (account) => `Refermer le disjoncteur de ${account} ?`,
      text: 'Les coupures sont de nouveau acceptées, et comptées depuis zéro. Qui l’a ouvert ne peut pas le refermer',
      reason: 'Pourquoi on peut continuer sans danger',
      reasonHint: 'Gardé dans le journal d’audit',
      action: (account) => `Refermer le disjoncteur de ${account}`,
    },
    preferences: {
      title: 'Vos préférences',
      text: 'Le service les garde pour vous : elles valent dans chaque navigateur où vous vous connectez, dès la connexion. Les menus de la barre ne changent que ce navigateur',
      language: 'Langue',
      theme: 'Thème',
      singleKeys: 'Touches seules comme raccourcis',
      notKept: 'Non gardé : chaque navigateur décide',
      save: 'Enregistrer vos préférences',
      saved: 'Enregistré, et appliqué ici',
      meanwhile:
        'Vos préférences ont été changées ailleurs entre-temps. Elles ont été relues : regardez, puis enregistrez',
    },
  },
};
