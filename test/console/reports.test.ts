// The reports in Chromium against the real broker, on days of driving that the test knows: each figure is that of the service, leads to what it
// is about, and can be saved and printed.
import { readFile } from 'node:fs/promises';
import type { Download } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readConsoleFiles } from '../../broker/adapters/storage/console-files.ts';
import { exportLimits } from '../../broker/scheduling/per-account-limits.ts';
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

type Row = Readonly<Record<string, unknown>>;

const kinds = ['summary', 'trips', 'stops', 'alarms', 'decisions', 'events'] as const;
const daysDriven = 3;
const daySeconds = 86_400;
const metre = 1 / 111_195;
/** The key of a driver, who drives the first trip of van-01. */
const ann = '0200000000000A11';

/** Days that end now: two drives a day of 40 and 30 minutes, a record each 20 s. Of `isPlain` nothing says whether the ignition is on. */
function daysOf(startS: number, isPlain: boolean): readonly object[] {
  const events: object[] = [];
  let metres = 0;
  for (let second = 0; second < daysDriven * daySeconds; second += 20) {
    const minute = (second / 60) % 1440;
    const isDriving = (minute > 60 && minute < 100) || (minute > 600 && minute < 630);
    // A parked vehicle reports each ten minutes.
    if (!isDriving && minute > 130 && minute % 10 !== 0) continue;
    if (isDriving) metres += 300;
    events.push({
      seq: events.length + 1,
      timestamp: startS + second,
      statusCode: isDriving ? 61714 : 61472,
      latitude: Number((43 + metres * metre).toFixed(6)),
      longitude: -79.3,
      speed: isDriving ? 54 : 0,
      ...(isPlain ? {} : { inputs: { ignition: isDriving || minute < 20 } }),
    });
  }
  return events;
}

