// Passwords over argon2id (RFC 9106; parameters of OWASP: 19 MiB, 2 passes, 1 lane). Few are computed at once, so that a
// flood of logins takes neither the processors nor the thread pool (of 4, which answers are compressed on too) from under
// the broker. An unknown user costs the same time as a known one: they cannot be distinguished from outside.
import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { hash, verify } from '@node-rs/argon2';
import { AppError } from '../../src/core/errors.ts';
import type { PasswordAsker, Passwords } from '../core/accounts/password.ts';
import { createFairQueue } from '../scheduling/fair-queue.ts';
import type { Owner } from '../scheduling/slots.ts';

// `algorithm` 2 is Argon2id; the package's constant is an ambient enum, which this build cannot use.
const options = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** Half of the thread pool at most, and one processor stays free. */
export const hashesAtOnce = Math.max(1, Math.min(2, availableParallelism() - 1));
/** That may wait: of one asker, of a lane beside those that have none waiting, and of a lane. */
export const waitingLimits = { asker: 8, shared: 64, lane: 512 } as const;

/** A hash that no password is known for and that takes as long to verify as any other, in the PHC string format. */
function unknownUserHash(): string {
  const { memoryCost, timeCost, parallelism } = options;
  const random = (bytes: number): string => randomBytes(bytes).toString('base64').replace(/=+$/, '');
  return `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$${random(16)}$${random(32)}`;
}

const service: PasswordAsker = { lane: 'service', key: '' };

/** A few wait for their turn; one more is refused, but the first of an asker, as long as the lane has room. */
export function createPasswords(): Passwords {
  let running = 0;
  const queue = createFairQueue();
  const waiting = new Map<string, number>();
  const unknownHash = unknownUserHash();
  const ownerOf = ({ lane, key }: PasswordAsker): Owner => ({ accountID: lane, userID: key, tokenHash: '' });
  const needPlace = (asker: PasswordAsker): void => {
    const inLane = waiting.get(asker.lane) ?? 0;
    const own = queue.countOf(ownerOf(asker));
    const { asker: most, shared, lane } = waitingLimits;
    if (inLane < lane && own < (inLane < shared ? most : 1)) return;
    throw new AppError('throttled', 'Too many passwords are checked at once', { retryAfterS: 2 });
  };
  const wait = async (asker: PasswordAsker): Promise<void> => {
    needPlace(asker);
    const change = (by: 1 | -1): void => void waiting.set(asker.lane, (waiting.get(asker.lane) ?? 0) + by);
    change(1);
    await new Promise<void>((resolve) => void queue.add(ownerOf(asker), resolve));
    change(-1);
  };
  const inTurn = async <T>(asker: PasswordAsker, work: () => Promise<T>): Promise<T> => {
    if (running >= hashesAtOnce) await wait(asker);
    else running += 1;
    try {
      return await work();
    } finally {
      // The slot goes to the next in line, or is freed.
      if (!queue.next(() => true)) running -= 1;
    }
  };
  return {
    hash: (password) => inTurn(service, () => hash(password, options)),
    verify: (known, password, asker = service) =>
      inTurn(asker, async () => {
        const isRight = await verify(known ?? unknownHash, password);
        return isRight && known !== null;
      }),
  };
}
