// Restrictive orders of a device with an owner's key. They wait until so many persons of the owner's list have signed the very order that is then
// sent. The checks here give good errors only: the vehicle verifies each signature itself, by a key that the service does not have.
import { AppError } from '../../../src/core/errors.ts';
import type { FeatureName } from '../../../src/core/events/event.ts';
import type { Person, PersonsList } from '../../../src/core/persons/owner-document.ts';
import { mayOrder, orderChallenge, type PersonalOrder } from '../../../src/core/persons/persons.ts';
import { encodeBase64url } from '../../../src/core/persons/webauthn.ts';
import { ttlRangeS } from '../../commands/command-request.ts';
import { roleCovers } from '../../core/accounts/session.ts';
import { type ApprovalRow, personalOrderOf, viewApproval } from '../../store/commands/approvals.ts';
import { findOwnerDocument } from '../../store/commands/owner-documents.ts';
import type { DeviceRow } from '../../store/devices/devices.ts';
import type { ApiServices } from '../base/api-services.ts';
import type { Caller } from '../base/caller.ts';
import type { SignedMembers } from './command-view.ts';

/** Life of an order without `ttl`, in seconds: persons need time to sign. */
export const signedLifeS: Readonly<Record<FeatureName, number>> = { enginecutoff: 86_400, cargoaccess: 900 };

const nothingWaits = (message: string, hint: string): AppError =>
  new AppError('conflict', `${message}: nothing was sent, nothing waits`, { hint });

/** What of an order is known before it is reserved. */
type Wanted = Pick<PersonalOrder, 'accountID' | 'deviceID' | 'feature'>;

const personsFor = (list: PersonsList, order: Wanted): readonly Person[] =>
  list.persons.filter((person) => mayOrder(person, order));

/** What a list wants of an order. */
interface Wants {
  /** Number of signatures that the owner's list asks for. */
  readonly needed: number;
  /** Longest life, in seconds: no order outlives the list that its signatures are judged by. */
  readonly mostS: number;
}

/**
 * What the list of the device's owner wants of an order for this device.
 * @throws AppError `conflict` where the vehicle would refuse it whoever signs.
 */
export async function wantsFor(
  { db, clock }: ApiServices,
  device: DeviceRow,
  feature: FeatureName,
): Promise<Wants> {
  const { accountID, deviceID, ownerPin } = device;
  const document = await findOwnerDocument(db, { accountID, ownerPin });
  const hint = 'An administrator gives the owner.json of its owner to setOwner.';
  if (document === null) throw nothingWaits("The service has no document of this unit's owner", hint);
  const { list, sets } = document;
  if (list === null) throw nothingWaits("The owner's document names no persons yet", hint);
  const isOlder =
    sets.length < device.ownerSet || (sets.length === device.ownerSet && list.version < device.ownerList);
  if (isOlder)
    throw nothingWaits(
      `The unit holds list ${device.ownerList} of its owner, the service list ${list.version}`,
      hint,
    );
  const mostS = Math.floor((list.validUntilMs - clock.utcMs()) / 1000);
  if (mostS < ttlRangeS.low)
    throw nothingWaits(
      "The owner's list has ended",
      'The owner signs a new one; an administrator gives it to setOwner.',
    );
  const needed = list.needed[feature];
  const able = personsFor(list, { accountID, deviceID, feature }).length;
  if (able < needed)
    throw nothingWaits(
      `${needed} persons must sign this, and the owner's list names ${able} for this vehicle`,
      'The owner signs a list that names more.',
    );
  return { needed, mostS };
}

/** Reads the list of the owner of an order; null: the service has none. */
type ReadList = (row: ApprovalRow) => Promise<PersonsList | null>;

const readListOf =
  ({ db }: Pick<ApiServices, 'db'>): ReadList =>
  async (row) =>
    (await findOwnerDocument(db, row))?.list ?? null;

/** What the browser of the calling user needs to sign this order; null: it cannot be signed by this caller. */
export async function signOptionsFor(
  services: Pick<ApiServices, 'db' | 'persons'>,
  { role, scopes, userID }: Caller,
  row: ApprovalRow,
  readList: ReadList = readListOf(services),
): Promise<SignedMembers['signOptions']> {
  const order = personalOrderOf(row);
  const isOpen = order !== null && row.approvalState === 'pending';
  if (!isOpen || scopes !== null || !roleCovers(role, 'operator')) return null;
  const list = await readList(row);
  if (list === null) return null;
  const given = new Set((row.signatures ?? []).map(({ personID }) => personID));
  const left = personsFor(list, order).filter(({ id }) => !given.has(id));
  const own = left.filter(({ id }) => id === userID);
  const credentials = [...own, ...left.filter(({ id }) => id !== userID)].flatMap(({ passkeys }) =>
    passkeys.map(({ credential }) => credential),
  );
  const challenge = encodeBase64url(orderChallenge(order, services.persons));
  return { rpID: list.rpID, challenge, credentials, userVerification: 'required' };
}

/** An approval as the caller sees it. */
export async function viewFor(
  services: Pick<ApiServices, 'db' | 'persons'>,
  caller: Caller,
  row: ApprovalRow,
  readList?: ReadList,
) {
  return { ...viewApproval(row), signOptions: await signOptionsFor(services, caller, row, readList) };
}

/** Several approvals as the caller sees them: the document of an owner is read and decoded once. */
export async function viewAllFor(
  services: Pick<ApiServices, 'db' | 'persons'>,
  caller: Caller,
  rows: readonly ApprovalRow[],
) {
  const read = readListOf(services);
  const lists = new Map<string, ReturnType<ReadList>>();
  const readOnce: ReadList = (row) => {
    const key = `${row.accountID}/${row.ownerPin}`;
    const list = lists.get(key) ?? read(row);
    lists.set(key, list);
    return list;
  };
  return Promise.all(rows.map((row) => viewFor(services, caller, row, readOnce)));
}
