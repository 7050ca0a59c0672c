// A change of the list of persons, and what it means in words: what a person reads before signing. Pure.
import { dateOfNumber, dateText } from '../../../src/core/calendar.ts';
import { dayMs } from '../../../src/core/durations.ts';
import type { FeatureName } from '../../../src/core/events/event.ts';
import type { Person, PersonsList } from '../../../src/core/persons/owner-document.ts';

/** Persons and pages as the console exports them: a list without what only the owner decides. */
export interface RegisteredPasskeys {
  readonly rpID: string;
  readonly origins: readonly string[];
  readonly persons: readonly Partial<Person>[];
}

export interface PeopleChange {
  readonly registered: RegisteredPasskeys | null;
  readonly removed: readonly string[];
  readonly needed: Readonly<Partial<Record<FeatureName, number>>>;
  /** Null: as before. */
  readonly validUntilMs: number | null;
  /** Of persons whose file names none. */
  readonly role: string;
  readonly vehicles: readonly string[];
}

/** The next list. Nothing is checked here. @param signed the list that holds; null: none. @param base what is edited. */
export function nextList(
  {
    base,
    signed,
    set,
  }: { readonly base: PersonsList | null; readonly signed: PersonsList | null; readonly set: string },
  change: PeopleChange,
): PersonsList {
  const { registered, removed, needed, validUntilMs, role, vehicles } = change;
  const old = base?.persons ?? [];
  const come = (registered?.persons ?? []).map((person) => {
    const before = old.find(({ id }) => id === person.id);
    return {
      id: '',
      name: '',
      passkeys: [],
      ...before,
      role: before?.role ?? role,
      vehicles: before?.vehicles ?? vehicles,
      ...person,
    };
  });
  const stay = old.filter(({ id }) => !removed.includes(id) && come.every((person) => person.id !== id));
  return {
    version: (signed?.version ?? 0) + 1,
    set,
    rpID: registered?.rpID ?? base?.rpID ?? '',
    origins: registered?.origins ?? base?.origins ?? [],
    validUntilMs: validUntilMs ?? base?.validUntilMs ?? 0,
    needed: { enginecutoff: 1, cargoaccess: 1, ...base?.needed, ...needed },
    persons: [...stay, ...come],
  };
}

const rights: Readonly<Record<string, string>> = {
  cut: 'may order engine cuts',
  unlock: 'may order unlocking of cargo',
  both: 'may order engine cuts and unlocking of cargo',
};
const dayOf = (atMs: number): string => dateText(dateOfNumber(Math.floor(atMs / dayMs)));
const personText = ({ id, name, role, vehicles, passkeys }: Person): string =>
  `${id} (${name}) ${rights[role] ?? role} of ${vehicles.join(', ') || 'no vehicle'}; passkeys: ${
    passkeys.map(({ credential }) => credential.slice(0, 12)).join(', ') || 'none'
  }`;
const neededText = (list: PersonsList): string =>
  `persons who must agree: ${list.needed.enginecutoff} to a cut, ${list.needed.cargoaccess} to an unlock`;
const pagesText = (list: PersonsList): string =>
  `passkeys of ${list.rpID}, used at ${list.origins.join(', ') || 'no page'}`;
const validText = (list: PersonsList): string => `valid until ${dayOf(list.validUntilMs)} (UTC)`;

const signed = (sign: '+' | '-', texts: readonly string[]): readonly string[] =>
  texts.map((text) => `${sign} ${text}`);

/** The list in lines. */
export const describeList = (list: PersonsList): readonly string[] => [
  neededText(list),
  validText(list),
  pagesText(list),
  ...list.persons.map(personText),
];

/** What changes from one list to the next: lines that go (-) and come (+). @param before null: there is none. */
export function describeChange(before: PersonsList | null, after: PersonsList): readonly string[] {
  const old = before === null ? [] : describeList(before);
  const fresh = describeList(after);
  return [
    ...signed(
      '-',
      old.filter((line) => !fresh.includes(line)),
    ),
    ...signed(
      '+',
      fresh.filter((line) => !old.includes(line)),
    ),
  ];
}
