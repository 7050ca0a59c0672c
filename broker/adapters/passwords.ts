// Passwords over argon2id (RFC 9106; parameters of OWASP: 19 MiB, 2 passes, 1 lane). Few are computed at once, so that a
// flood of logins takes neither the processors nor the thread pool (of 4, which answers are compressed on too) from under
// the broker. An unknown user costs the same time as a known one: they cannot be distinguished from outside.
import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { hash, verify } from '@node-rs/argon2';
import { AppError } from '../../src/core/errors.ts';
import type { Passwords } from '../core/accounts/password.ts';

// `algorithm` 2 is Argon2id; the package's constant is an ambient enum, which this build cannot use.
const options = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** Half of the thread pool at most, and one processor stays free. */
export const hashesAtOnce = Math.max(1, Math.min(2, availableParallelism() - 1));
const waitingMost = 64;

/** A hash that no password is known for and that takes as long to verify as any other, in the PHC string format. */
function unknownUserHash(): string {
  const { memoryCost, timeCost, parallelism } = options;
  const random = (bytes: number): string => randomBytes(bytes).toString('base64').replace(/=+$/, '');
  return `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$${random(16)}$${random(32)}`;
}

/** At most 64 wait for their turn; a further one is refused. */
export function createPasswords(): Passwords {
  let running = 0;
  const waiting: (() => void)[] = [];
  const unknownHash = unknownUserHash();
  const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
    if (waiting.length >= waitingMost) {
      throw new AppError('throttled', 'too many logins at once', { retryAfterS: 2 });
    }
    if (running >= hashesAtOnce) await new Promise<void>((resolve) => void waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      // The slot goes to the next in line, or is freed.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
  return {
    hash: (password) => inTurn(() => hash(password, options)),
    verify: (known, password) =>
      inTurn(async () => {
        const isRight = await verify(known ?? unknownHash, password);
        return isRight && known !== null;
      }),
  };
}
