// French: what is said of an order, by the relay that it moves. No word of one relay stands in the texts of another.
import { cutReasons } from '../../../../src/core/words/reports/fr.ts';
import type { OrdersTexts } from './en.ts';

export const orders: OrdersTexts = {
  enginecutoff: {
    noun: 'Coupure',
    button: (vehicle) => `Couper ${vehicle} à l’arrêt`,
    closeGoesOn: 'Fermer ; la coupure continue',
    noFeature: 'Ce véhicule ne signale pas de coupe-moteur',
    already: 'Le moteur est déjà coupé, selon la relecture du véhicule',
    notFound: 'Cette coupure n’existe pas',
    consequence: 'Le relais ne s’ouvre que contact coupé et véhicule prouvé à l’arrêt',
    consequenceTimes: (offS, standS) =>
      `Le relais ne s’ouvre que si le contact est coupé depuis ${offS} s et l’arrêt prouvé depuis ${standS} s`,
    until: (time) =>
      `Jusqu’à ${time} au plus tard. Ensuite le moteur ne démarre plus avant son rétablissement. Rien ne se passe pendant qu’il roule`,
    reasons: cutReasons,
    ttlHint: '24 h au plus',
    passwordHint: 'Votre compte le redemande avant une coupure',
    failed: 'Non demandé',
    withdraw: 'Retirer',
    withdrawFailed: 'Non retiré',
    executing: 'Ouverture du relais ordonnée',
    says: {
      armedPlain: 'En attente sur le véhicule jusqu’à ce que ce soit sûr',
      executing: 'L’ouverture du relais est ordonnée. Il n’est pas encore relu',
      confirmed: (time) => `Moteur coupé. Le relais a été relu ouvert à ${time}`,
      refused: (vehicle, why) => `Non coupé. ${vehicle} a refusé : ${why}`,
      refusedBy: (user) => `Non coupé. ${user} a refusé ; rien n’a été envoyé`,
      expired: 'Non coupé. La commande a expiré avant que le véhicule n’agisse',
      expiredRequest: 'Non coupé. Aucune deuxième personne n’a approuvé à temps ; rien n’a été envoyé',
      cancelled: 'Non coupé. La commande a été retirée',
    },
    hints: {
      confirmed: 'Le moteur ne démarre plus avant son rétablissement',
      nothingRepeated: 'Rien n’est répété automatiquement. Redemandez si le moteur doit toujours être coupé',
      unknown: 'Regardez le coupe-moteur relu ; rétablissez en cas de doute',
    },
    after: {
      badge: 'Rétabli',
      undone: (time) => `Le moteur était coupé : le relais a été relu ouvert à ${time}. Il est rétabli`,
      by: (user, time) => `Rétabli par ${user} à ${time}`,
      readBack: 'Le relais est relu fermé au véhicule',
      undoing: (user, time) =>
        `${user} a demandé le rétablissement à ${time}. Le relais n’est pas encore relu fermé`,
      replaced: 'Le moteur est maintenant coupé par un autre ordre, relu au véhicule',
      step: (user) => `Rétabli par ${user}`,
    },
    relayNow: 'Coupe-moteur maintenant',
    leftAnnounce: (span) => `Il reste ${span} avant l’expiration de la coupure`,
    stale: (time) =>
      `Vous voyez l’état de ${time}. Le véhicule décide sans la console. Un rétablissement peut toujours être demandé ; si le service ne répond pas, utilisez le code de service`,
    needMovement: 'par entrée de mouvement, régime et tension',
    rehearse: 'Demander au véhicule : couperait-il maintenant ?',
    rehearsal: 'Couperait-il maintenant ?',
    would: 'Oui : le véhicule couperait maintenant',
    safe: {
      pressAgain: 'Vous pouvez appuyer à nouveau à tout moment : deux rétablissements ne nuisent pas',
      asked: (vehicle) => `Rétablissement de ${vehicle} demandé`,
      states: {
        requested: 'Il part dès que le véhicule se connecte',
        sent: 'Envoyé. Le véhicule n’a pas encore répondu',
        received: 'Le véhicule l’a reçu',
        armed: 'Le véhicule l’a reçu et attend',
        executing: 'La fermeture du relais est ordonnée. Il n’est pas encore relu',
        refused: 'Le véhicule l’a refusé',
        expired: 'Il a expiré avant que le véhicule n’agisse',
        cancelled: 'Il a été retiré',
        superseded: 'Une commande plus récente l’a remplacé',
        unknown: 'Son issue est inconnue',
      },
      confirmed: (vehicle, time) => `${vehicle} rétabli. Le relais a été relu fermé à ${time}`,
      asking: (vehicle) => `Demande au service de rétablir ${vehicle}`,
    },
  },
  cargoaccess: {
    noun: 'Déverrouillage',
    button: (vehicle) => `Déverrouiller la cargaison de ${vehicle} à l’arrêt`,
    closeGoesOn: 'Fermer ; le déverrouillage continue',
    noFeature: 'Ce véhicule ne signale pas de verrou de cargaison',
    already: 'La cargaison est déjà déverrouillée, selon la relecture du véhicule',
    notFound: 'Ce déverrouillage n’existe pas',
    consequence: 'Le verrou ne s’ouvre que si l’arrêt du véhicule est prouvé',
    consequenceTimes: (offS, standS) =>
      `Le verrou ne s’ouvre que si le contact n’est plus mis depuis ${offS} s et l’arrêt prouvé depuis ${standS} s`,
    until: (time) =>
      `Jusqu’à ${time} au plus tard. La cargaison reste ensuite ouverte pendant la durée réglée sur le véhicule, 30 s sauf choix de l’installateur, puis se verrouille d’elle-même. Rien ne se passe pendant qu’il roule`,
    reasons: {
      delivery: 'Livraison ou enlèvement',
      inspection: 'Contrôle par une autorité',
      rescue: 'Personne ou marchandise en danger',
      driver: 'Demandé par le conducteur',
      test: 'Essai',
      other: 'Autre motif',
    },
    ttlHint: '1 h au plus. Une personne devrait être près du véhicule',
    passwordHint: 'Votre compte le redemande avant un déverrouillage',
    failed: 'Non demandé',
    withdraw: 'Retirer',
    withdrawFailed: 'Non retiré',
    executing: 'Ouverture du verrou ordonnée',
    says: {
      armedPlain: 'En attente sur le véhicule jusqu’à ce que ce soit sûr',
      executing: 'L’ouverture du verrou est ordonnée. Il n’est pas encore relu',
      confirmed: (time) => `Cargaison déverrouillée. Le verrou a été relu ouvert à ${time}`,
      refused: (vehicle, why) => `Non déverrouillée. ${vehicle} a refusé : ${why}`,
      refusedBy: (user) => `Non déverrouillée. ${user} a refusé ; rien n’a été envoyé`,
      expired: 'Non déverrouillée. La commande a expiré avant que le véhicule n’agisse',
      expiredRequest:
        'Non déverrouillée. Aucune deuxième personne n’a approuvé à temps ; rien n’a été envoyé',
      cancelled: 'Non déverrouillée. La commande a été retirée',
    },
    hints: {
      confirmed:
        'Elle se verrouille d’elle-même après la durée réglée sur le véhicule. Vous pouvez la verrouiller à tout moment',
      nothingRepeated:
        'Rien n’est répété automatiquement. Redemandez si la cargaison doit toujours être déverrouillée',
      unknown: 'Regardez le verrou de cargaison relu ; verrouillez en cas de doute',
    },
    after: {
      badge: 'Reverrouillé',
      undone: (time) =>
        `La cargaison était déverrouillée : le verrou a été relu ouvert à ${time}. Elle est reverrouillée`,
      by: (user, time) => `Verrouillé par ${user} à ${time}`,
      readBack: 'Le verrou est relu fermé au véhicule',
      undoing: (user, time) =>
        `${user} a demandé le verrouillage à ${time}. Le verrou n’est pas encore relu fermé`,
      replaced: 'La cargaison est maintenant déverrouillée par un autre ordre, relu au véhicule',
      step: (user) => `Verrouillé par ${user}`,
    },
    relayNow: 'Verrou de cargaison maintenant',
    leftAnnounce: (span) => `Il reste ${span} avant l’expiration du déverrouillage`,
    stale: (time) =>
      `Vous voyez l’état de ${time}. Le véhicule décide sans la console et se verrouille de lui-même. Un verrouillage peut toujours être demandé`,
    needMovement: 'par entrée de mouvement et bus du véhicule',
    rehearse: 'Demander au véhicule : déverrouillerait-il maintenant ?',
    rehearsal: 'Déverrouillerait-il maintenant ?',
    would: 'Oui : le véhicule déverrouillerait maintenant',
    safe: {
      pressAgain: 'Vous pouvez appuyer à nouveau à tout moment : verrouiller deux fois ne nuit pas',
      asking: (vehicle) => `Demande au service de verrouiller la cargaison de ${vehicle}`,
      asked: (vehicle) => `Verrouillage de la cargaison de ${vehicle} demandé`,
      states: {
        requested:
          'Il part dès que le véhicule se connecte. Un verrou ouvert se ferme aussi de lui-même, après la durée réglée',
        sent: 'Envoyé. Le véhicule n’a pas encore répondu',
        received: 'Le véhicule l’a reçu',
        armed: 'Le véhicule l’a reçu et attend',
        executing: 'La fermeture du verrou est ordonnée. Il n’est pas encore relu',
        refused: 'Le véhicule l’a refusé',
        expired: 'Il a expiré avant que le véhicule n’agisse',
        cancelled: 'Il a été retiré',
        superseded: 'Une commande plus récente l’a remplacé',
        unknown: 'Son issue est inconnue',
      },
      confirmed: (vehicle, time) =>
        `Cargaison de ${vehicle} verrouillée. Le verrou a été relu fermé à ${time}`,
    },
  },
};
