// Copies of the build with one fault in them.
import { execFileSync } from 'node:child_process';
import { cp, mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkout } from '../machine/checkout.ts';
import { editOnce } from '../machine/edit-once.ts';
import type { TruthMutant } from './truth-mutant.ts';

const root = fileURLToPath(checkout);

/** A copy of the build that further copies are linked from: the build may be made anew meanwhile. */
export async function copyBuild(folder: string): Promise<void> {
  await cp(join(root, 'dist'), join(folder, 'dist'), { recursive: true });
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
}

/** Links instead of copies: a build has some thousand files, and one or two of them are changed. */
export function linkBuild(folder: string, to: string): string {
  execFileSync('cp', ['-al', join(folder, 'dist'), to]);
  return to;
}

/** A build with a fault, in a folder of its own. @returns the folder and the build in it. */
export async function faultyBuild(
  folder: string,
  { no, file, find, put }: Pick<TruthMutant, 'file' | 'find' | 'put'> & { readonly no: number },
): Promise<{ readonly own: string; readonly faulty: string }> {
  const own = join(folder, String(no));
  await mkdir(own);
  // A program reads its version from beside its build.
  await cp(join(root, 'package.json'), join(own, 'package.json'));
  const faulty = linkBuild(folder, join(own, 'faulty'));
  await editOnce(join(faulty, file), find, put);
  return { own, faulty };
}
