// Shared by the first load and several screens, in French: names of the pages, deliveries, the way to a cut.
import { formatNumber } from '../base/format.ts';
import type { SharedTexts } from './en.ts';

const n = (value: number): string => formatNumber(value, 'fr');

export const sharedTexts: SharedTexts = {
  pages: {
    inbox: {
      title: 'Boîte',
      go: 'Aller à la boîte de réception',
      count: (count, hasMore) => `, ${n(count)}${hasMore ? ' ou plus' : ''} non vues`,
    },
    zones: { title: 'Zones', go: 'Aller aux zones' },
    routes: { title: 'Itinéraires', go: 'Aller aux itinéraires' },
    reports: { title: 'Rapports', go: 'Aller aux rapports' },
    devices: { title: 'Appareils', go: 'Aller aux appareils' },
    settings: { title: 'Réglages', go: 'Aller aux réglages de tous les véhicules' },
    people: { title: 'Personnes', go: 'Aller aux personnes' },
    rules: { title: 'Règles et envois', short: 'Règles', go: 'Aller aux règles' },
    releases: { title: 'Versions du programme', short: 'Versions', go: 'Aller aux versions du programme' },
    audit: { title: 'Audit', go: 'Aller au journal d’audit' },
    shares: { title: 'Partages', go: 'Aller aux partages' },
    practice: { title: 'Flotte d’exercice', short: 'Exercice', go: 'Aller à la flotte d’exercice' },
    wallboard: { go: 'Ouvrir le tableau mural' },
    account: { title: 'Compte et préférences', go: 'Aller au compte et aux préférences' },
    approvals: {
      title: 'Approbations',
      go: 'Aller aux approbations',
      count: (count) => `, ${count} en attente de vous`,
      announce: (vehicle, user) => `${user} demande une coupure de ${vehicle}`,
    },
  },
  deliveries: {
    title: 'Envois',
    none: 'Aucun envoi par e-mail, push ou webhook n’est noté. Ils sont gardés 30 jours',
    viewer: 'Les destinataires ne sont montrés qu’aux opérateurs et administrateurs',
    channels: { webhook: 'Webhook', email: 'E-mail', push: 'Push' },
    states: { sent: 'remis', pending: 'en attente', dead: 'abandonné' },
    after: (span) => `après ${span}`,
  },
  relays: {
    enginecutoff: {
      name: 'Coupure moteur',
      states: { 0: 'Non coupé', 1: 'Coupé' },
      safe: 'Rétablir le moteur',
      safeFailed: 'Rétablissement non demandé',
      open: 'Couper le moteur…',
      watch: 'Suivre la coupure',
      off: 'La coupure est désactivée : la console n’a pas de preuves en direct',
      title: (vehicle) => `Couper le moteur · ${vehicle}`,
    },
    cargoaccess: {
      name: 'Verrou de cargaison',
      states: { 0: 'Verrouillé', 1: 'Déverrouillé' },
      safe: 'Verrouiller la cargaison',
      safeFailed: 'Verrouillage non demandé',
      open: 'Déverrouiller la cargaison…',
      watch: 'Suivre le déverrouillage',
      off: 'Le déverrouillage est désactivé : la console n’a pas de preuves en direct',
      title: (vehicle) => `Déverrouiller la cargaison · ${vehicle}`,
    },
  },
  keys: {
    restore: 'Aller au rétablissement du véhicule ouvert',
    middle: 'Sur la carte : ouvrir ce qui est en son milieu',
  },
};
