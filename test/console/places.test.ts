// Vehicles whose marks lie on each other, in Chromium on the real service: no zoom parts them, so the map opens a list of them.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readConsoleFiles } from '../../broker/adapters/storage/console-files.ts';
import {
  type ConsolePage,
  createConsoleBrowsers,
  findFaultsInThemes,
  openConsole,
} from '../support/http/console-page.ts';
import { startHttpService } from '../support/http/http-service.ts';
import { chromiumNeeds } from '../support/machine/browser.ts';

const { missing } = chromiumNeeds();
const built = new URL('../../dist/broker/console/', import.meta.url).pathname;
const files = missing === null ? await readConsoleFiles(built) : null;
const why = missing ?? (files === null ? 'skipped, dist is missing: npm run build' : null);

const depot = { latitude: 50.5, longitude: 9.5 } as const;
const fix = 61472;
const panic = 63553;

describe.skipIf(why !== null)(
  why === null ? 'vehicles at one place' : `vehicles at one place [${why}]`,
  () => {
    const browsers = createConsoleBrowsers();
    const pages: ConsolePage[] = [];
    let service: Awaited<ReturnType<typeof startHttpService>>;
    let base = '';
    let token = '';

    const report = async (deviceID: string, seq: number, change: object): Promise<void> =>
      service.events('demo', deviceID, {
        boot: 'b1',
        events: [{ seq, timestamp: Math.floor(Date.now() / 1000), statusCode: fix, speed: 0, ...change }],
      });

    beforeAll(async () => {
      service = await startHttpService({ console: files });
      await service.account('demo');
      for (const id of ['depot-a', 'depot-b', 'depot-c', 'far-away']) await service.device('demo', id);
      await report('depot-a', 1, depot);
      await report('depot-b', 1, depot);
      await report('depot-c', 1, { ...depot, statusCode: panic, inputs: { panic: true } });
      await report('far-away', 1, { latitude: 51.5, longitude: 10.5 });
      token = await service.login('demo', 'admin');
      base = `http://127.0.0.1:${await service.http.listen({ host: '127.0.0.1', port: 0 })}`;
    });

    afterEach(async () => {
      for (const { context } of pages.splice(0)) await context.close();
    });

    afterAll(async () => {
      await browsers.close();
      await service?.close();
    });

    async function openMap(search: string): Promise<Page> {
      const opened = await openConsole(browsers, { base, hasMap: true, session: { token, userID: 'admin' } });
      pages.push(opened);
      await opened.open(`/live?${search}`);
      await opened.page.locator('a.vehicle').nth(3).waitFor();
      await opened.page.waitForSelector('.map-host[data-is-drawn]', { timeout: 60_000 });
      return opened.page;
    }
    const at = (zoom: number): string => `at=${depot.latitude},${depot.longitude},${zoom}`;
    const list = (page: Page) => page.getByRole('listbox', { name: 'Vehicles at this place, worst first' });
    const names = (page: Page) => list(page).getByRole('option').locator('.name').allTextContents();
    async function pressMiddle(page: Page): Promise<void> {
      const box = await page.locator('.map-host').boundingBox();
      if (box === null) throw new Error('the map is not there');
      await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
    }

    it.each([8, 19])('are listed when their mark is pressed at zoom %i, worst first', async (zoom) => {
      const page = await openMap(at(zoom));
      await pressMiddle(page);
      await page.getByRole('heading', { name: '3 vehicles at this place' }).waitFor();
      expect(await names(page)).toEqual(['depot-c', 'depot-a', 'depot-b']);
      expect(await findFaultsInThemes(page)).toEqual([]);
    });

    it('are listed and chosen by keyboard alone; the address keeps the list, and then the choice', async () => {
      const page = await openMap(at(17));
      await page.locator('.map-host canvas').focus();
      await page.keyboard.press('Enter');
      await list(page).waitFor();
      expect(new URL(page.url()).searchParams.get('here')).toMatch(/^50\.5\d*,9\.5\d*,\d+$/);
      await page.reload();
      await list(page).waitFor();
      await expect.poll(() => names(page)).toEqual(['depot-c', 'depot-a', 'depot-b']);
      // The alarm may have come after the list had the focus.
      for (const key of ['Home', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
      await page.getByRole('region', { name: 'Selected vehicle: depot-a' }).waitFor();
      expect(await list(page).count()).toBe(0);
      expect(new URL(page.url()).searchParams.get('here')).toBe(null);
      expect(new URL(page.url()).searchParams.get('vehicle')).toBe('depot-a');
    });

    it('leave the list when they leave the place', async () => {
      const page = await openMap(`${at(17)}&here=50.5,9.5,5`);
      await expect.poll(() => names(page)).toHaveLength(3);
      await report('depot-b', 2, { latitude: 50.6, longitude: 9.6, speed: 40 });
      await expect.poll(() => names(page)).toEqual(['depot-c', 'depot-a']);
      await page.keyboard.press('Escape');
      await expect.poll(() => new URL(page.url()).searchParams.get('here')).toBe(null);
      await report('depot-b', 3, depot);
    });

    it('that zooming parts are not listed: the map goes nearer', async () => {
      // Three in the depot and one a degree away, in one cluster about their middle.
      const page = await openMap('at=50.75,9.75,3');
      const scale = page.locator('.maplibregl-ctrl-scale');
      const before = await scale.textContent();
      await pressMiddle(page);
      await expect.poll(() => scale.textContent()).not.toBe(before);
      expect(await list(page).count()).toBe(0);
    });
  },
);
