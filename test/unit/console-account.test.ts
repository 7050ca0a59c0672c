// The account's form and the preferences of a user as the console judges them.
import { describe, expect, it } from 'vitest';
import {
  type Account,
  accountBody,
  accountChanges,
  accountDraftOf,
  accountFaults,
  accountLook,
} from '../../broker/console/state/account/account-view.ts';
import { preferencesOf, withPreferences } from '../../broker/console/state/account/preferences.ts';
import { detailItems, kindOf } from '../../broker/console/state/audit/entry-text.ts';

const account: Account = {
  accountID: 'acme',
  accountDisplayName: 'Acme Haulage',
  timeZone: 'America/Toronto',
  needsApproval: false,
  needsPassword: false,
  approvalOffRequestedBy: '',
  approvalOffRequestedOn: 0,
  cutsPerHour: 20,
  retainedDays: 0,
  maximumRetainedDays: 0,
  isActive: true,
  expirationTime: 0,
  maximumDevices: 500,
  deviceCount: 1,
  status: 'ok',
  message: '',
} as unknown as Account;

const known = accountDraftOf(account);
const faultsOf = (draft: Partial<typeof known>, of = account) => [
  ...accountFaults(of, { ...known, ...draft }),
];
const looksOf = (draft: Partial<typeof known>, of = account) =>
  accountChanges(of, { ...accountDraftOf(of), ...draft }).map(accountLook);

describe('the form of the account', () => {
  it('sends only what was changed', () => {
    expect(accountBody(account, known)).toEqual({ accountID: 'acme' });
    expect(accountBody(account, { ...known, cutsPerHour: ' 5 ', name: 'Acme' })).toEqual({
      accountID: 'acme',
      accountDisplayName: 'Acme',
      cutsPerHour: 5,
    });
  });

  it('takes whole numbers within the limits only', () => {
    for (const text of ['', '-1', '1.5', '1001', 'ten', '1e2'])
      expect([text, faultsOf({ cutsPerHour: text })]).toEqual([text, ['cutsPerHour']]);
    for (const text of ['0', '1000']) expect(faultsOf({ cutsPerHour: text })).toEqual([]);
    expect(faultsOf({ retainedDays: '36500' })).toEqual([]);
    expect(faultsOf({ retainedDays: '36501' })).toEqual(['retainedDays']);
    expect(faultsOf({ timeZone: ' ' })).toEqual(['timeZone']);
  });

  it('keeps events for ever only where the operator of the service sets no limit', () => {
    const limited = { ...account, retainedDays: 30, maximumRetainedDays: 90 };
    expect(faultsOf({ retainedDays: '90' }, limited)).toEqual([]);
    expect(faultsOf({ retainedDays: '91' }, limited)).toEqual(['retainedDays']);
    expect(faultsOf({ retainedDays: '0' }, limited)).toEqual(['retainedDays']);
  });

  it('asks once more before events are deleted, or cuts are taken away', () => {
    const kept = { ...account, retainedDays: 90 };
    expect(looksOf({ retainedDays: '90' })).toEqual(['deletes']);
    expect(looksOf({ retainedDays: '30' }, kept)).toEqual(['deletes']);
    expect(looksOf({ retainedDays: '0' }, kept)).toEqual([null]);
    expect(looksOf({ retainedDays: '365' }, kept)).toEqual([null]);
    expect(looksOf({ cutsPerHour: '0' })).toEqual(['noCuts']);
    expect(looksOf({ cutsPerHour: '19' })).toEqual(['fewerCuts']);
    expect(looksOf({ cutsPerHour: '21', name: 'Acme', timeZone: 'Europe/Berlin' })).toEqual([
      null,
      null,
      null,
    ]);
  });
});

describe('the preferences of a user', () => {
  const none = { language: null, theme: null, singleKeys: null, system: null, clock: null, zone: null };

  it('are the member of the console, and what other apps keep stays', () => {
    const saved = withPreferences(
      { units: 'metric', console: { theme: 'dark' } },
      { ...none, language: 'de', singleKeys: false, system: 'us', clock: '12', zone: 'account' },
    );
    expect(saved).toEqual({
      units: 'metric',
      console: { language: 'de', singleKeys: false, system: 'us', clock: '12', zone: 'account' },
    });
    expect(preferencesOf(saved)).toEqual({
      ...none,
      language: 'de',
      singleKeys: false,
      system: 'us',
      clock: '12',
      zone: 'account',
    });
  });

  it('count as not kept where another program wrote something else there', () => {
    for (const own of [
      undefined,
      null,
      'dark',
      7,
      [],
      { language: 3, theme: {}, singleKeys: 'on', system: 'miles', clock: 12, zone: 'UTC' },
    ])
      expect(preferencesOf({ console: own })).toEqual(none);
  });
});

describe('an entry of the audit log', () => {
  it.each([
    [{ roleID: 'operator' }, [{ name: 'roleID', value: 'operator' }]],
    [
      {
        changes: { cutsPerHour: { from: 20, to: 5 }, groups: { from: [], to: ['north'] } },
        hasNewPassword: true,
      },
      [
        { name: 'cutsPerHour', value: 5, before: 20 },
        { name: 'groups', value: ['north'], before: [] },
        { name: 'hasNewPassword', value: true },
      ],
    ],
    [{ point: { latitude: 1 } }, [{ name: 'latitude', value: 1 }]],
  ])('%j has its members with what they were before', (detail, items) => {
    expect(detailItems(detail)).toEqual(items);
  });

  it.each([
    ['expires', 1_700_000_000, 'time'],
    ['timestamp', 1_700_000_000, 'time'],
    ['until', 0, 'none'],
    ['ttlS', 3600, 'span'],
    ['isActive', false, 'switch'],
    ['groups', [], 'none'],
    ['groups', ['north'], 'list'],
    ['text', '', 'none'],
    ['other', null, 'none'],
    ['cutsPerHour', 0, 'plain'],
  ])('says %s of %j as a %s', (name, value, kind) => {
    expect(kindOf(name, value)).toBe(kind);
  });
});
