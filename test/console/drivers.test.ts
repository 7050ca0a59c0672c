// Drivers in Chromium against the real broker: a key that a vehicle reported is given to a driver, whose name then stands on the trip,
// in the report and in the palette; the key is handed over; the driver is erased. And what a user of one group sees of it.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readConsoleFiles } from '../../broker/adapters/storage/console-files.ts';
import {
  type ConsolePage,
  createConsoleBrowsers,
  findFaultsInThemes,
  openConsole,
  whyNoConsole,
} from '../support/http/console-page.ts';
import { startHttpService } from '../support/http/http-service.ts';

const why = whyNoConsole();
const built = new URL('../../dist/broker/console/', import.meta.url).pathname;
const metre = 1 / 111_195;
const [key, other] = ['0200000000000A11', '0A00B1C2D3'];

/** Half an hour of driving between two rests; the reader named a key as it began. */
const drive = (startS: number): readonly object[] => [
  ...Array.from({ length: 120 }, (_, minute) => ({
    seq: minute + 1,
    timestamp: startS + minute * 60,
    statusCode: 61_714,
    latitude: 43 + Math.min(30, Math.max(0, minute - 60)) * 900 * metre,
    longitude: -79.3,
    speed: minute > 60 && minute <= 90 ? 54 : 0,
    inputs: { ignition: minute > 60 && minute <= 90 },
  })),
  { seq: 201, timestamp: startS + 3500, statusCode: 4400, attributes: { driverUniqueId: key } },
  { seq: 202, timestamp: startS + 3400, statusCode: 4402, attributes: { keyUniqueId: other } },
];

describe.skipIf(why !== null)(why === null ? 'the drivers' : `the drivers [${why}]`, () => {
  const browsers = createConsoleBrowsers();
  let service: Awaited<ReturnType<typeof startHttpService>>;
  let base = '';
  const pages: ConsolePage[] = [];

  const open = async (userID: string, width = 1180): Promise<ConsolePage> => {
    const session = { token: await service.login('demo', userID), userID };
    const opened = await openConsole(browsers, { base, session, width });
    pages.push(opened);
    return opened;
  };

  beforeAll(async () => {
    service = await startHttpService({ console: why === null ? await readConsoleFiles(built) : null });
    await service.account('demo');
    await service.device('demo', 'van-01');
    const events = drive(Math.floor(Date.now() / 1000) - 9000);
    await service.events('demo', 'van-01', { boot: 'b1', events });
    await service.user('demo', 'gus', 'operator');
    await service.sql("UPDATE users SET sees_all = 0 WHERE user_id = 'gus'");
    base = `http://127.0.0.1:${await service.http.listen({ host: '127.0.0.1', port: 0 })}`;
  });
  afterEach(async () => {
    for (const { context } of pages.splice(0)) await context.close();
  });
  afterAll(async () => {
    await browsers.close();
    await service?.close();
  });

  it('get a key that a vehicle reported, and their name stands on the trip, in the report and in the palette', async () => {
    const { page, complaints, open: go } = await open('admin');
    await go('/drivers');
    await page.getByText('No drivers yet').waitFor();
    expect(await findFaultsInThemes(page)).toEqual([]);
    await page.getByRole('button', { name: `Give to a driver: ${key}` }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Ann Tremblay');
    expect(await dialog.getByLabel('ID').inputValue()).toBe('ann-tremblay');
    expect(await findFaultsInThemes(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Give key' }).click();
    await page.waitForURL(/driver=ann-tremblay/);
    await page.getByRole('heading', { name: 'Ann Tremblay' }).waitFor();
    await page.getByRole('button', { name: `Give to a driver: ${key}` }).waitFor({ state: 'detached' });
    await go('/drivers?driver=ann-tremblay');
    await page.getByRole('link', { name: 'Trips', exact: true }).waitFor();
    expect(await findFaultsInThemes(page)).toEqual([]);

    await page.getByRole('link', { name: 'Trips', exact: true }).click();
    await page.waitForURL(/driver=ann-tremblay/);
    await page.locator('table.report td[data-label="Driver"]', { hasText: 'Ann Tremblay' }).waitFor();
    await go('/vehicle/van-01?tab=trips&range=week');
    await page.locator('table.trips td[data-label="Driver"]', { hasText: 'Ann Tremblay' }).waitFor();
    expect(await page.locator('table.trips').innerText()).not.toContain(key);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('tremb');
    await page.getByRole('menuitem', { name: 'Ann Tremblay' }).click();
    await page.waitForURL(/\/drivers\?driver=ann-tremblay/);
    expect(complaints).toEqual([]);
  });

  it('hand a key over from now on, on a phone, and are erased with their name', async () => {
    const { page, complaints, open: go } = await open('admin', 390);
    await go('/drivers');
    await page.getByRole('button', { name: 'Add driver' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Bob Roy');
    await page.getByRole('dialog').getByRole('button', { name: 'Add driver' }).click();
    await page.waitForURL(/driver=bob-roy/);
    await go('/drivers?driver=bob-roy');
    await page.getByRole('button', { name: 'Give a key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: new RegExp(other) }).click();
    await page.getByRole('option', { name: 'Another key' }).click();
    await dialog.getByLabel('Key', { exact: true }).last().fill('02 00 00 00 00 00 0a 11');
    await dialog.getByText('Ann Tremblay has this key').waitFor();
    expect(await findFaultsInThemes(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Give key' }).click();
    await page.locator('aside.card li', { hasText: key }).waitFor();
    await go('/drivers?driver=bob-roy');
    await page.locator('aside.card li', { hasText: key }).waitFor();
    expect(await findFaultsInThemes(page)).toEqual([]);
    await go('/vehicle/van-01?tab=trips&range=week');
    await page.locator('table.trips td[data-label="Driver"]', { hasText: 'Ann Tremblay' }).waitFor();
    await go('/drivers?driver=ann-tremblay');
    await page.getByRole('button', { name: 'Erase' }).click();
    await dialog.getByText('deleted for good').waitFor();
    await dialog.getByRole('button', { name: 'Erase' }).click();
    await page.getByRole('link', { name: 'Ann Tremblay' }).waitFor({ state: 'detached' });
    await go('/vehicle/van-01?tab=trips&range=week');
    await page.locator('table.trips td[data-label="Driver"]', { hasText: key }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('are not listed to a user who is limited to groups', async () => {
    const { page, complaints, open: go } = await open('gus');
    await go('/drivers');
    await page.getByText('Drivers are shown to users who see every vehicle').waitFor();
    expect(await page.getByRole('button', { name: 'Add driver' }).count()).toBe(0);
    expect(await findFaultsInThemes(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
