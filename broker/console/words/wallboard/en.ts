// The wallboard in English.
import type { Widened } from '../base/catalogue.ts';
import { counterOf } from '../base/format.ts';

const many = counterOf('en');

export const wallboardTexts = {
  wallboard: {
    title: 'Wallboard',
    states: 'Vehicles by state',
    map: 'Map of the vehicles; the figures beside it count the same',
    noMap: 'The map needs WebGL, which this browser does not offer',
    alarms: (count: number) => many(count, 'open alarm', 'open alarms'),
    noAlarms: 'No open alarms',
    alarmsUnknown: 'Open alarms: not known',
    takenBy: (user: string) => `Taken by ${user}`,
    shelved: (count: number) => many(count, 'alarm is shelved', 'alarms are shelved'),
    orders: (count: number) => many(count, 'order waits', 'orders wait'),
    noOrders: 'No order waits',
    ordersUnknown: 'Waiting orders: not known',
    more: (count: number) => `and ${many(count, 'more', 'more')}`,
    opening: 'Connecting',
    down: (time: string, span: string) => `No connection since ${time} (${span})`,
    downHint: (time: string) => `What you see is as of ${time}. It is tried again by itself`,
    noAnswer: (time: string, span: string) => `The service has not answered since ${time} (${span})`,
    noAnswerHint: 'It is tried again by itself',
    ended: (time: string, span: string) => `This screen has had no access since ${time} (${span})`,
    endedHint:
      'Its token has expired or was ended. It is tried again each minute; a new token is set up below',
    refused: 'This token is not for a wallboard',
    expires: (span: string) => `The token of this screen ends in ${span}. Set up a new one before`,
    mayGoDark: 'This browser may switch the screen off',
    setUp: 'Set up this screen',
  },
  wallboardSetup: {
    title: 'Set up this wallboard',
    text: 'A wallboard needs an API token that may read and nothing else. It offers no command and no change.',
    steps: [
      'An administrator creates a user for screens, with the role Viewer and the groups that may be shown',
      'Sign in as that user. Under People, Your sessions and tokens, create one that may read and nothing else',
      'Paste it here. It stays in this browser until it is taken away here, or ended under People',
    ],
    token: 'API token',
    use: 'Show the fleet with this token',
    busy: 'Asking the service',
    faults: {
      shape: 'This is no whole API token. Copy all of it',
      login: 'This is the session of a person. Create a token that may read',
      scopes: 'This token may do more than read. Create one that may read and nothing else',
      unknown: 'The service does not accept this token. It may have ended',
      unreachable: 'The service does not answer. Check the network, then try again',
    },
    remove: 'Take the token off this browser',
    back: 'Back to the wallboard',
    language: 'Language',
    theme: 'Theme',
  },
} as const;

export type WallboardTexts = Widened<typeof wallboardTexts>;