describe.skipIf(why !== null)(why === null ? 'the reports' : `the reports [${why}]`, () => {
  const browsers = createConsoleBrowsers();
  let service: Awaited<ReturnType<typeof startHttpService>>;
  let base = '';
  let token = '';
  const startS = Math.floor(Date.now() / 1000) - daysDriven * daySeconds;
  const pages: ConsolePage[] = [];

  const open = async (of: Partial<Parameters<typeof openConsole>[1]> = {}): Promise<ConsolePage> => {
    const opened = await openConsole(browsers, { base, session: { token, userID: 'admin' }, ...of });
    pages.push(opened);
    return opened;
  };
  const get = async (path: string): Promise<Row> =>
    (await service.call({ path: `/api/v1${path}`, token })).json();
  const post = async (path: string, body: object, as: string): Promise<Row> =>
    (await service.call({ method: 'POST', path: `/api/v1${path}/authorization`, token: as, body })).json();
  const textOf = async (download: Download): Promise<string> => readFile(await download.path(), 'utf8');

  beforeAll(async () => {
    service = await startHttpService({ console: why === null ? await readConsoleFiles(built) : null });
    await service.account('demo');
    for (const deviceID of ['van-01', 'van-02', 'van-03']) await service.device('demo', deviceID);
    for (const deviceID of ['van-01', 'van-02']) {
      const events = daysOf(startS, deviceID === 'van-02');
      for (let from = 0; from < events.length; from += 400)
        await service.events('demo', deviceID, { boot: 'b1', events: events.slice(from, from + 400) });
    }
    await service.events('demo', 'van-01', {
      boot: 'b2',
      events: [
        { seq: 1, timestamp: startS + 3600, statusCode: 63553, latitude: 43, longitude: -79.3 },
        { seq: 2, timestamp: startS + 7200, statusCode: 61968, latitude: 43, longitude: -79.3 },
        { seq: 3, timestamp: startS + 3300, statusCode: 4400, attributes: { driverUniqueId: ann } },
        { seq: 4, timestamp: startS + 6900, statusCode: 4401, attributes: { previousDriverUniqueId: ann } },
      ],
    });
    await service.sql("UPDATE accounts SET needs_approval = 1 WHERE account_id = 'demo'");
    await service.user('demo', 'olga', 'operator');
    await service.user('demo', 'otto', 'operator');
    token = await service.login('demo', 'admin');
    const [olga, otto] = [await service.login('demo', 'olga'), await service.login('demo', 'otto')];
    const order = { deviceID: 'van-02', feature: 'enginecutoff', state: '1', reason: 'stolen: report 22' };
    const { approvalID } = await post('/command/feature', order, olga);
    await post('/command/refuse', { approvalID, reason: 'It is in the workshop' }, otto);
    base = `http://127.0.0.1:${await service.http.listen({ host: '127.0.0.1', port: 0 })}`;
  });

  afterEach(async () => {
    for (const { context } of pages.splice(0)) await context.close();
  });

  afterAll(async () => {
    await browsers.close();
    await service?.close();
  });

  it('sum the fleet as the service does, say what is unknown, and lead from a sum to its trips', async () => {
    const { page, complaints, open: go } = await open();
    await go('/reports?range=week');
    const row = (deviceID: string) => page.locator('table.report tbody tr', { hasText: deviceID });
    await row('van-01').waitFor();
    const { devices } = await get(`/report/summary/van-01/${startS - daySeconds}/0/authorization`);
    const [sums] = devices as readonly Row[];
    await row('van-01')
      .getByText(`${Number(sums?.['distance']).toFixed(1)} km`)
      .waitFor();
    // Of van-02 nothing says whether the ignition is on, and the fleet cannot know its sum then.
    await row('van-02').locator('td[data-label="Idling"]').getByText('unknown').waitFor();
    await page.locator('table.report tfoot td[data-label="Idling"]').getByText('unknown').waitFor();
    expect(await row('van-01').locator('td[data-label="Idling"]').innerText()).toMatch(/\smin$/);
    await page.locator('.uplot canvas').waitFor();
    await row('van-01').locator('td[data-label="Trips"] a').click();
    await page.waitForURL(/kind=trips/);
    expect(new URL(page.url()).search).toBe('?kind=trips&vehicles=van-01&range=week');
    await expect.poll(() => page.locator('table.report tbody tr').count()).toBe(Number(sums?.['trips']));
    // From the trip to its replay.
    await page.locator('table.report tbody th a').first().click();
    await page.waitForURL(/\/vehicle\/van-01/);
    expect(new URL(page.url()).searchParams.get('tab')).toBe('trips');
    expect(complaints).toEqual([]);
  });

  it('say on the tab of a vehicle who drove each trip, and nothing of drivers where no trip has one', async () => {
    const { page, complaints, open: go } = await open();
    const drivers = page.locator('table.trips tbody tr:not(.stop-row) td[data-label="Driver"]');
    await go('/vehicle/van-01?tab=trips&range=week');
    await drivers.last().waitFor();
    const shown = (await drivers.allInnerTexts()).map((text) => text.trim());
    expect(shown).toEqual([...shown.slice(1).map(() => 'unknown'), ann]);
    expect(await findFaultsInThemes(page)).toEqual([]);
    await go('/vehicle/van-02?tab=trips&range=week');
    await page.locator('table.trips tbody tr').first().waitFor();
    expect(await drivers.count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('keep kind, vehicles, period and order in the address, chosen by keyboard alone', async () => {
    const { page, complaints, open: go } = await open();
    const user = createKeyboardUser(page);
    await go('/live');
    await page.locator('a.vehicle').first().waitFor();
    await user.goTo('Live');
    await user.press('g', 'r');
    await page.getByRole('heading', { name: 'Reports', level: 1 }).waitFor();
    await user.goTo('Trips');
    await user.press('Enter');
    await page.waitForURL(/kind=trips/);
    await user.goTo('Vehicles: Whole fleet');
    await user.press('Enter');
    const choice = page.getByRole('dialog', { name: 'Choose vehicles' });
    await choice.getByText('van-02').waitFor();
    await user.goTo('van-02');
    await user.press('Space');
    await page.waitForURL(/vehicles=van-02/);
    await user.press('Escape');
    await choice.waitFor({ state: 'detached' });
    await user.expectFocus();
    await page.locator('table.report tbody tr').first().waitFor();
    await user.goTo('Distance');
    await user.press('Enter');
    await page.waitForURL(/sort=-distance/);
    await user.expectFocus();
    await page.getByRole('columnheader', { name: 'Distance' }).waitFor();
    const order = () => page.locator('th[aria-sort]').getAttribute('aria-sort');
    expect(await order()).toBe('descending');
    await user.press('Enter');
    await page.waitForURL(/sort=distance/);
    await expect.poll(order).toBe('ascending');
    const lengths = await page.locator('td[data-label="Distance"]').allInnerTexts();
    const numbers = lengths.map((text) => Number.parseFloat(text));
    expect(numbers.length).toBeGreaterThan(3);
    expect(numbers).toEqual(numbers.toSorted((one, other) => one - other));
    // The same address shows the same again.
    const shown = await page.locator('table.report').innerText();
    await page.reload();
    await expect.poll(() => page.locator('table.report').innerText()).toBe(shown);
    expect(complaints).toEqual([]);
  });

  it('take dates in either order, and say how long a period may be', async () => {
    const { page, open: go } = await open();
    await go('/reports?kind=stops');
    await page.locator('table.report').waitFor();
    await page.getByLabel('From', { exact: true }).fill('2026-03-02');
    await page.getByLabel('To', { exact: true }).fill('2026-01-01');
    await page.getByRole('button', { name: 'Show this period' }).click();
    await page.getByText('The period is longer than 31 days').waitFor();
    expect(await page.getByLabel('From', { exact: true }).inputValue()).toBe('2026-01-01');
    expect(await page.getByLabel('To', { exact: true }).inputValue()).toBe('2026-03-02');
    await page.getByRole('button', { name: 'Vehicles: Whole fleet' }).click();
    await page.getByRole('dialog').getByText('van-03').click();
    await page.keyboard.press('Escape');
    await page.getByText('No stops began in this period').waitFor();
  });

  it('list alarms, decisions and events with the way to each', async () => {
    const { page, complaints, open: go } = await open();
    await go('/reports?kind=alarms');
    const first = page.locator('table.report tbody tr').first();
    await first.getByText('Panic').waitFor();
    expect(await first.locator('th a').getAttribute('href')).toMatch(/\/alarms\?alarm=/);
    await go('/reports?kind=decisions');
    await first.getByText('It is in the workshop').waitFor();
    await first.getByText('Refused', { exact: true }).waitFor();
    await first.getByText('Stolen. report 22').waitFor();
    await first.locator('th a').click();
    await page.waitForURL(/\/vehicle\/van-02\?.*cut=/);
    await go('/reports?kind=events&code=63553');
    await page.locator('table.report tbody tr').first().getByText('Panic').waitFor();
    await page.locator('table.report tbody th a').first().click();
    await page.waitForURL(/\/vehicle\/van-01\?.*tab=events/);
    await page.getByText('Proof of the event').first().waitFor();
    expect(complaints).toEqual([]);
  });

  it('are saved as the table that is shown, and as the records of the vehicles', async () => {
    const { page, open: go } = await open();
    await go('/reports?kind=trips&vehicles=van-01,van-02&sort=start');
    const rows = page.locator('table.report tbody tr');
    await rows.first().waitFor();
    const count = await rows.count();
    const save = async (item: string): Promise<Download> => {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        (async () => {
          await page.getByRole('button', { name: 'Save as file' }).click();
          await page.getByRole('menuitem', { name: item }).click();
        })(),
      ]);
      return download;
    };
    const table = await save('CSV, this table');
    expect(table.suggestedFilename()).toMatch(/^trips_\d{4}-\d\d-\d\d_\d{4}-\d\d-\d\d\.csv$/);
    const lines = (await textOf(table)).replace('\ufeff', '').trimEnd().split('\r\n');
    expect(lines).toHaveLength(count + 1);
    expect(lines[0]).toContain('deviceID,Start (UTC),Vehicle,Driver,End (UTC),Driving (s),Distance (km)');
    expect(lines[1]).toMatch(/^van-0[12],\d{4}-\d\d-\d\dT[\d:.]+Z,van-0[12],/);
    const files: Download[] = [];
    page.on('download', (download) => void files.push(download));
    await save('GPX, the way');
    await page.getByText('2 files were saved').waitFor();
    await expect.poll(() => files.length).toBe(2);
    for (const file of files) {
      expect(file.suggestedFilename()).toMatch(/^van-0[12]_.*\.gpx$/);
      expect(await textOf(file)).toMatch(/^<\?xml[^]*<trkpt [^]*<\/gpx>\s*$/);
    }
  });

  it('are cancelled while they are saved or read, and give back what they held', async () => {
    const { page, open: go } = await open();
    await go('/reports?kind=trips&vehicles=van-01');
    await page.locator('table.report tbody tr').first().waitFor();
    // The answer of the service comes when the test lets it.
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(/\/export\/|report\/trips\/van-03/, async (route) => {
      await held;
      await route.continue().catch(() => undefined);
    });
    await page.getByRole('button', { name: 'Save as file' }).click();
    await page.getByRole('menuitem', { name: 'CSV, every record' }).click();
    await page.getByText('Saving van-01, file 1 of 1').first().waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('Saving was cancelled').waitFor();
    await go('/reports?kind=trips');
    await page.getByText('2 of 3 vehicles read').waitFor();
    await page.getByRole('button', { name: 'Stop reading' }).click();
    await page.getByText('Reading was stopped').waitFor();
    release();
    await page.getByRole('button', { name: 'Read again' }).click();
    await page.locator('table.report tbody tr').first().waitFor();
  });

  it('are printed whole and light, without what can be pressed', async () => {
    const { page, open: go } = await open({ theme: 'night' });
    await go('/reports?kind=events&code=61472&vehicles=van-01');
    await page.getByText(/100 of [\d,]+ rows shown/).waitFor();
    const all = Number(
      /of ([\d,]+) rows/.exec(await page.locator('main').innerText())?.[1]?.replace(',', ''),
    );
    await page.emulateMedia({ media: 'print' });
    expect(await page.getByRole('button', { name: 'Print' }).isVisible()).toBe(false);
    expect(await page.locator('nav.rail').isVisible()).toBe(false);
    await page.getByText('Account demo').waitFor();
    const colours = await page.evaluate(
      "[getComputedStyle(document.querySelector('.report td')).color, getComputedStyle(document.querySelector('main')).display]",
    );
    expect(colours).toEqual(['rgb(16, 21, 28)', 'block']);
    // On paper there is nothing to press for more.
    await page.evaluate("dispatchEvent(new Event('beforeprint'))");
    expect(await page.locator('table.report tbody tr').count()).toBe(all);
    const pdf = (await page.pdf({ preferCSSPageSize: true })).toString('latin1');
    expect(pdf.match(/\/Type\s*\/Page\b/g)?.length).toBeGreaterThan(2);
    await page.evaluate("dispatchEvent(new Event('afterprint'))");
    await expect.poll(() => page.locator('table.report tbody tr').count()).toBe(100);
  });

  it('are put in order on a phone, where the headings are not shown', async () => {
    const { page, open: go } = await open({ width: 320 });
    await go('/reports?kind=trips');
    await page.locator('table.report tbody tr').first().waitFor();
    await page.getByLabel('Order').selectOption('Start, upwards');
    await page.waitForURL(/sort=start/);
    const starts = await page
      .locator('table.report tbody th time')
      .evaluateAll((found) => found.map((one) => one.getAttribute('datetime')));
    expect(starts.length).toBeGreaterThan(3);
    expect(starts).toEqual(starts.toSorted((one, other) => String(one).localeCompare(String(other))));
  });

  it('have no fault of accessibility while vehicles or a file are chosen', async () => {
    const { page, open: go } = await open();
    await go('/reports?kind=trips');
    await page.locator('table.report tbody tr').first().waitFor();
    await page.getByRole('button', { name: 'Vehicles: Whole fleet' }).click();
    await page.getByRole('dialog').getByText('van-03').waitFor();
    expect(await findFaultsInThemes(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Save as file' }).click();
    await page.getByRole('menuitem').first().waitFor();
    expect(await findFaultsInThemes(page)).toEqual([]);
  });

  it('wait where the account asks too much, and read every vehicle of a fleet', async () => {
    const rates = { token: { burst: 12, perS: 12 }, failures: { burst: 60, perS: 60 } };
    const busy = await startHttpService({ console: await readConsoleFiles(built), rates });
    try {
      await busy.account('demo');
      for (let at = 10; at < 50; at += 1) await busy.device('demo', `van-${at}`);
      const address = `http://127.0.0.1:${await busy.http.listen({ host: '127.0.0.1', port: 0 })}`;
      const session = { token: await busy.login('demo', 'admin'), userID: 'admin' };
      const { page, context, open: go } = await open({ base: address, session });
      // Other reports of the account hold every place at first: by its rate alone only a quick machine is refused.
      const others = new AbortController();
      for (let taken = 0; taken < exportLimits.account; taken += 1)
        busy.api.exportLimit.begin(
          { accountID: 'demo', userID: `user-${taken}`, tokenHash: '' },
          others.signal,
        );
      let refused = 0;
      page.on('response', (response) => {
        if (response.url().includes('/report/trips/') && response.status() === 503) refused += 1;
      });
      await go('/reports?kind=trips');
      await expect.poll(() => refused).toBeGreaterThan(0);
      others.abort();
      await page.getByText('40 of 40 vehicles read').or(page.getByText('No trips began')).first().waitFor();
      await page.getByText('No trips began in this period').waitFor();
      await context.close();
    } finally {
      await busy.close();
    }
  });

  it('show what the service refuses, and keep the rest of the page', async () => {
    const { page, open: go } = await open();
    await go('/reports?kind=trips&vehicles=van-99');
    await page.getByRole('alert').filter({ hasText: 'van-99' }).waitFor();
    await page.getByRole('button', { name: 'Read again' }).waitFor();
  });

  it.each(['fr', 'de', 'es', 'ar'])('speak %s', async (language) => {
    const { reportTexts } = await import('../../build/words/report/en.ts');
    const sentences = sentencesOf(reportTexts);
    const { page, open: go } = await open({ language });
    for (const kind of kinds) {
      await go(`/reports?kind=${kind}`);
      await page.locator('table.report, .empty').first().waitFor();
      const shown = await page.locator('body').innerText();
      expect(sentences.filter((sentence) => shown.includes(sentence))).toEqual([]);
    }
  });

  it.each([
    [1180, 'en'],
    [320, 'en'],
    [1180, 'ar'],
    [320, 'ar'],
  ] as const)(
    'have no fault of accessibility in any theme at %i px in %s, and no sideways scroll',
    async (width, language) => {
      const { page, complaints, open: go } = await open({ width, language });
      for (const kind of kinds) {
        await go(`/reports?kind=${kind}`);
        await page.locator('table.report, .empty').first().waitFor();
        await page.waitForTimeout(400);
        expect([kind, await findFaultsInThemes(page)]).toEqual([kind, []]);
      }
      expect(complaints).toEqual([]);
    },
  );
});
