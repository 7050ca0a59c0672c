// "Who was here?" in Chromium against the real broker: asked by keyboard and on the map, kept in the address, and said in words where there is nothing.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readConsoleFiles } from '../../broker/adapters/storage/console-files.ts';
import {
  type ConsolePage,
  createConsoleBrowsers,
  findFaultsInThemes,
  openConsole,
  sentencesOf,
  whyNoConsole,
} from '../support/http/console-page.ts';
import { startHttpService } from '../support/http/http-service.ts';
import { createKeyboardUser } from '../support/http/keyboard-user.ts';

const why = whyNoConsole();
const built = new URL('../../dist/broker/console/', import.meta.url).pathname;

describe.skipIf(why !== null)(
  why === null ? 'the visits of a place' : `the visits of a place [${why}]`,
  () => {
    const browsers = createConsoleBrowsers();
    let service: Awaited<ReturnType<typeof startHttpService>>;
    let base = '';
    let token = '';
    const pages: ConsolePage[] = [];
    const fromS = Math.floor(Date.now() / 3_600_000) * 3600 - 7200;
    const asked = `place=43.65,-79.35&radius=200&from=${fromS}&minutes=60`;

    const open = async (of: Partial<Parameters<typeof openConsole>[1]> = {}) => {
      const opened = await openConsole(browsers, { base, session: { token, userID: 'admin' }, ...of });
      pages.push(opened);
      return opened;
    };

    beforeAll(async () => {
      service = await startHttpService({ console: why === null ? await readConsoleFiles(built) : null });
      await service.account('demo');
      for (const deviceID of ['van-01', 'van-02', 'van-03']) await service.device('demo', deviceID);
      const drive = (deviceID: string, east: number, everyS: number) =>
        service.events('demo', deviceID, {
          boot: 'b1',
          events: Array.from({ length: 9 }, (_unused, at) => ({
            seq: at + 1,
            timestamp: fromS + 600 + at * everyS,
            statusCode: 61472,
            latitude: 43.65 + (at - 4) * 0.001,
            longitude: -79.35 + east,
            speed: 40,
          })),
        });
      await drive('van-01', 0, 10);
      await drive('van-02', 0.002, 20);
      await drive('van-03', 0.1, 10);
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

    it('are asked for by keyboard alone, and stand in the address', async () => {
      const { page, complaints, open: go } = await open();
      const user = createKeyboardUser(page);
      await go('/live');
      await page.locator('a.vehicle').first().waitFor();
      await user.goTo('Live');
      await user.press('g', 'y');
      await page.getByText('Which vehicles were at a place?').waitFor();
      await page.getByLabel('Place').fill('nowhere');
      await page.getByRole('button', { name: 'Find vehicles' }).press('Enter');
      await page.getByText('That is no place').waitFor();
      await page.getByLabel('Place').fill('43.65, -79.35');
      await page.getByLabel('For').selectOption({ label: '4 h' });
      const date = new Date(fromS * 1000);
      await page.getByLabel('Day').fill(date.toISOString().slice(0, 10));
      await page.getByLabel('From').fill(date.toISOString().slice(11, 16));
      await page.getByRole('button', { name: 'Find vehicles' }).press('Enter');
      await page.getByText(/2 vehicles, asked at/).waitFor();
      expect(new URL(page.url()).search).toContain('minutes=240');
      const rows = page.locator('.vehicles a.vehicle');
      expect(await rows.count()).toBe(2);
      expect(await rows.first().innerText()).toContain('van-01');
      expect(await rows.first().innerText()).toContain('within 0\u00a0m');
      expect(complaints).toEqual([]);
    });

    it('are the same for whoever opens the link, and one vehicle can be chosen', async () => {
      const { page, complaints, open: go } = await open();
      await go(`/visits?${asked}&vehicle=van-02`);
      await page.getByText(/2 vehicles, asked at/).waitFor();
      await page.locator('a.vehicle[aria-current]', { hasText: 'van-02' }).waitFor();
      await page.getByRole('link', { name: 'Open the vehicle' }).click();
      await page.waitForURL('**/vehicle/van-02*');
      expect(complaints).toEqual([]);
    });

    it('are asked for by a press on the map, with the ways of the vehicles drawn', async () => {
      const { page, complaints, open: go } = await open({ hasMap: true });
      const ways = page.waitForResponse('**/eventdata/devicedata/van-01/**');
      await go(`/visits?${asked}`);
      await page.waitForSelector('.map-host[data-is-drawn]', { timeout: 60_000 });
      await page.getByText(/2 vehicles, asked at/).waitFor();
      expect((await ways).status()).toBe(200);
      const box = await page.locator('.map-host').boundingBox();
      if (box === null) throw new Error('the map has no place');
      await page.mouse.click(box.x + box.width * 0.3, box.y + box.height * 0.3);
      await expect.poll(() => new URL(page.url()).searchParams.get('place')).not.toBe('43.65,-79.35');
      await page.getByText(/1 vehicle, asked at/).waitFor();
      expect(complaints).toEqual([]);
    });

    it('say in words what failed', async () => {
      const { page, open: go } = await open();
      await page.route('**/eventdata/visits/**', (route) => route.abort());
      await go(`/visits?${asked}`);
      await page.getByRole('alert').first().waitFor();
    });

    it.each(['fr', 'de', 'es', 'ar'])('speak %s', async (language) => {
      const { visitTexts } = await import('../../build/words/visit/en.ts');
      const sentences = sentencesOf(visitTexts);
      const { page, open: go } = await open({ language });
      for (const path of ['/visits', `/visits?${asked}`, '/visits?place=1,1&from=1000']) {
        await go(path);
        await page.locator('.vehicles .empty, a.vehicle').first().waitFor();
        const shown = await page.locator('body').innerText();
        expect(sentences.filter((sentence) => shown.includes(sentence))).toEqual([]);
      }
    });

    it.each([
      [1180, 'en'],
      [320, 'en'],
      [1180, 'ar'],
      [320, 'ar'],
    ] as const)('have no fault of accessibility in any theme at %i px in %s', async (width, language) => {
      const { page, complaints, open: go } = await open({ width, language, hasMap: width > 1000 });
      for (const path of ['/visits', `/visits?${asked}&vehicle=van-01`]) {
        await go(path);
        await page.locator('.vehicles .empty, a.vehicle').first().waitFor();
        await page.waitForTimeout(800);
        expect([path, await findFaultsInThemes(page)]).toEqual([path, []]);
      }
      expect(complaints).toEqual([]);
    });
  },
);
