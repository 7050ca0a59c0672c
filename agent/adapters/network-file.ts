// Where the modem is registered, from a file that a script of the modem writes (ModemManager's dispatcher, ofono, a maker's
// own tool): one word. The modem itself is not ours. Never takes a damaged or absent file for an answer.
import { readFile } from 'node:fs/promises';

/** `home` or `roaming`; null for a file that is absent or says something else. Reads 64 characters at most. */
export async function readNetworkFile(path: string): Promise<'home' | 'roaming' | null> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const word = text.slice(0, 64).trim().toLowerCase();
  return word === 'home' || word === 'roaming' ? word : null;
}
