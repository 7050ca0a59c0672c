// Shared by the first load and several screens, in German: names of the pages, deliveries, the way to a cut.
import { formatNumber } from '../base/format.ts';
import type { SharedTexts } from './en.ts';

const n = (value: number): string => formatNumber(value, 'de');

export const sharedTexts: SharedTexts = {
  pages: {
    inbox: {
      title: 'Eingang',
      go: 'Zum Eingang',
      count: (count, hasMore) => `, ${n(count)}${hasMore ? ' oder mehr' : ''} nicht angesehen`,
    },
    zones: { title: 'Zonen', go: 'Zu den Zonen' },
    routes: { title: 'Routen', go: 'Zu den Routen' },
    reports: { title: 'Berichte', go: 'Zu den Berichten' },
    devices: { title: 'Geräte', go: 'Zu den Geräten' },
    settings: { title: 'Einstellungen', go: 'Zu den Einstellungen aller Fahrzeuge' },
    people: { title: 'Personen', go: 'Zu den Personen' },
    rules: { title: 'Regeln und Zustellungen', short: 'Regeln', go: 'Zu den Regeln' },
    releases: { title: 'Programmstände', short: 'Programm', go: 'Zu den Programmständen' },
    audit: { title: 'Audit', go: 'Zum Audit-Protokoll' },
    shares: { title: 'Geteilt', go: 'Zu den geteilten Links' },
    practice: { title: 'Übungsflotte', short: 'Übung', go: 'Zur Übungsflotte' },
    wallboard: { go: 'Wandtafel öffnen' },
    account: { title: 'Konto und Vorlieben', go: 'Zu Konto und Vorlieben' },
    approvals: {
      title: 'Zustimmungen',
      go: 'Zu den Zustimmungen',
      count: (count) => `, ${count} warten auf Sie`,
      announce: (vehicle, user) => `${user} fordert eine Sperre von ${vehicle} an`,
    },
  },
  deliveries: {
    title: 'Zustellungen',
    none: 'Keine Zustellung per E-Mail, Push oder Webhook ist verzeichnet. Sie werden 30 Tage aufbewahrt',
    viewer: 'An wen sie gingen, sehen Bediener und Administratoren',
    channels: { webhook: 'Webhook', email: 'E-Mail', push: 'Push' },
    states: { sent: 'zugestellt', pending: 'wartet', dead: 'aufgegeben' },
    after: (span) => `nach ${span}`,
  },
  relays: {
    enginecutoff: {
      name: 'Motorsperre',
      states: { 0: 'Nicht gesperrt', 1: 'Gesperrt' },
      safe: 'Motor freigeben',
      safeFailed: 'Freigabe nicht angefordert',
      open: 'Motor sperren…',
      watch: 'Sperre verfolgen',
      off: 'Sperren ist aus: Die Konsole hat keine aktuellen Belege',
      title: (vehicle) => `Motor sperren · ${vehicle}`,
    },
    cargoaccess: {
      name: 'Laderaumverriegelung',
      states: { 0: 'Verriegelt', 1: 'Entriegelt' },
      safe: 'Laderaum verriegeln',
      safeFailed: 'Verriegelung nicht angefordert',
      open: 'Laderaum entriegeln…',
      watch: 'Entriegelung verfolgen',
      off: 'Entriegeln ist aus: Die Konsole hat keine aktuellen Belege',
      title: (vehicle) => `Laderaum entriegeln · ${vehicle}`,
    },
  },
  keys: {
    restore: 'Zur Freigabe des offenen Fahrzeugs',
    middle: 'Auf der Karte: öffnen, was in ihrer Mitte liegt',
  },
};
