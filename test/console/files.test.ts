// What the build of the console has made: its size, and that nothing in it names another host to load from.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';

const folder = new URL('../../dist/broker/console/', import.meta.url).pathname;
const isBuilt = existsSync(`${folder}index.html`);
const title = isBuilt ? 'the built console' : 'the built console [skipped, dist is missing: npm run build]';

describe.skipIf(!isBuilt)(title, () => {
  const names = isBuilt ? readdirSync(`${folder}assets`) : [];
  const page = isBuilt ? readFileSync(`${folder}index.html`, 'utf8') : '';
  const bytesOf = (name: string): Buffer => readFileSync(`${folder}assets/${name}`);
  const gzipped = (all: Iterable<string>): number =>
    [...all].reduce((sum, name) => sum + gzipSync(bytesOf(name), { level: 9 }).length, 0);
  /** As the broker compresses it. */
  const brotliOf = (name: string): number =>
    brotliCompressSync(bytesOf(name), { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }).length;

  /** Adds a script with all that it imports before it runs. */
  function addWithImports(name: string, loaded: Set<string>): Set<string> {
    if (loaded.has(name)) return loaded;
    loaded.add(name);
    for (const [, imported = ''] of bytesOf(name)
      .toString()
      .matchAll(/(?:from|import)"\.\/([^"]+\.js)"/g))
      addWithImports(imported, loaded);
    return loaded;
  }

  const linked = (extension: string): readonly string[] =>
    [...page.matchAll(/(?:src|href)="\/console\/assets\/([^"]+)"/g)]
      .map(([, name = '']) => name)
      .filter((name) => name.endsWith(extension));
  const first = linked('.js').reduce((loaded, name) => addWithImports(name, loaded), new Set(linked('.css')));

  it('needs at most 190 kB, gzipped, for login, shell and alarms', () => {
    expect(first.size).toBeGreaterThan(2);
    expect(gzipped(first)).toBeLessThan(190_000);
  });

  it('adds at most 525 kB, gzipped, for the map with menus and dialogs, and 1.5 MB in all, with brotli, the world included', () => {
    const begun = names.filter((name) => /^(map-|maplibre|live-)/.test(name) && !first.has(name));
    const map = begun.reduce((loaded, name) => addWithImports(name, loaded), new Set<string>());
    expect(map.size).toBeGreaterThan(2);
    expect(gzipped([...map].filter((name) => !first.has(name)))).toBeLessThan(525_000);
    expect(names.reduce((sum, name) => sum + brotliOf(name), 0)).toBeLessThan(1_500_000);
  });

  it('has no inline script or style in its page, and its page loads from its own host only', () => {
    expect(page).not.toMatch(/<style|style=|<script(?![^>]*\ssrc=)|\son\w+=/);
    expect(
      [...page.matchAll(/(?:src|href)="([^"]*)"/g)].filter(([, path = '']) => !path.startsWith('/console/')),
    ).toEqual([]);
  });
});
