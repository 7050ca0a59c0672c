// Passwords over argon2id (RFC 9106; parameters of OWASP: 19 MiB, 2 passes, 1 lane). At most eight are computed at
// once, so that a flood of logins cannot take the memory from under the broker. An unknown user costs the same time
// as a known one: nobody can tell them apart from outside.
import { hash, hashSync, verify } from '@node-rs/argon2';
import { AppError } from '../../src/core/errors.ts';
import type { Passwords } from '../core/password.ts';

// `algorithm` 2 is Argon2id; the package's constant is an ambient enum, which this build cannot use.
const options = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

const atOnceMost = 8;
const waitingMost = 64;

/** At most 64 wait for their turn; a further one is refused. */
export function createPasswords(): Passwords {
  let running = 0;
  const waiting: (() => void)[] = [];
  // Made now, so that the first unknown user does not take longer than the next.
  const nobody = hashSync('nobody has this password', options);
  const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
    if (waiting.length >= waitingMost) {
      throw new AppError('throttled', 'too many logins at once', { retryAfterS: 2 });
    }
    if (running >= atOnceMost) await new Promise<void>((resolve) => void waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      // The place goes to the next in line, or is given back.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
  return {
    hash: (password) => inTurn(() => hash(password, options)),
    verify: (known, password) =>
      inTurn(async () => {
        const isRight = await verify(known ?? nobody, password);
        return isRight && known !== null;
      }),
  };
}
