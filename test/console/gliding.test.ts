// The mark of a vehicle on its way between two reports, in Chromium on the real service: it passes the places between, and a press there
// finds it; where it may not glide it never stands between.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readConsoleFiles } from '../../broker/adapters/storage/console-files.ts';
import { findDevice, recordHello } from '../../broker/store/devices/devices.ts';
import { decodeHello } from '../../src/core/wire/wire.ts';
import { helloOf, jsonBytes } from '../support/broker/broker-bench.ts';
import { type ConsolePage, createConsoleBrowsers, openConsole } from '../support/http/console-page.ts';
import { startHttpService } from '../support/http/http-service.ts';
import { chromiumNeeds } from '../support/machine/browser.ts';

const { missing } = chromiumNeeds();
const built = new URL('../../dist/broker/console/', import.meta.url).pathname;
const files = missing === null ? await readConsoleFiles(built) : null;
const why = missing ?? (files === null ? 'skipped, dist is missing: npm run build' : null);

const fix = 61472;
const latitude = 50.5;
/** 150 m apart: 98 px at zoom 15. */
const [west, east] = [9.5, 9.50212];
const middle = (west + east) / 2;

describe.skipIf(why !== null)(
  why === null ? 'a mark between two reports' : `a mark between two reports [${why}]`,
  () => {
    const browsers = createConsoleBrowsers();
    const pages: ConsolePage[] = [];
    let service: Awaited<ReturnType<typeof startHttpService>>;
    let base = '';
    let token = '';
    let seq = 0;
    const startS = Math.floor(Date.now() / 1000) - 3600;

    /** @param atS seconds after the start. */
    const report = (deviceID: string, atS: number, change: object): Promise<void> => {
      seq += 1;
      const event = { seq, timestamp: startS + atS, statusCode: fix, latitude, heading: 90, ...change };
      return service.events('demo', deviceID, { boot: 'b1', events: [event] });
    };

    beforeAll(async () => {
      service = await startHttpService({ console: files });
      await service.account('demo');
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

    async function openMap({
      deviceID,
      isCalm = false,
    }: {
      deviceID: string;
      isCalm?: boolean;
    }): Promise<Page> {
      await service.device('demo', deviceID);
      const device = await findDevice(service.db, { accountID: 'demo', deviceID });
      const hello = decodeHello(jsonBytes(helloOf('b1')));
      if (device === null || hello === null) throw new Error('the unit does not come online');
      await service.write([recordHello(device.deviceNo, hello, { atMs: Date.now() })]);
      await report(deviceID, 0, { longitude: west, speed: 54 });
      const opened = await openConsole(browsers, { base, hasMap: true, session: { token, userID: 'admin' } });
      pages.push(opened);
      const { page } = opened;
      await page.emulateMedia({ reducedMotion: isCalm ? 'reduce' : 'no-preference' });
      await opened.open(`/live?at=${latitude},${middle},15&find=${deviceID}`);
      await page.locator('a.vehicle', { hasText: deviceID }).waitFor();
      await page.waitForSelector('.map-host[data-is-drawn]', { timeout: 60_000 });
      return page;
    }

    const selectedIn = (page: Page): string | null => new URL(page.url()).searchParams.get('vehicle');
    /** Presses Enter: the middle of the map takes in some 34 px about it. */
    async function pressMiddle(page: Page): Promise<void> {
      await page.locator('.map-host canvas').press('Enter');
      await page.waitForTimeout(150);
    }
    async function pressEnd(page: Page): Promise<void> {
      const box = await page.locator('.map-host').boundingBox();
      if (box === null) throw new Error('the map is not there');
      await page.mouse.click(box.x + box.width / 2 + 49, box.y + box.height / 2);
      await page.waitForTimeout(150);
    }
    const isShown = (page: Page, deviceID: string): Promise<void> =>
      page.locator('a.vehicle', { hasText: deviceID }).getByText('55').waitFor();

    it('passes the places between them', async () => {
      const page = await openMap({ deviceID: 'gliding' });
      await report('gliding', 10, { longitude: east, speed: 55 });
      await isShown(page, 'gliding');
      await expect
        .poll(async () => {
          await pressMiddle(page);
          return selectedIn(page);
        })
        .toBe('gliding');
    });

    it.each([
      ['its speed does not allow the way in that time', { atS: 4, isCalm: false }],
      ['the reader wants no motion', { atS: 10, isCalm: true }],
    ])('is at the last one at once where %s', async (_, { atS, isCalm }) => {
      const deviceID = `jumping-${atS}`;
      const page = await openMap({ deviceID, isCalm });
      await report(deviceID, atS, { longitude: east, speed: 55 });
      await isShown(page, deviceID);
      await expect
        .poll(async () => {
          await pressMiddle(page);
          expect(selectedIn(page)).toBeNull();
          await pressEnd(page);
          return selectedIn(page);
        })
        .toBe(deviceID);
    });
  },
);
