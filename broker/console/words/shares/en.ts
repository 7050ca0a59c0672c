// Shares in English.
import type { Widened } from '../base/catalogue.ts';
import { counterOf, formatNumber } from '../base/format.ts';

const many = counterOf('en');

export const shareTexts = {
  shares: {
    lead: 'Links that show one vehicle or one trip to people without a login',
    share: 'Share',
    titleLive: (name: string) => `Share ${name}`,
    titleTrip: (name: string) => `Share a trip of ${name}`,
    liveText: (name: string) => `Whoever has the link sees where ${name} is, and nothing else of the account`,
    tripText: 'Whoever has the link sees the way of this trip, and nothing else of the account',
    what: 'What is shared',
    kinds: { live: 'Position, live', trip: 'Trip' },
    life: 'For how long',
    lives: { '1': '1 hour', '4': '4 hours', '24': '24 hours', '72': '3 days', '168': '7 days' },
    endsAt: 'Ends',
    note: 'Note for the person',
    noteHint: 'The link shows no names. Say who shares it, and what',
    endsToo: 'It also ends when you may not share any more, or no longer see the vehicle',
    ofVehicle: 'All links to this vehicle',
    make: 'Create link',
    link: 'Link',
    qr: 'QR code of the link',
    openLinks: (count: number) => many(count, 'open link', 'open links'),
    tripOf: (time: string) => `Share the trip of ${time}`,
    all: 'Links to all vehicles',
    of: (name: string) => `Links to ${name}`,
    allVehicles: 'All vehicles',
    filter: 'Filter by state',
    filters: { open: 'Open', ended: 'Ended', all: 'All' },
    caption: 'Links, the newest first',
    columns: {
      share: 'Link to',
      state: 'State',
      made: 'Made by',
      until: 'Until',
      used: 'Opened',
      action: 'Action',
    },
    standings: { open: 'Open', expired: 'Expired', revoked: 'Revoked' },
    revoke: 'Revoke',
    revokeOf: (name: string, note: string) =>
      note === '' ? `Revoke the link to ${name}` : `Revoke the link to ${name}: ${note}`,
    revokeTitle: (name: string) => `Revoke the link to ${name}`,
    revokeText: 'It shows nothing from then on, also where it is open. It cannot be taken back',
    empty: { open: 'No link is open', ended: 'No link has ended lately', all: 'No links yet' },
    emptyHint: 'Open a vehicle and press Share. Links that ended stay here for 30 days',
    newest: (most: number) => `The newest ${formatNumber(most, 'en')} are listed`,
    viewer: 'Operators and administrators share vehicles',
    viewerHint: 'Ask one of your account',
  },
} as const;

export type ShareTexts = Widened<typeof shareTexts>;
