// What a system test needs from the machine, and by name what is missing: such a test is skipped saying which Debian
// packages to install. It must never let a test pass because something was not there.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

interface Wanted {
  readonly commands?: readonly string[];
  /** Python modules, looked for in Debian's own interpreter first. */
  readonly python?: readonly string[];
  /** Files below the checkout: tools that are installed apart. */
  readonly files?: readonly string[];
}

/** The packages, or the command line, that bring all of it. */
type Remedy = { readonly debian: readonly string[] } | { readonly remedy: string };

export interface Found {
  /** Null: all is there. Else a text for the name of the skipped test. */
  readonly missing: string | null;
  /** An interpreter with all the modules; null when none was asked for or found. */
  readonly python: string | null;
}

/** Null when the program was built; else a text for the name of the skipped test. */
export function whyNotBuilt(program: 'agent' | 'broker'): string | null {
  const isBuilt = existsSync(new URL(`../../../dist/${program}/main.js`, import.meta.url));
  return isBuilt ? null : 'skipped, dist is missing: npm run build';
}

const interpreters = ['/usr/bin/python3', 'python3'];

/** Looks for commands, Python modules and files once; synchronous, so that tests can be named by the answer. */
export function requires(needs: Wanted & Remedy): Found {
  const lacking = (needs.commands ?? []).filter(
    (command) => spawnSync('sh', ['-c', `command -v ${command}`]).status !== 0,
  );
  const modules = needs.python ?? [];
  const python =
    modules.length === 0
      ? null
      : (interpreters.find(
          (path) => spawnSync(path, ['-c', `import ${modules.join(', ')}`], { timeout: 20_000 }).status === 0,
        ) ?? null);
  if (modules.length > 0 && python === null) lacking.push(`Python's ${modules.join(', ')}`);
  lacking.push(
    ...(needs.files ?? []).filter((file) => !existsSync(new URL(`../../../${file}`, import.meta.url))),
  );
  const remedy = 'debian' in needs ? `apt install ${needs.debian.join(' ')}` : needs.remedy;
  const missing = lacking.length === 0 ? null : `skipped, ${lacking.join(' and ')} missing: ${remedy}`;
  // In CI nothing may be skipped for want of a package: there it is a failure that names it.
  if (missing !== null && process.env['FLEETWARD_TEST_REQUIRE_ALL'] === '1') throw new Error(missing);
  return { missing, python };
}
