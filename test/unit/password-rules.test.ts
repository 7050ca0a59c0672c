// Which passwords may be set.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { passwordLeast, passwordMost, weaknessOf } from '../../broker/core/accounts/password.ts';

const owner = { accountID: 'northline', userID: 'dispatch' };

describe('a password', () => {
  it.each([
    '123456789012',
    '1q2w3e4r5t6y'.slice(0, 11),
    'Password1234',
    'PASSWORDPASSWORD',
    '!!P@$$w0rd!!',
    'qwertyuiop12',
    'letmeinletmein',
    'Fleetward2026!',
    'abcabcabcabcabc',
    'aaaabbbbaaaabbbb',
    'northline1234',
    'dispatch.northline',
    '     00000   ',
  ])('%s is refused, and not quoted', (password) => {
    const weakness = weaknessOf(password, owner);
    expect(weakness).not.toBeNull();
    expect(weakness).not.toContain(password);
  });

  it.each([
    'correct horse battery staple',
    'seven lamps over the yard',
    'the password is under the mat',
    'зимний вечер в гараже',
    'northline hires good drivers',
    'bX3-kq9_Lw2z',
  ])('%s is taken', (password) => {
    expect(weaknessOf(password, owner)).toBeNull();
  });

  it('has 12 to 256 characters', () => {
    const text = 'zvkrmtqhwjxn';
    expect(weaknessOf(text, owner)).toBeNull();
    expect(weaknessOf(text.slice(1), owner)).toContain(String(passwordLeast));
    expect(weaknessOf(text.repeat(22).slice(0, passwordMost), owner)).toBeNull();
    expect(weaknessOf(text.repeat(22), owner)).toContain(String(passwordMost));
  });

  it('that is generated at random is taken', () => {
    const bytes = fc.uint8Array({ minLength: 18, maxLength: 18 }).filter((all) => new Set(all).size > 12);
    fc.assert(
      fc.property(bytes, (random) => {
        expect(weaknessOf(Buffer.from(random).toString('base64url'), owner)).toBeNull();
      }),
    );
  });

  it('of any kind is judged without exponential backtracking', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: passwordMost, unit: 'binary' }), (password) => {
        weaknessOf(password, owner);
      }),
    );
    for (const hard of ['pass', 'passw', 'a', 'asdf', 'admin0'])
      weaknessOf(`${hard.repeat(60)}é`.slice(0, 256), owner);
  });
});
