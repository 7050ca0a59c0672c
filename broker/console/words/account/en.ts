// The account and the user's own preferences in English.
import type { Widened } from '../base/catalogue.ts';
import { formatNumber } from '../base/format.ts';

const n = (value: number): string => formatNumber(value, 'en');

export const accountTexts = {
  account: {
    of: (account: string) => `Account ${account}`,
    state: 'State',
    active: 'Active',
    inactive: 'Suspended or expired',
    ends: 'Ends',
    endsNever: 'It does not end',
    devices: 'Devices',
    devicesOf: (count: number, most: number) => `${n(count)} of ${n(most)}`,
    devicesFree: (count: number) => `${n(count)}, without a limit`,
    adminsOnly: 'The settings of the account are changed by administrators',
    settings: 'Settings',
    fields: {
      name: 'Name of the account',
      timeZone: 'Time zone',
      cutsPerHour: 'Cuts of one user in an hour',
      retainedDays: 'Days that events are kept',
    },
    hints: {
      timeZone: 'As in Europe/Berlin; new users begin with it',
      cutsPerHour: '0 to 1,000. One cut too many opens the breaker; 0 allows none',
      retainedDays: (most: number, mayBeForEver: boolean) =>
        mayBeForEver ? `1 to ${n(most)}; 0 keeps them for ever` : `1 to ${n(most)}, as the operator allows`,
    },
    wrong: {
      name: 'Use at most 128 characters',
      timeZone: 'Name a time zone',
      cutsPerHour: 'Use a whole number from 0 to 1,000',
      retainedDays: 'Use a whole number of days within the limits',
    },
    look: (account: string) => `Save for account ${account}?`,
    lookAction: (account: string) => `Save for ${account}`,
    looks: {
      deletes: 'Older events are deleted for good',
      noCuts: 'No user may ask for a cut any more. Restores stay free',
      fewerCuts: 'Users who reached the new limit open the breaker with their next cut',
    },
    cuts: 'Rules for cuts',
    approval: {
      name: 'Second person',
      on: 'Every cut needs a second user',
      off: 'One user is enough for a cut',
      require: 'Require a second user',
      requireTitle: 'Require a second user for every cut?',
      requireText:
        'From now on a cut waits until another operator or administrator approves it. Switching this off takes two administrators, or a day',
      requireAction: (account: string) => `Require a second user in ${account}`,
      drop: 'Switch off',
      dropTitle: 'Switch off the second user?',
      dropText:
        'It takes effect when another administrator asks for the same, or, where there is no other, when you ask again a day later. Every administrator is notified',
      dropAction: (account: string) => `Ask to switch it off in ${account}`,
      asked: (user: string, time: string) => `${user} asks since ${time} to switch this off`,
      agree: 'Agree',
      agreeAction: (account: string) => `Switch it off in ${account}`,
      again: 'Ask again',
      keep: 'Keep the rule',
    },
    password: {
      name: 'Password again',
      on: 'A cut and its approval need the password again',
      off: 'A cut needs no password again',
      require: 'Require the password',
      requireTitle: 'Require the password before every cut?',
      requireText:
        'From now on a cut, an unlock of the cargo and every approval need the password of the user once more. A restore never does',
      requireAction: (account: string) => `Require the password in ${account}`,
      drop: 'Switch off',
      dropTitle: 'Switch off the password before a cut?',
      dropText: 'An open session is then enough for a cut. Every administrator is notified',
      dropAction: (account: string) => `Switch off the password in ${account}`,
    },
    breaker: {
      reset: 'Reset the breaker',
      title: (account: string) => `Reset the breaker of ${account}?`,
      text: 'Cuts are accepted again, and counted anew. The user who opened it cannot reset it',
      reason: 'Why it is safe to go on',
      reasonHint: 'Kept in the audit log',
      action: (account: string) => `Reset the breaker of ${account}`,
    },
    preferences: {
      title: 'Your preferences',
      text: 'The service keeps them for you: they apply in every browser in which you sign in, from the sign-in on. The menus of the bar change this browser only',
      language: 'Language',
      theme: 'Theme',
      singleKeys: 'Single keys as shortcuts',
      notKept: 'Not kept: each browser decides',
      save: 'Save your preferences',
      saved: 'Saved, and applied here',
      meanwhile: 'Your preferences were changed elsewhere meanwhile. They were read again: look, then save',
    },
  },
} as const;

export type AccountTexts = Widened<typeof accountTexts>;
