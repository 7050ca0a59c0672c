// `fleetward-broker owner` as an owner uses it, from new keys to a signed list that a vehicle's verification takes, and over a rotation.
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { personsCrypto } from '../../src/adapters/persons-crypto.ts';
import { ownerFingerprint, verifyOwnerDocument } from '../../src/core/persons/owner-document.ts';
import { createVerifyPersons, orderChallenge } from '../../src/core/persons/persons.ts';
import { createAuthenticator, testDomain } from '../support/machine/authenticator.ts';
import { whyNotBuilt } from '../support/machine/requires.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { hangMs } from '../support/machine/wait-until.ts';

const program = fileURLToPath(new URL('../../dist/broker/main.js', import.meta.url));
const why = whyNotBuilt('broker');

describe.skipIf(why !== null)(`the keys of an owner ${why ?? ''}`, () => {
  const folder = temporaryFolder('owner');
  const dir = join(folder, 'owner');
  const passphraseFile = join(folder, 'pass');
  writeFileSync(passphraseFile, 'correct horse battery\n', { mode: 0o600 });
  const pass = ['--passphrase-file', passphraseFile];
  const run = (...args: readonly string[]) => {
    // In an empty environment and folder: nothing of a service is there.
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [program, 'owner', ...args, '--dir', dir],
      {
        encoding: 'utf8',
        timeout: hangMs,
        cwd: folder,
        env: {},
      },
    );
    return { code: status, out: stdout, err: stderr };
  };
  const json = (...args: readonly string[]) =>
    JSON.parse(run(...args, '--json').out) as Readonly<Record<string, unknown>>;
  const key = (name: string) => ['--key', join(dir, `key-${name}.json`), ...pass];
  const [ann, bob] = [createAuthenticator('ES256'), createAuthenticator('Ed25519')];
  const passkeys = join(folder, 'passkeys.json');
  const exportOf = (persons: readonly object[]) =>
    writeFileSync(passkeys, JSON.stringify({ ...testDomain, persons }));
  const personOf = (id: string, { credential, publicKey }: typeof ann) => ({
    id,
    name: id.toUpperCase(),
    passkeys: [{ credential, publicKey }],
  });
  const cut = {
    accountID: 'acme',
    deviceID: 'bus-7',
    boot: 'b1',
    counter: 1,
    feature: 'enginecutoff',
    state: '1',
    reason: 'stolen',
  } as const;
  let pin = '';
  let papers: readonly (readonly string[])[] = [];
  /** What a vehicle with this pin says of the document, and of an order with both persons. */
  const vehicle = () => {
    const verdict = verifyOwnerDocument(
      { pin, value: JSON.parse(readFileSync(join(dir, 'owner.json'), 'utf8')) as unknown },
      personsCrypto,
    );
    if (!verdict.ok) return verdict.refusal;
    // Made when it is judged: programs that derive keys from passphrases are slow beside other work.
    const nowMs = Date.now();
    const order = { ...cut, expiresMs: nowMs + 60_000 };
    const challenge = orderChallenge(order, personsCrypto);
    const assertions = [ann.assert(challenge), bob.assert(challenge)];
    return createVerifyPersons(personsCrypto)(verdict.owner.list, order, assertions, nowMs);
  };

  it('are made once, for their owner alone, with a paper backup', () => {
    const made = json('create', '--keys', '3', '--needed', '2', ...pass) as {
      readonly key: string;
      readonly fingerprint: string;
      readonly keys: readonly { readonly file: string; readonly paper: readonly string[] }[];
    };
    pin = made.key;
    papers = made.keys.map(({ paper }) => paper);
    expect(made.fingerprint).toBe(ownerFingerprint(pin));
    for (const { file } of made.keys) expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    expect(run('create', ...pass)).toMatchObject({
      code: 65,
      err: expect.stringContaining('never overwritten'),
    });
    expect(run('show').out).toContain('no list is signed');
  });

  it('sign a list of persons with as many keys as are needed', () => {
    exportOf([personOf('ann', ann), personOf('bob', bob)]);
    const drafted = run('people', passkeys, '--vehicles', 'acme/bus-*', '--cut', '2');
    expect(drafted).toMatchObject({ code: 0, err: '' });
    expect(drafted.out).toContain('+ bob (BOB) may order engine cuts and unlocking of cargo of acme/bus-*');
    expect(run('sign', ...key('1-1'))).toMatchObject({
      code: 64,
      err: expect.stringContaining('+ ann (ANN)'),
    });
    expect(json('sign', ...key('1-1'), '--yes')).toMatchObject({ signatures: 1, needed: 2, isWhole: false });
    expect(json('sign', ...key('1-1'), '--yes')).toMatchObject({ signatures: 1, isWhole: false });
    expect(vehicle()).toMatchObject({ ok: false, refusal: { reason: 'no_list' } });
    expect(json('sign', ...key('1-3'), '--yes')).toMatchObject({ signatures: 2, isWhole: true });
    expect(vehicle()).toEqual({ ok: true, persons: ['ann', 'bob'] });
  });

  it('change the list: a person is removed, and a diff shows only that', () => {
    expect(json('people', '--remove', 'bob', '--cut', '1')).toMatchObject({
      version: 2,
      changes: [
        '- persons who must agree: 2 to a cut, 1 to an unlock',
        expect.stringContaining('- bob (BOB)'),
        '+ persons who must agree: 1 to a cut, 1 to an unlock',
      ],
    });
    for (const name of ['1-2', '1-3']) expect(run('sign', ...key(name), '--yes').code).toBe(0);
    expect(vehicle()).toMatchObject({ ok: false, refusal: { reason: 'unknown_passkey' } });
  });

  it('come back from paper, and find a typing error in its line', () => {
    const paper = join(folder, 'paper.txt');
    const lines = papers[1] ?? [];
    writeFileSync(paper, `Fleetward\n${lines.join('\n').toLowerCase()}\n`);
    const restored = join(folder, 'restored.json');
    expect(run('restore', paper, '--key', restored, ...pass)).toMatchObject({ code: 0, err: '' });
    const publicOf = (file: string) =>
      (JSON.parse(readFileSync(file, 'utf8')) as { publicKey: string }).publicKey;
    expect(publicOf(restored)).toBe(publicOf(join(dir, 'key-1-2.json')));
    writeFileSync(
      paper,
      lines.join('\n').replace(/(2: .)./, (all, head: string) => `${head}${all.endsWith('A') ? 'B' : 'A'}`),
    );
    expect(run('restore', paper, '--key', join(folder, 'no.json'), ...pass)).toMatchObject({
      code: 65,
      err: expect.stringContaining('line 2'),
    });
  });

  it('pass to new keys by two of the old ones; the list is then signed anew', () => {
    expect(run('rotate', '--keys', '1', ...pass).code).toBe(0);
    expect(run('sign', ...key('2-1'), '--yes')).toMatchObject({
      code: 77,
      err: expect.stringContaining('not of the set'),
    });
    for (const name of ['1-2', '1-3']) expect(run('sign', ...key(name), '--yes').code).toBe(0);
    expect(vehicle()).toMatchObject({ ok: false, refusal: { reason: 'no_list' } });
    exportOf([personOf('bob', bob)]);
    expect(run('people', passkeys, '--vehicles', 'acme/*', '--cut', '2').code).toBe(0);
    expect(run('sign', ...key('1-2'), '--yes').code).toBe(77);
    expect(json('sign', ...key('2-1'), '--yes')).toMatchObject({ isWhole: true });
    expect(vehicle()).toEqual({ ok: true, persons: ['ann', 'bob'] });
  });

  it.each([
    ['a wrong passphrase', 'another passphrase', ['sign', ...key('2-1'), '--yes'], 77],
    ['a short passphrase', 'short', ['sign', ...key('2-1'), '--yes'], 64],
    ['an export that is no list', null, ['people', passkeys], 65],
    ['a rotation while a draft waits', null, ['rotate', ...pass], 65],
    ['a folder without an owner', null, ['show', '--dir', join(folder, 'none')], 66],
    [
      'more keys needed than made',
      null,
      ['create', '--needed', '2', ...pass, '--dir', join(folder, 'few')],
      64,
    ],
  ])('refuse %s', (_title, passphrase, args, code) => {
    expect(run('people', '--days', '30').code).toBe(0);
    exportOf([{ id: 'a b' }]);
    if (passphrase !== null) writeFileSync(passphraseFile, `${passphrase}\n`);
    const { code: ended, err } = run(...args);
    writeFileSync(passphraseFile, 'correct horse battery\n');
    expect({ ended, err }).toEqual({ ended: code, err: expect.stringContaining('fleetward-broker: ') });
  });
});
