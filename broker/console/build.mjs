// Builds the console unless its sources, what it imports and the lock file are as they were at the last build.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileWords } from '../../src/words/compile.mjs';

const root = join(import.meta.dirname, '../..');
const output = join(root, 'dist/broker/console');
/** A hidden file: the broker does not serve it. */
const stamp = join(output, '.built-from');

function hashOf(places) {
  const hash = createHash('sha256');
  for (const place of places) {
    const path = join(root, place);
    const names =
      existsSync(path) && !/\.\w+$/.test(place)
        ? readdirSync(path, { recursive: true })
            .map(String)
            .sort((one, other) => (one < other ? -1 : 1))
        : [''];
    for (const name of names) {
      if (name !== '' && !/\.(tsx?|css|html|svg|png|webmanifest|json|mjs)$/.test(name)) continue;
      hash.update(name).update(readFileSync(join(path, name)));
    }
  }
  return hash.digest('hex');
}

compileWords();
const wanted = hashOf(['broker/console', 'broker/client', 'src/core', 'build/words', 'package-lock.json']);
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) {
  const { build } = await import('vite');
  await build({ configFile: join(root, 'broker/console/vite.config.ts'), logLevel: 'warn' });
  writeFileSync(stamp, wanted);
}
