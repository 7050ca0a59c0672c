// Plots of the console in Chromium: their pixels follow the theme at once, by the same drawing.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConsoleFiles } from '../../broker/adapters/storage/console-files.ts';
import { createConsoleBrowsers, openConsole } from '../support/http/console-page.ts';
import { startHttpService } from '../support/http/http-service.ts';
import { chromiumNeeds } from '../support/machine/browser.ts';

const { missing } = chromiumNeeds();
const built = new URL('../../dist/broker/console/', import.meta.url).pathname;
const files = missing === null ? await readConsoleFiles(built) : null;
const why = missing ?? (files === null ? 'skipped, dist is missing: npm run build' : null);

/** `--plot-1` as the tokens have it. */
const line = { Light: '31,85,192', Dark: '134,176,255', Night: '255,122,87' } as const;

describe.skipIf(why !== null)(why === null ? 'a plot' : `a plot [${why}]`, () => {
  const browsers = createConsoleBrowsers();
  let service: Awaited<ReturnType<typeof startHttpService>>;

  beforeAll(async () => {
    service = await startHttpService({ console: files });
    await service.account('demo');
    await service.device('demo', 'van-01');
    const nowS = Math.floor(Date.now() / 1000);
    const events = Array.from({ length: 30 }, (_unused, at) => ({
      seq: at + 1,
      timestamp: nowS - 1800 + at * 30,
      statusCode: 61472,
      latitude: 50 + at / 1000,
      longitude: 9.5,
      speed: 30 + at,
    }));
    await service.events('demo', 'van-01', { boot: 'b1', events });
  });

  afterAll(async () => {
    await browsers.close();
    await service?.close();
  });

  it('that is drawn takes the colours of another theme at once, whether a person or the system changes it', async () => {
    const base = `http://127.0.0.1:${await service.http.listen({ host: '127.0.0.1', port: 0 })}`;
    const token = await service.login('demo', 'admin');
    const { page, context, complaints, open } = await openConsole(browsers, {
      base,
      session: { token, userID: 'admin' },
    });
    await open('/vehicle/van-01?tab=events&kind=all&range=hour');
    await page.locator('.uplot canvas').waitFor();
    await page.evaluate("globalThis.firstCanvas = document.querySelector('.uplot canvas')");
    /** The colours of lines that the canvas holds. */
    const drawn = (): Promise<unknown> =>
      page.evaluate(`(() => {
        const canvas = document.querySelector('.uplot canvas');
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        const wanted = ${JSON.stringify(Object.values(line))};
        const found = new Set();
        for (let at = 0; at < data.length; at += 4)
          if (data[at + 3] === 255) found.add([data[at], data[at + 1], data[at + 2]].join());
        return wanted.filter((colour) => found.has(colour));
      })()`);
    await expect.poll(drawn).toEqual([line.Light]);
    for (const theme of ['Dark', 'Night', 'Light'] as const) {
      await page.getByRole('button', { name: 'Theme, Language' }).click();
      await page.getByRole('menuitemradio', { name: theme }).click();
      await page.keyboard.press('Escape');
      await expect.poll(drawn).toEqual([line[theme]]);
    }
    await page.getByRole('button', { name: 'Theme, Language' }).click();
    await page.getByRole('menuitemradio', { name: 'As the system' }).click();
    await page.keyboard.press('Escape');
    for (const [colorScheme, theme] of [
      ['dark', 'Dark'],
      ['light', 'Light'],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await expect.poll(drawn).toEqual([line[theme]]);
    }
    // Nothing was made anew.
    expect(await page.evaluate("globalThis.firstCanvas === document.querySelector('.uplot canvas')")).toBe(
      true,
    );
    // What this test itself does with the canvas is the one thing that the browser remarks on.
    expect(complaints.filter((said) => !said.includes('getImageData'))).toEqual([]);
    await context.close();
  });
});
