// Requests about many objects: each item is done like a single request, with its own audit entry and result. All or nothing is
// not promised. A fault of the service in one item does not hide the results of others.
import { type Static, Type } from 'typebox';
import { AppError, errorKinds, messageOf } from '../../../src/core/errors.ts';
import type { ApiServices } from './api-services.ts';
import { publicError } from './problem.ts';

/** A list of device ids to act on. */
export const manyDevices = (most: number) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
    minItems: 1,
    maxItems: most,
    uniqueItems: true,
    description: `The devices, each once, at most ${most}`,
  });

/** The result of one item. */
export const itemMembers = {
  deviceID: Type.String({ description: 'The device' }),
  status: Type.Integer({ description: 'HTTP status that a request for this device alone would have had' }),
  error: Type.Union(
    [
      Type.Object({
        code: Type.String({ description: 'As in error answers' }),
        detail: Type.String({ description: 'What is wrong' }),
        hint: Type.Union([Type.String(), Type.Null()], { description: 'What can be done' }),
      }),
      Type.Null(),
    ],
    { description: 'Null where it was done' },
  ),
} as const;

/** Error of an item. @param error made fit for clients by `publicError`, where it is not one of ours. */
export const itemError = ({ code, message: detail, hint }: AppError) => ({
  code,
  detail,
  hint: hint ?? null,
});

/** Members of the answer beside the items. */
export const bulkMembers = {
  done: Type.Integer({ minimum: 0, description: 'Items with status 200' }),
  failed: Type.Integer({ minimum: 0, description: 'The others' }),
} as const;

/** For the descriptions of operations. */
export const bulkText = `Every device is handled by itself, by the same rules as in a request for it alone, with an audit entry of its own. **All or nothing is not
promised:** the answer is 200 and \`items\` says for each device, in the order of the request, with which \`status\` it ended and why. Send the request again with the
same \`Idempotency-Key\` after a lost answer, and with a new one for the devices that failed. When the caller sees none of the devices
the answer is 404.`;

const itemResult = Type.Object(itemMembers);
export type ItemResult = Static<typeof itemResult>;

export type ItemOutcome<T> = ItemResult & { readonly value: T | null };

interface BulkWork<T> {
  /** Items that are worked on at a time; 1 where the first ones are to win over the later ones. */
  readonly atOnce: number;
  readonly run: (deviceID: string) => Promise<T>;
}

/**
 * Does the work for each device.
 * @throws AppError `not_found` when each one ended with it.
 */
export async function eachDevice<T>(
  services: Pick<ApiServices, 'log'>,
  deviceIDs: readonly string[],
  { atOnce, run }: BulkWork<T>,
): Promise<readonly ItemOutcome<T>[]> {
  const one = async (deviceID: string): Promise<ItemOutcome<T>> => {
    try {
      return { deviceID, status: 200, error: null, value: await run(deviceID) };
    } catch (thrown) {
      const error = publicError(thrown);
      const { status } = errorKinds[error.code];
      if (status >= 500 && error.code !== 'throttled') {
        services.log.error('bulk_item_failed', { deviceID, reason: messageOf(thrown) });
      }
      return { deviceID, status, error: itemError(error), value: null };
    }
  };
  const outcomes: ItemOutcome<T>[] = [];
  for (let from = 0; from < deviceIDs.length; from += atOnce) {
    outcomes.push(...(await Promise.all(deviceIDs.slice(from, from + atOnce).map(one))));
  }
  if (outcomes.every(({ status }) => status === 404)) {
    throw new AppError('not_found', `There is none of the ${outcomes.length} devices`);
  }
  return outcomes;
}

/** Numbers of done and failed items. */
export function countItems(items: readonly Pick<ItemResult, 'status'>[]): {
  readonly done: number;
  readonly failed: number;
} {
  const done = items.filter(({ status }) => status === 200).length;
  return { done, failed: items.length - done };
}
