// The signed list of advisories on this machine's disk. Nothing is ever fetched: it comes with a package, or the operator puts it there.
// A fault of the file never stops a program: the answer carries the reason.
import { realpathSync } from 'node:fs';
import { codeOf, messageOf } from '../core/errors.ts';
import {
  type AdvisoryVerdict,
  advisoriesType,
  advisoryLimits,
  parseAdvisories,
} from '../core/releases/advisories.ts';
import { readPlainFile } from './plain-file.ts';
import { createVerifier, publicKeyOf } from './signing.ts';

const keyMostBytes = 4096;
/** Base64url of the list, its header and signature. */
const tokenMost = Math.ceil((advisoryLimits.bytes * 4) / 3) + 1024;

/** The file behind a path, whose links, such as those of a mounted secret, are followed; null: there is none. */
function find(path: string): string | null {
  try {
    return realpathSync(path);
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return null;
    throw thrown;
  }
}

const read = (path: string, mostBytes: number): string =>
  readPlainFile(path, mostBytes).bytes.toString('latin1').trim();

/**
 * Never throws; null: there is no such file.
 * @param keyPath Public Ed25519 key (PEM) of releases and advisories.
 */
export function readAdvisories(path: string, keyPath: string): AdvisoryVerdict | null {
  try {
    const file = find(path);
    if (file === null) return null;
    const key = find(keyPath);
    if (key === null) return { kind: 'bad', reason: `there is no key in ${keyPath}` };
    const token = read(file, tokenMost);
    const verifier = createVerifier(publicKeyOf(read(key, keyMostBytes)), tokenMost);
    const payload = verifier.verify(token, advisoriesType);
    if (payload === null) return { kind: 'bad', reason: `it is not signed by the key in ${keyPath}` };
    return parseAdvisories(payload);
  } catch (thrown) {
    return { kind: 'bad', reason: messageOf(thrown) };
  }
}
