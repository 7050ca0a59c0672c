// The signing key's file: made once, for its owner only, never overwritten.

import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { loadSigningKey } from '../../broker/adapters/keys/signing-key-file.ts';
import { createSigner, createVerifier } from '../../src/adapters/signing.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';

const folder = temporaryFolder('key');
const path = join(folder, 'key.pem');
beforeEach(() => rmSync(path, { force: true }));

describe('the signing key file', () => {
  it('is created with mode 0600 at the first start and read afterwards', () => {
    const made = loadSigningKey(path);
    expect([made.isNew, statSync(path).mode & 0o777]).toEqual([true, 0o600]);
    expect(loadSigningKey(path)).toEqual({ ...made, isNew: false });
  });

  it('holds the private part of the public key that agents pin', () => {
    const { privatePem, publicKey } = loadSigningKey(path);
    const token = createSigner(privatePem).sign(new Uint8Array([1, 2]), 'test-1');
    expect(createVerifier(publicKey).verify(token, 'test-1')).toEqual(new Uint8Array([1, 2]));
  });

  it.each([0o640, 0o604, 0o660, 0o666])('is refused with mode %o, with a hint how to fix it', (mode) => {
    loadSigningKey(path);
    chmodSync(path, mode);
    expect(() => loadSigningKey(path)).toThrow(
      expect.objectContaining({ code: 'config', hint: expect.stringContaining(`chmod 600 ${path}`) }),
    );
  });

  it.each([
    ['is empty', ''],
    ['is no key', 'hello'],
    [
      'holds another kind of key',
      generateKeyPairSync('ec', { namedCurve: 'P-256' })
        .privateKey.export({ type: 'pkcs8', format: 'pem' })
        .toString(),
    ],
  ])('is refused when it %s, and is left as it is', (_name, text) => {
    writeFileSync(path, text, { mode: 0o600 });
    expect(() => loadSigningKey(path)).toThrow(expect.objectContaining({ code: 'config' }));
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  it('is refused where it cannot be made', () => {
    expect(() => loadSigningKey(join(folder, 'none', 'key.pem'))).toThrow(
      expect.objectContaining({ code: 'config' }),
    );
  });
});
