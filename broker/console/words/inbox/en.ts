// The inbox in English.
import type { Widened } from '../base/catalogue.ts';
import { counterOf } from '../base/format.ts';

const many = counterOf('en');

export const inboxTexts = {
  inbox: {
    filter: 'Filter by what you have viewed',
    filters: { all: 'All', unviewed: 'Not viewed' },
    only: (vehicle: string) => `Only ${vehicle}`,
    every: 'Show every vehicle',
    caption: 'Notifications, the newest first',
    columns: { what: 'What', vehicle: 'Vehicle', when: 'When', state: 'State' },
    empty: 'Nothing here yet',
    emptyHint: 'Alerts of the vehicles that you see, and what rules send you, appear here for 90 days',
    allViewed: 'You have viewed everything',
    account: (user: string) => `Notice of the account about ${user}`,
    late: 'arrived late',
    /** Before a number, in a push. */
    lateAlarms: 'Late alarms',
    fresh: 'Not viewed',
    viewed: 'Viewed',
    mark: 'Mark as viewed',
    markOf: (what: string, vehicle: string) => `Mark as viewed: ${what}, ${vehicle}`,
    markAll: 'Mark all as viewed',
    marked: 'All are marked as viewed',
    alarm: 'Open the alarm',
    older: 'Show older ones',
    shown: (count: number) => `${many(count, 'notification', 'notifications')} shown`,
    fromVehicles: {
      title: 'Messages of vehicles',
      none: 'No unread messages of vehicles',
      hint: 'What the units of your vehicles send as text appears here for 30 days',
      own: 'For you alone, of all vehicles',
      read: 'Mark these as read',
    },
    push: {
      title: 'Notifications of this browser',
      text: 'Rules with push notify you here, also while the console is closed and after you sign out',
      states: {
        insecure: 'Not offered: notifications need HTTPS',
        unsupported: 'Not offered by this browser',
        refused: 'Refused for this site in the settings of the browser. Allow them there first',
        off: 'Off in this browser',
        on: 'On in this browser',
        other: 'On in this browser for another user',
      },
      faults: {
        refused: 'The browser was not allowed to notify',
        no_service: 'The browser has not reached its push service',
        undeliverable: 'The service cannot send to this browser',
      },
      switchOn: 'Switch on in this browser',
      switchOff: 'Switch off in this browser',
      failed: 'Nothing was changed',
    },
  },
} as const;

export type InboxTexts = Widened<typeof inboxTexts>;
