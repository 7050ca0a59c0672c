// Shared by the first load and several screens, in English: names of the pages, deliveries, the way to a cut.

import type { Widened } from '../base/catalogue.ts';
import { formatNumber } from '../base/format.ts';

const n = (value: number): string => formatNumber(value, 'en');

export const sharedTexts = {
  pages: {
    inbox: {
      title: 'Inbox',
      go: 'Go to the inbox',
      count: (count: number, hasMore: boolean) => `, ${n(count)}${hasMore ? ' or more' : ''} not viewed`,
    },
    zones: { title: 'Zones', go: 'Go to the zones' },
    routes: { title: 'Routes', go: 'Go to the routes' },
    reports: { title: 'Reports', go: 'Go to the reports' },
    devices: { title: 'Devices', go: 'Go to the devices' },
    settings: { title: 'Settings', go: 'Go to the settings of all vehicles' },
    people: { title: 'People', go: 'Go to the people' },
    rules: { title: 'Rules and deliveries', short: 'Rules', go: 'Go to the rules' },
    releases: { title: 'Releases', short: 'Releases', go: 'Go to the releases' },
    audit: { title: 'Audit', go: 'Go to the audit log' },
    shares: { title: 'Shares', go: 'Go to the shares' },
    practice: { title: 'Practice fleet', short: 'Practice', go: 'Go to the practice fleet' },
    wallboard: { go: 'Open the wallboard' },
    account: { title: 'Account and preferences', go: 'Go to account and preferences' },
    approvals: {
      title: 'Approvals',
      go: 'Go to the approvals',
      count: (count: number) => `, ${count} waits for you`,
      announce: (vehicle: string, user: string) => `${user} asks for a cut of ${vehicle}`,
    },
  },
  deliveries: {
    title: 'Deliveries',
    none: 'No delivery by e-mail, push or webhook is recorded. They are kept for 30 days',
    viewer: 'To whom they went is shown to operators and administrators',
    channels: { webhook: 'Webhook', email: 'E-mail', push: 'Push' },
    states: { sent: 'delivered', pending: 'waits', dead: 'given up' },
    after: (span: string) => `after ${span}`,
  },
  relays: {
    enginecutoff: {
      name: 'Engine cut-off',
      states: { 0: 'Not cut', 1: 'Cut' },
      safe: 'Restore engine',
      safeFailed: 'Restore was not asked',
      open: 'Cut engine…',
      watch: 'Watch the cut',
      off: 'Cutting is off: the console has no live evidence',
      title: (vehicle: string) => `Cut engine · ${vehicle}`,
    },
    cargoaccess: {
      name: 'Cargo lock',
      states: { 0: 'Locked', 1: 'Unlocked' },
      safe: 'Lock cargo',
      safeFailed: 'Locking was not asked',
      open: 'Unlock cargo…',
      watch: 'Watch the unlock',
      off: 'Unlocking is off: the console has no live evidence',
      title: (vehicle: string) => `Unlock cargo · ${vehicle}`,
    },
  },
  keys: {
    restore: 'Go to the restore of the open vehicle',
    middle: 'On the map: open what is at its middle',
  },
};

export type SharedTexts = Widened<typeof sharedTexts>;
