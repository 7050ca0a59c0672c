// An account of a bench, in a database that no broker has open.
import { createAccount } from '../../broker/accounts/administration.ts';
import { createPasswords } from '../../broker/adapters/passwords.ts';
import { createSystemClock, createSystemEntropy } from '../../src/adapters/system.ts';

type Ports = Parameters<typeof createAccount>[0];

export async function makeAccount(
  db: Ports['db'],
  login: Parameters<typeof createAccount>[1],
): Promise<void> {
  await createAccount(
    { db, clock: createSystemClock(), entropy: createSystemEntropy(), passwords: createPasswords() },
    login,
  );
}
