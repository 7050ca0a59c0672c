// The modem's registration (`home` or `roaming`) from a file that a script of the modem writes: ModemManager's
// dispatcher, ofono, a vendor's tool. A damaged or absent file gives no answer.
import { readFile } from 'node:fs/promises';

/** `home` or `roaming`; null for an absent file or any other content. Reads 64 characters at most. */
export async function readNetworkFile(path: string): Promise<'home' | 'roaming' | null> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const word = text.slice(0, 64).trim().toLowerCase();
  return word === 'home' || word === 'roaming' ? word : null;
}
