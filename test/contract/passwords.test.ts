// Passwords: hashed with the parameters that OWASP asks for, and never so many at once that memory runs out.
import { describe, expect, it } from 'vitest';
import { createPasswords, hashesAtOnce, waitingLimits } from '../../broker/adapters/passwords.ts';

describe('a password', () => {
  const passwords = createPasswords();

  it('is kept as argon2id of 19 MiB, 2 passes and 1 lane, with a salt of its own', async () => {
    const [one, two] = await Promise.all([passwords.hash('same'), passwords.hash('same')]);
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(one).not.toBe(two);
  });

  it('is right or wrong, and never right for an unknown user', async () => {
    const known = await passwords.hash('right');
    expect(await passwords.verify(known, 'right')).toBe(true);
    expect(await passwords.verify(known, 'wrong')).toBe(false);
    expect(await passwords.verify(null, 'right')).toBe(false);
    expect(await passwords.verify(null, 'nobody has this password')).toBe(false);
  });

  it('is refused with a wait when too many are asked for at once, and served again afterwards', async () => {
    const asked = await Promise.allSettled(Array.from({ length: 100 }, () => passwords.verify(null, 'x')));
    const refused = asked.filter((one) => one.status === 'rejected').map((one) => one.reason as unknown);
    expect(refused).toHaveLength(100 - hashesAtOnce - waitingLimits.asker);
    for (const reason of refused) expect(reason).toMatchObject({ code: 'throttled', retryAfterS: 2 });
    expect(await passwords.verify(null, 'x')).toBe(false);
  });

  it('of a user who is logged in, or of a new source, comes in turn beside a flood of logins', async () => {
    const ended: string[] = [];
    const ask = (lane: 'login' | 'session', key: string) =>
      passwords.verify(null, 'x', { lane, key }).then(() => void ended.push(lane === 'login' ? key : lane));
    const flood = Array.from({ length: 320 }, (_unused, at) => ask('login', `network ${at % 16}`));
    const outcomes = Promise.allSettled(flood);
    const others = [
      ...Array.from({ length: 6 }, () => ask('session', 'acme/ann')),
      ask('login', 'elsewhere'),
    ];
    await Promise.all(others);
    expect(ended.lastIndexOf('session')).toBeLessThan(20);
    expect(ended.indexOf('elsewhere')).toBeLessThan(50);
    expect((await outcomes).filter(({ status }) => status === 'fulfilled')).toHaveLength(
      hashesAtOnce + waitingLimits.shared,
    );
  });
});
