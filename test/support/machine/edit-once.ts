// Mutants of a compiled program: one edit of one of its files.
import { readFile, unlink, writeFile } from 'node:fs/promises';

/** Puts a text in the place of another one, which must stand there exactly once. Other links of the file keep what they had. */
export async function editOnce(path: string, find: string, put: string): Promise<void> {
  const parts = (await readFile(path, 'utf8')).split(find);
  if (parts.length !== 2) throw new Error(`${path} holds this ${parts.length - 1} times: ${find}`);
  await unlink(path);
  await writeFile(path, parts.join(put));
}
