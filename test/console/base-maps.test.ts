// Base maps of the console in Chromium, against the real service: map files from its folder, and a style of another host. What is asked, of whom and
// with which headers, is what the service and that host have seen; what is drawn is what the pixels say.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readConsoleFiles } from '../../broker/adapters/storage/console-files.ts';
import { openMapFolder } from '../../broker/adapters/storage/map-folder.ts';
import {
  type ConsolePage,
  createConsoleBrowsers,
  findFaultsInThemes,
  openConsole,
} from '../support/http/console-page.ts';
import { startHttpService } from '../support/http/http-service.ts';
import { chromiumNeeds } from '../support/machine/browser.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { type MapHost, startMapHost, styleWith } from '../support/maps/map-host.ts';
import { mapFile } from '../support/maps/pmtiles-file.ts';

const { missing } = chromiumNeeds();
const built = new URL('../../dist/broker/console/', import.meta.url).pathname;
const files = missing === null ? await readConsoleFiles(built) : null;
const why = missing ?? (files === null ? 'skipped, dist is missing: npm run build' : null);

/** `--map-park` and `--map-land` as the tokens have them: the files of this test are park everywhere. */
const park = { light: '223,233,220', dark: '21,31,27', night: '18,6,5' } as const;
const land = '241,241,238';
/** What the style of the other host draws. */
const drawn = { park: '255,0,255', ground: '0,255,0' } as const;
const inland = '50.50000,9.50000,12.00';

