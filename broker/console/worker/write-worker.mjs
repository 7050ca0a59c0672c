// Writes the service worker of a build: its source with the list of the files that it keeps. It is made of the built files themselves, so
// that it names exactly what the broker serves.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Pages that open without network. Their files, and whatever these name, are kept. */
const pages = ['offline.html', 'wallboard.html'];
/** Zones are drawn on no such page. */
const leftOut = /^drawing-/;

/** The pages with all files that they can come to load. @param folder of the build. */
function filesOf(folder) {
  const names = readdirSync(join(folder, 'assets')).filter((name) => !leftOut.test(name));
  const found = new Set(pages);
  for (const path of found) {
    if (!/\.(html|m?js|css)$/.test(path)) continue;
    const text = readFileSync(join(folder, path), 'utf8');
    for (const name of names) if (text.includes(name)) found.add(`assets/${name}`);
  }
  return [...found].sort();
}

const digestOf = (bytes) => `sha256-${createHash('sha256').update(bytes).digest('base64')}`;

export function writeWorker(folder) {
  const source = readFileSync(join(import.meta.dirname, 'service-worker.mjs'), 'utf8');
  const list = JSON.stringify(
    filesOf(folder).map((path) => [path, digestOf(readFileSync(join(folder, path)))]),
  );
  const build = createHash('sha256').update(source).update(list).digest('hex').slice(0, 16);
  const text = source
    .replace("'@build'", `'${build}'`)
    .replace('const files = [];', `const files = ${list};`);
  writeFileSync(join(folder, 'service-worker.mjs'), text);
}
