// What the build of the console has made: its size, what Chromium fetches of it, and that nothing in it names another host to load from.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { readConsoleFiles } from '../../broker/adapters/storage/console-files.ts';
import { createConsoleBrowsers, openConsole, whyNoConsole } from '../support/http/console-page.ts';
import { startHttpService } from '../support/http/http-service.ts';

const folder = new URL('../../dist/broker/console/', import.meta.url).pathname;
const isBuilt = existsSync(`${folder}index.html`);
const title = isBuilt ? 'the built console' : 'the built console [skipped, dist is missing: npm run build]';

describe.skipIf(!isBuilt)(title, () => {
  const names = isBuilt ? readdirSync(`${folder}assets`) : [];
  const pageOf = (name: string): string => (isBuilt ? readFileSync(`${folder}${name}`, 'utf8') : '');
  const page = pageOf('index.html');
  const sharePage = pageOf('share.html');
  const operatorPage = pageOf('operator.html');
  const bytesOf = (name: string): Buffer => readFileSync(`${folder}assets/${name}`);
  const gzipped = (all: Iterable<string>): number =>
    [...all].reduce((sum, name) => sum + gzipSync(bytesOf(name), { level: 9 }).length, 0);
  /** As the broker compresses it. */
  const brotliOf = (name: string): number =>
    brotliCompressSync(bytesOf(name), { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } }).length;

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

  const linked = (extension: string, from = page): readonly string[] =>
    [...from.matchAll(/(?:src|href)="\/console\/assets\/([^"]+)"/g)]
      .map(([, name = '']) => name)
      .filter((name) => name.endsWith(extension));
  const first = linked('.js').reduce((loaded, name) => addWithImports(name, loaded), new Set(linked('.css')));

  it('needs at most 190 kB, gzipped, for login, shell and alarms', () => {
    expect(first.size).toBeGreaterThan(2);
    expect(gzipped(first)).toBeLessThan(190_000);
  });

  it.each([
    ['a share link before its map', sharePage],
    ['the operator', operatorPage],
  ])('needs at most 90 kB, gzipped, for the page of %s', (_whose, from) => {
    const css = new Set(linked('.css', from));
    const loaded = linked('.js', from).reduce((all, name) => addWithImports(name, all), css);
    const texts = names.filter((name) => /^(en|de|fr|es|ar)-/.test(name)).map((name) => gzipped([name]));
    expect(loaded.size).toBeGreaterThan(2);
    expect(gzipped(loaded) + Math.min(...texts)).toBeLessThan(90_000);
  });

  it('adds at most 525 kB, gzipped, for the map with menus and dialogs, and 1.5 MB in all, with brotli, the world included', () => {
    const begun = names.filter((name) => /^(map-|maplibre|live-)/.test(name) && !first.has(name));
    const map = begun.reduce((loaded, name) => addWithImports(name, loaded), new Set<string>());
    expect(map.size).toBeGreaterThan(2);
    expect(gzipped([...map].filter((name) => !first.has(name)))).toBeLessThan(525_000);
    expect(names.reduce((sum, name) => sum + brotliOf(name), 0)).toBeLessThan(1_500_000);
  });

  it('has no inline script or style in its pages, and they load from their own host only', () => {
    for (const text of [page, sharePage, operatorPage]) {
      expect(text).not.toMatch(/<style|style=|<script(?![^>]*\ssrc=)|\son\w+=/);
      expect(
        [...text.matchAll(/(?:src|href)="([^"]*)"/g)].filter(
          ([, path = '']) => !path.startsWith('/console/'),
        ),
      ).toEqual([]);
    }
  });
});

const why = whyNoConsole();

describe.skipIf(why !== null)(why === null ? 'the first screen' : `the first screen [${why}]`, () => {
  it('of alarms takes at most 200 kB of files, as they travel, before anything that is needed later', async () => {
    const service = await startHttpService({ console: await readConsoleFiles(folder) });
    const browsers = createConsoleBrowsers();
    try {
      await service.account('demo');
      await service.device('demo', 'van-01');
      const at = { latitude: 50.5, longitude: 9.5, speed: 0, timestamp: Math.floor(Date.now() / 1000) };
      const panic = { ...at, seq: 1, statusCode: 63_553, inputs: { panic: true } };
      await service.events('demo', 'van-01', { boot: 'b1', events: [panic] });
      const base = `http://127.0.0.1:${await service.http.listen({ host: '127.0.0.1', port: 0 })}`;
      const session = { token: await service.login('demo', 'admin'), userID: 'admin' };
      const { page, context, open } = await openConsole(browsers, { base, session });
      // What is loaded once the screen has stood (`useHasStood`) stays out, however slow this machine is.
      await page.addInitScript(
        'const begin = setTimeout; window.setTimeout = (act, ms, ...given) => begin(act, ms === 5000 ? 1e9 : ms, ...given);',
      );
      const network = await context.newCDPSession(page);
      await network.send('Network.enable');
      const urls = new Map<string, string>();
      const fetched = new Map<string, number>();
      network.on('Network.responseReceived', ({ requestId, response }) => urls.set(requestId, response.url));
      network.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
        const url = urls.get(requestId) ?? '';
        if (url.startsWith(`${base}/console/`)) fetched.set(url, encodedDataLength);
      });
      await open('/alarms');
      // The nearest town, which comes last.
      await page
        .locator('.queue')
        .getByText(/\skm\s.*\sof\s/)
        .waitFor();
      await page.waitForTimeout(1000);
      expect([...fetched.keys()].some((url) => url.includes('places-'))).toBe(true);
      expect([...fetched.values()].reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(200_000);
    } finally {
      await browsers.close();
      await service.close();
    }
  });
});