describe.skipIf(why !== null)(why === null ? 'the base map' : `the base map [${why}]`, () => {
  const folder = join(temporaryFolder('base-maps'), 'maps');
  const browsers = createConsoleBrowsers();
  const pages: ConsolePage[] = [];
  let [host, tileHost, stranger]: MapHost[] = [];
  let service: Awaited<ReturnType<typeof startHttpService>>;
  let base = '';
  let token = '';
  let decoder: Page;

  const put = (name: string, content: Buffer | string): void => writeFileSync(join(folder, name), content);
  const isMapPart = (url: string): boolean => url.startsWith(`${base}/maps/`);

  beforeAll(async () => {
    mkdirSync(folder);
    put('harbour.pmtiles', mapFile());
    [host, tileHost, stranger] = await Promise.all([startMapHost(), startMapHost(), startMapHost()]);
    service = await startHttpService({
      console: files,
      maps: await openMapFolder(folder),
      mapStyle: { url: `${host.origin}/style.json`, origins: [host.origin, tileHost.origin] },
    });
    await service.account('demo');
    await service.device('demo', 'van-01');
    const nowS = Math.floor(Date.now() / 1000);
    const events = [1, 2, 3, 4, 5].map((seq) => ({
      seq,
      timestamp: nowS - 600 + seq * 60,
      statusCode: 61472,
      latitude: 50.5 + seq / 1000,
      longitude: 9.5,
      speed: 30,
    }));
    await service.events('demo', 'van-01', { boot: 'b1', events });
    token = await service.login('demo', 'admin');
    decoder = await (await browsers.of(false)).newPage();
    base = `http://127.0.0.1:${await service.http.listen({ host: '127.0.0.1', port: 0 })}`;
  });

  beforeEach(() => {
    host?.answers.clear();
    host?.answers.set('/style.json', styleWith(`${host.origin}/tiles/{z}/{x}/{y}`));
  });

  afterEach(async () => {
    for (const { context } of pages.splice(0)) await context.close();
  });

  afterAll(async () => {
    await browsers.close();
    await service?.close();
    for (const one of [host, tileHost, stranger]) await one?.close();
    rmSync(folder, { recursive: true });
  });

  /** Opens the live map. @param choice what this computer chose before. */
  async function openMap(
    choice: string,
    of: Partial<Parameters<typeof openConsole>[1]> = {},
  ): Promise<ConsolePage> {
    const opened = await openConsole(browsers, {
      base,
      hasMap: true,
      session: { token, userID: 'admin' },
      ...of,
    });
    pages.push(opened);
    if (choice !== '')
      await opened.context.addInitScript(`localStorage['fleetward.base-map'] ??= ${JSON.stringify(choice)};`);
    await opened.open(`/live?at=${inland}`);
    await opened.page.waitForSelector('.map-host[data-is-drawn]', { timeout: 60_000 });
    return opened;
  }

  /** The colour of most of the map, `r,g,b`. */
  async function colourOf({ page }: ConsolePage): Promise<string> {
    const box = await page.locator('.map-host').boundingBox();
    if (box === null) throw new Error('there is no map');
    const clip = { x: box.x + 20, y: box.y + box.height / 4, width: 120, height: 120 };
    const picture = (await page.screenshot({ clip })).toString('base64');
    const found = await decoder.evaluate(`new Promise((resolve) => {
      const image = new Image();
      image.onload = () => {
        const canvas = document.createElement('canvas');
        [canvas.width, canvas.height] = [image.width, image.height];
        const context = canvas.getContext('2d');
        context.drawImage(image, 0, 0);
        const { data } = context.getImageData(0, 0, image.width, image.height);
        const counts = new Map();
        for (let at = 0; at < data.length; at += 4) {
          const key = [data[at], data[at + 1], data[at + 2]].join();
          counts.set(key, (counts.get(key) ?? 0) + 1);
        }
        resolve([...counts].sort((one, other) => other[1] - one[1])[0][0]);
      };
      image.src = 'data:image/png;base64,${picture}';
    })`);
    return String(found);
  }
  const isDrawn = (opened: ConsolePage, colour: string) => expect.poll(() => colourOf(opened)).toBe(colour);
  async function chooseTheme({ page }: ConsolePage, name: string): Promise<void> {
    await page.getByRole('button', { name: 'Theme, Language' }).click();
    await page.getByRole('menuitemradio', { name }).click();
    await page.keyboard.press('Escape');
  }
  const credit = (page: Page) => page.locator('.map .credit');
  const notice = (page: Page) => page.locator('.map-notice .notice');

  it('is the built-in world until another is chosen: no code for others is loaded, and nothing but this service is asked', async () => {
    const opened = await openMap('');
    await isDrawn(opened, land);
    const asked = await opened.page.evaluate(
      "performance.getEntriesByType('resource').map(({ name }) => name).join()",
    );
    expect(asked).not.toMatch(/file-map|style-map|\/maps\//);
    expect(await credit(opened.page).textContent()).toBe('Natural Earth, © GeoNames');
    expect(opened.complaints).toEqual([]);
  });

  it('is chosen by keyboard, read part by part with the token in the header alone, and kept for the next time', async () => {
    const opened = await openMap('');
    const { page, complaints } = opened;
    const parts: { url: string; range: string; token: string }[] = [];
    page.on('request', (request) => {
      const { range = '', authorization = '' } = request.headers();
      if (isMapPart(request.url())) parts.push({ url: request.url(), range, token: authorization });
    });
    await page.getByRole('button', { name: 'Base map' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitemradio', { name: 'World, built in', checked: true }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await isDrawn(opened, park.light);
    expect(parts.length).toBeGreaterThan(2);
    for (const part of parts)
      expect(part).toEqual({
        url: `${base}/maps/harbour.pmtiles`,
        range: expect.stringMatching(/^bytes=\d+-\d+$/),
        token,
      });
    const link = credit(page).getByRole('link', { name: '© OpenStreetMap contributors (ODbL)' });
    expect(await link.getAttribute('href')).toBe('https://www.openstreetmap.org/copyright');
    // Its own words, and none of its markup.
    expect(await credit(page).textContent()).toContain('Harbour © Town');
    expect(await credit(page).locator('b').count()).toBe(0);
    await page.reload();
    await isDrawn(opened, park.light);
    expect(complaints).toEqual([]);
  });

  it('follows the theme, and a change of it at once', async () => {
    const opened = await openMap('file:harbour.pmtiles', { theme: 'night' });
    await isDrawn(opened, park.night);
    await chooseTheme(opened, 'Dark');
    await isDrawn(opened, park.dark);
    await chooseTheme(opened, 'Light');
    await isDrawn(opened, park.light);
    await chooseTheme(opened, 'As the system');
    await opened.page.emulateMedia({ colorScheme: 'dark' });
    await isDrawn(opened, park.dark);
    expect(opened.complaints).toEqual([]);
  });

  it('that cannot be drawn is said to be so, with the reason, and the built-in world is drawn', async () => {
    put('bad.pmtiles', mapFile().subarray(0, 2000));
    const opened = await openMap('file:bad.pmtiles');
    const { page } = opened;
    const retry = page.getByRole('button', { name: 'Try again' });
    await notice(page).filter({ hasText: 'The map file bad.pmtiles is not whole' }).waitFor();
    expect(await notice(page).textContent()).toContain('The built-in world is shown instead');
    await isDrawn(opened, land);
    expect(await credit(page).textContent()).toBe('Natural Earth, © GeoNames');
    const layers = (rows: unknown): Buffer => mapFile({ metadata: { vector_layers: rows } });
    for (const [content, text] of [
      ['PK'.repeat(5000), 'is no PMTiles file of version 3'],
      ['', 'is not whole'],
      [mapFile({ tileType: 2 }), 'holds pictures'],
      [layers([{ id: 'transportation' }, { id: 'water' }]), 'is no Protomaps base map of version 4'],
      ['PM', 'is no PMTiles file of version 3'],
      [layers([{ id: 'earth', fields: { 'pmap:kind': 'String' } }]), 'is no Protomaps base map of version 4'],
      [Buffer.concat([mapFile().subarray(0, 200), Buffer.alloc(30_000)]), 'is no PMTiles file of version 3'],
      [layers('x'), 'is no Protomaps base map of version 4'],
    ] as const) {
      put('bad.pmtiles', content);
      await retry.click();
      await notice(page).filter({ hasText: text }).waitFor();
    }
    await isDrawn(opened, land);
    // It was copied again, whole.
    put('bad.pmtiles', mapFile());
    await retry.click();
    await isDrawn(opened, park.light);
    expect(await notice(page).count()).toBe(0);
    rmSync(join(folder, 'bad.pmtiles'));
  });

  it('that is replaced while it is shown is read anew; one that is taken away is said to be gone', async () => {
    put('short.pmtiles', mapFile());
    const opened = await openMap('file:short.pmtiles');
    await isDrawn(opened, park.light);
    put(
      'short.pmtiles',
      mapFile({ metadata: { vector_layers: [{ id: 'earth' }], name: 'longer than before' } }),
    );
    // Another theme reads the tiles again.
    await chooseTheme(opened, 'Dark');
    await isDrawn(opened, park.dark);
    expect(await notice(opened.page).count()).toBe(0);
    rmSync(join(folder, 'short.pmtiles'));
    await chooseTheme(opened, 'Light');
    await notice(opened.page)
      .filter({ hasText: 'The service has no map file short.pmtiles any more' })
      .waitFor();
    await isDrawn(opened, land);
    expect(await credit(opened.page).textContent()).toBe('Natural Earth, © GeoNames');
  });

  it('of another host is read there and nowhere else, with nothing of this session', async () => {
    const before = host?.asked.length ?? 0;
    const opened = await openMap('');
    expect(host?.asked.length).toBe(before);
    const hosts = new Set<string>();
    opened.page.on('request', (request) => hosts.add(new URL(request.url()).origin));
    await opened.page.getByRole('button', { name: 'Base map' }).click();
    await opened.page
      .getByRole('menuitemradio', { name: `Map of ${new URL(host?.origin ?? '').host}` })
      .click();
    await isDrawn(opened, drawn.park);
    expect([...hosts].filter((one) => one !== 'null').toSorted()).toEqual(
      [base, host?.origin ?? ''].toSorted(),
    );
    const asked = host?.asked.slice(before) ?? [];
    expect(asked.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['/style.json', expect.stringMatching(/^\/tiles\//)]),
    );
    for (const { headers } of asked) {
      expect([headers.authorization, headers.cookie, headers.referer]).toEqual([
        undefined,
        undefined,
        undefined,
      ]);
      expect(JSON.stringify(headers)).not.toContain(token);
    }
    expect(await credit(opened.page).textContent()).toBe('© Harbour Office');
    expect(await notice(opened.page).count()).toBe(0);
    expect(opened.complaints.filter((line) => !line.startsWith('request: '))).toEqual([]);
  });

  it('of another host may lie at hosts that the administrator named; of others is told, and they are not asked', async () => {
    host?.answers.set('/style.json', styleWith(`${tileHost?.origin}/tiles/{z}/{x}/{y}`));
    const named = await openMap('style');
    await isDrawn(named, drawn.park);
    host?.answers.set('/style.json', styleWith(`${stranger?.origin}/tiles/{z}/{x}/{y}`));
    const opened = await openMap('style');
    const text = `A part of the map lies at ${new URL(stranger?.origin ?? '').host}, which is not allowed`;
    await notice(opened.page).filter({ hasText: text }).waitFor();
    // What can be drawn is drawn: the ground of the style.
    await isDrawn(opened, drawn.ground);
    // The policy holds as well, whatever a style or the code of the console may try.
    const reach = (of: string) =>
      opened.page.evaluate(`fetch('${of}/tiles/1/1/1').then(() => 'reached', () => 'refused')`);
    expect(await reach(stranger?.origin ?? '')).toBe('refused');
    expect(await reach(tileHost?.origin ?? '')).toBe('reached');
    expect(stranger?.asked).toEqual([]);
  });

  it('of another host whose style cannot be drawn gives way to the built-in world', async () => {
    host?.answers.set('/style.json', 404);
    const opened = await openMap('style');
    const { page } = opened;
    const retry = page.getByRole('button', { name: 'Try again' });
    await notice(page).filter({ hasText: 'cannot be read' }).waitFor();
    await isDrawn(opened, land);
    const noStyle = 'is no map style that can be drawn';
    const withoutTiles = {
      version: 8,
      sources: { harbour: { type: 'vector', url: '/gone.json' } },
      layers: [{ id: 'a', type: 'fill', source: 'harbour', 'source-layer': 'landuse' }],
    };
    for (const [answer, text] of [
      ['<html>', noStyle],
      [500, 'cannot be read'],
      [{ version: 7, sources: {}, layers: [] }, noStyle],
      [withoutTiles, 'cannot be read'],
      [{ version: 8, sources: {}, layers: { id: 1 } }, noStyle],
      [404, 'cannot be read'],
      [{ version: 8, sources: { a: null }, layers: [null] }, noStyle],
      [500, 'cannot be read'],
      // What MapLibre itself refuses.
      [{ version: 8, sources: {}, layers: [{ id: 'a', type: 'fill', source: 'none' }] }, noStyle],
    ] as const) {
      host?.answers.set('/style.json', answer);
      await retry.click();
      await notice(page).filter({ hasText: text }).waitFor();
    }
    await isDrawn(opened, land);
    host?.answers.set('/style.json', styleWith(`${host.origin}/tiles/{z}/{x}/{y}`));
    await retry.click();
    await isDrawn(opened, drawn.park);
  });

  it('takes attributions as text, from the style and from the description of its source', async () => {
    const nasty = '<img src=x onerror="document.title=1">© <a href="javascript:1">Harbour</a>';
    host?.answers.set('/tiles.json', {
      tiles: [`${host.origin}/tiles/{z}/{x}/{y}`],
      maxzoom: 3,
      attribution: '<script>1</script>Described',
    });
    host?.answers.set('/style.json', {
      version: 8,
      sources: {
        harbour: { type: 'vector', url: 'tiles.json' },
        other: { type: 'geojson', data: { type: 'FeatureCollection', features: [] }, attribution: nasty },
      },
      layers: [
        {
          id: 'a',
          type: 'fill',
          source: 'harbour',
          'source-layer': 'landuse',
          paint: { 'fill-color': '#ff00ff' },
        },
      ],
    });
    const opened = await openMap('style');
    await isDrawn(opened, drawn.park);
    await expect.poll(() => credit(opened.page).textContent()).toBe('© Harbour · 1 Described');
    expect(await credit(opened.page).locator('*').count()).toBe(0);
  });

  it.each([1180, 320])(
    'can be chosen, and is credited, at %i px, without a fault that axe finds',
    async (width) => {
      put('bad.pmtiles', 'PK');
      const opened = await openMap('file:harbour.pmtiles', { width });
      // Nothing lies over it.
      await credit(opened.page).getByText('OpenStreetMap').click({ trial: true });
      expect(await findFaultsInThemes(opened.page)).toEqual([]);
      await opened.page.getByRole('button', { name: 'Base map' }).click();
      await opened.page.getByRole('menuitemradio', { name: 'bad' }).click();
      await notice(opened.page).waitFor();
      expect(await findFaultsInThemes(opened.page)).toEqual([]);
      rmSync(join(folder, 'bad.pmtiles'));
    },
  );

  it('is chosen by an administrator for all users of the account; what a computer has chosen itself counts there', async () => {
    const chosen = async () => {
      const listed = await service.call({ path: '/api/v1/map/list/authorization', token });
      return (listed.json() as { readonly chosen: string }).chosen;
    };
    const opened = await openMap('file:harbour.pmtiles');
    const { page } = opened;
    const forAll = (of: Page) => of.getByRole('menuitem', { name: 'For all users of this account' });
    await isDrawn(opened, park.light);
    await page.getByRole('button', { name: 'Base map' }).click();
    await page.getByText(`${new URL(host?.origin ?? '').host} learns which places you look at`).waitFor();
    expect(await findFaultsInThemes(page)).toEqual([]);
    await forAll(page).click();
    await expect.poll(chosen).toBe('file:harbour.pmtiles');
    await page.getByRole('button', { name: 'Base map' }).click();
    await page.getByRole('menuitemradio', { name: 'harbour', checked: true }).waitFor();
    await expect.poll(() => forAll(page).count()).toBe(0);
    const other = await openMap('');
    await isDrawn(other, park.light);
    const own = await openMap('world');
    await isDrawn(own, land);
    await own.page.getByRole('button', { name: 'Base map' }).click();
    await forAll(own.page).click();
    await expect.poll(chosen).toBe('world');
    await other.page.reload();
    await isDrawn(other, land);
    await service.user('demo', 'vera', 'viewer');
    const vera = await openMap('file:harbour.pmtiles', {
      session: { token: await service.login('demo', 'vera'), userID: 'vera' },
    });
    await isDrawn(vera, park.light);
    await vera.page.getByRole('button', { name: 'Base map' }).click();
    await vera.page.getByRole('menuitemradio', { name: 'World, built in' }).waitFor();
    expect(await forAll(vera.page).count()).toBe(0);
    for (const { complaints } of [opened, other, own, vera]) expect(complaints).toEqual([]);
  });

  it('is drawn below a replay as well', async () => {
    const opened = await openMap('file:harbour.pmtiles');
    await opened.open('/vehicle/van-01?tab=trips&range=hour');
    await opened.page.getByRole('link', { name: 'Replay the whole period' }).click();
    await credit(opened.page).getByText('OpenStreetMap').waitFor();
    await isDrawn(opened, park.light);
  });
});
