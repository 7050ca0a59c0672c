// The account's settings in its form: changes, faults, and changes that need a confirmation. Pure.
import type { Result } from '../../api/operations.ts';

export type Account = Result<'getAccount'>;

export const accountFields = ['name', 'timeZone', 'cutsPerHour', 'retainedDays'] as const;
export type AccountField = (typeof accountFields)[number];

/** As typed. */
export type AccountDraft = Readonly<Record<AccountField, string>>;

/** As the service takes them. */
export const nameMost = 128;
export const cutsPerHourMost = 1000;
export const retainedDaysMost = 36_500;

export const accountDraftOf = (account: Account): AccountDraft => ({
  name: account.accountDisplayName,
  timeZone: account.timeZone,
  cutsPerHour: String(account.cutsPerHour),
  retainedDays: String(account.retainedDays),
});

export interface AccountChange {
  readonly field: AccountField;
  readonly before: string;
  readonly after: string;
}

export function accountChanges(account: Account, draft: AccountDraft): readonly AccountChange[] {
  const known = accountDraftOf(account);
  return accountFields.flatMap((field) => {
    const [before, after] = [known[field], draft[field].trim()];
    return before === after ? [] : [{ field, before, after }];
  });
}

const numberOf = (text: string): number => (/^\d{1,6}$/.test(text.trim()) ? Number(text) : Number.NaN);

/** The most days that may be chosen, and whether "for ever" (0) may be. */
export const retainedLimit = ({ maximumRetainedDays }: Account) => ({
  most: maximumRetainedDays === 0 ? retainedDaysMost : maximumRetainedDays,
  mayBeForEver: maximumRetainedDays === 0,
});

export function accountFaults(account: Account, draft: AccountDraft): ReadonlySet<AccountField> {
  const { most, mayBeForEver } = retainedLimit(account);
  const [cuts, days] = [numberOf(draft.cutsPerHour), numberOf(draft.retainedDays)];
  const isWrong: Readonly<Record<AccountField, boolean>> = {
    name: draft.name.trim().length > nameMost,
    timeZone: draft.timeZone.trim() === '',
    cutsPerHour: !(cuts <= cutsPerHourMost),
    retainedDays: !(days <= most) || (days === 0 && !mayBeForEver),
  };
  return new Set(accountFields.filter((field) => isWrong[field]));
}

/** Loss by a change, which needs a confirmation: events for good, or cuts. */
export type AccountLook = 'deletes' | 'noCuts' | 'fewerCuts';

export function accountLook({ field, before, after }: AccountChange): AccountLook | null {
  const [from, to] = [Number(before), Number(after)];
  if (field === 'retainedDays' && to > 0 && (from === 0 || to < from)) return 'deletes';
  if (field === 'cutsPerHour' && to < from) return to === 0 ? 'noCuts' : 'fewerCuts';
  return null;
}

/** Request body: only changed members. */
export function accountBody(account: Account, draft: AccountDraft) {
  const changed = new Map(accountChanges(account, draft).map(({ field, after }) => [field, after]));
  const [name, timeZone] = [changed.get('name'), changed.get('timeZone')];
  const [cuts, days] = [changed.get('cutsPerHour'), changed.get('retainedDays')];
  return {
    accountID: account.accountID,
    ...(name === undefined ? {} : { accountDisplayName: name }),
    ...(timeZone === undefined ? {} : { timeZone }),
    ...(cuts === undefined ? {} : { cutsPerHour: Number(cuts) }),
    ...(days === undefined ? {} : { retainedDays: Number(days) }),
  };
}
