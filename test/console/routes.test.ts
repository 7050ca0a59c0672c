// The routes in Chromium against the real broker: drawn by numbers, by keyboard and on the map, planned for vehicles, changed and deleted. What the
// screen shows is compared with what the service answers.
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

type Row = Readonly<Record<string, unknown>>;

describe.skipIf(why !== null)(why === null ? 'the routes' : `the routes [${why}]`, () => {
  const browsers = createConsoleBrowsers();
  let service: Awaited<ReturnType<typeof startHttpService>>;
  let base = '';
  const tokens = new Map<string, string>();
  const pages: ConsolePage[] = [];

  const open = async (of: Partial<Parameters<typeof openConsole>[1]> = {}, userID = 'admin') => {
    const session = { token: tokens.get(userID) ?? '', userID };
    const opened = await openConsole(browsers, { base, session, ...of });
    pages.push(opened);
    return opened;
  };
  const routes = async (): Promise<readonly Row[]> => {
    const path = '/api/v1/route/getroutes/authorization';
    const answer = await service.call({ path, token: tokens.get('admin') ?? '' });
    return answer.json()['routes'] as readonly Row[];
  };
  const routeOf = async (routeID: string): Promise<Row | undefined> =>
    (await routes()).find((route) => route['routeID'] === routeID);

  beforeAll(async () => {
    service = await startHttpService({ console: why === null ? await readConsoleFiles(built) : null });
    await service.account('demo');
    await service.user('demo', 'vera', 'viewer');
    for (const deviceID of ['van-01', 'van-02', 'van-03']) await service.device('demo', deviceID);
    const timestamp = Math.floor(Date.now() / 1000) - 60;
    for (const [deviceID, latitude] of [
      ['van-01', 43.65],
      ['van-02', 44.5],
    ] as const)
      await service.events('demo', deviceID, {
        boot: 'b1',
        events: [{ seq: 1, timestamp, statusCode: 61472, latitude, longitude: -79.35, speed: 40 }],
      });
    for (const userID of ['admin', 'vera']) tokens.set(userID, await service.login('demo', userID));
    base = `http://127.0.0.1:${await service.http.listen({ host: '127.0.0.1', port: 0 })}`;
  });

  afterEach(async () => {
    for (const { context } of pages.splice(0)) await context.close();
  });

  afterAll(async () => {
    await browsers.close();
    await service?.close();
  });

  it('are drawn by keyboard alone with more points than a zone has, and planned for vehicles', async () => {
    const { page, complaints, open: go } = await open();
    const user = createKeyboardUser(page);
    await go('/live');
    await page.locator('a.vehicle').first().waitFor();
    await user.goTo('Live');
    await user.press('g', 'o');
    await page.getByText('No routes yet').waitFor();
    await user.goTo('New route');
    await user.press('Enter');
    await page.getByRole('heading', { name: 'Draw a route' }).waitFor();
    const save = page.getByRole('button', { name: 'Save the route' });
    await save.press('Enter');
    await expect.poll(user.focused).toBe('Identifier');
    expect(await routes()).toEqual([]);
    for (let at = 0; at < 10; at += 1) {
      await user.goTo('Next point: latitude, longitude');
      await page.keyboard.type(`${(43.6 + at / 100).toFixed(2)}, -79.35`);
      await user.press('Enter');
      await page.getByText(`${at + 1} of 100 points`).waitFor();
    }
    await user.goTo('Name', 'Shift+Tab');
    await page.keyboard.type('Harbour run');
    for (const deviceID of ['van-01', 'van-02', 'van-03']) {
      await user.goTo(deviceID);
      await user.press('Space');
    }
    await user.goTo('Save the route');
    await user.press('Enter');
    await page.getByRole('heading', { name: 'Harbour run' }).waitFor();
    await user.expectFocus();
    expect(await routeOf('harbour-run')).toMatchObject({
      routeRadius: 1000,
      routePoint1: '43.60000,-79.35000',
      routePoint10: '43.69000,-79.35000',
      deviceIDs: ['van-01', 'van-02', 'van-03'],
    });
    // Nine legs of a hundredth of a degree.
    await page.locator('section.panel').getByText('10 km').waitFor();
    for (const [deviceID, keeps] of [
      ['van-01', 'On the route'],
      ['van-02', 'Beside the route'],
      ['van-03', 'No position'],
    ] as const)
      await page.locator('section.panel tr', { hasText: deviceID }).getByText(keeps).waitFor();
    expect(complaints).toEqual([]);
  });

  it('are changed by what differs only, and deleted by name', async () => {
    const { page, open: go } = await open();
    await go('/routes?route=harbour-run');
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Radius (m)').fill('250');
    await page.getByRole('button', { name: 'Remove point 10' }).click();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('10 of 100 points').waitFor();
    const [request] = await Promise.all([
      page.waitForRequest('**/route/routeupdate/authorization'),
      page.getByRole('button', { name: 'Save the route' }).click(),
    ]);
    const sent = request.postDataJSON() as Row;
    expect([sent['deviceIDs'], sent['routeDisplayName'], sent['routeRadius']]).toEqual([
      undefined,
      undefined,
      250,
    ]);
    await page.getByRole('heading', { name: 'Harbour run' }).waitFor();
    // The request was waited for, and not its answer.
    await expect
      .poll(() => routeOf('harbour-run'))
      .toMatchObject({ routeRadius: 250, routePoint10: '43.69000,-79.35000' });
    await page.getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('button', { name: 'Delete Harbour run' }).click();
    await page.getByText('No routes yet').waitFor();
    expect(await routes()).toEqual([]);
  });

  it('are drawn on the map, and another user sees the change at once', async () => {
    const watching = await open();
    await watching.open('/routes');
    await watching.page.getByText('No routes yet').waitFor();
    const { page, complaints, open: go } = await open({ hasMap: true });
    await go('/routes?edit=new&shape=2%3B400&at=43.65,-79.38,12');
    const map = page.locator('.map-host');
    await page.waitForSelector('.map-host[data-is-drawn]', { timeout: 60_000 });
    await page.getByRole('button', { name: 'Add the middle of the map' }).click();
    await page.getByText('1 of 100 points').waitFor();
    const box = await map.boundingBox();
    if (box === null) throw new Error('the map has no place');
    await page.mouse.click(box.x + box.width * 0.3, box.y + box.height * 0.3);
    await page.getByText('2 of 100 points').waitFor();
    await page.getByLabel('Name').fill('by map');
    await page.getByRole('button', { name: 'Save the route' }).click();
    await page.getByRole('heading', { name: 'by map' }).waitFor();
    expect(await routeOf('by-map')).toMatchObject({ routeRadius: 400, routePoint1: '43.65000,-79.38000' });
    await watching.page.locator('a.vehicle', { hasText: 'by map' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('are shown to viewers, who cannot change them', async () => {
    const { page, open: go } = await open({}, 'vera');
    await go('/routes?edit=new&shape=2%3B500');
    await page.getByRole('heading', { name: 'Routes', level: 2 }).waitFor();
    await page.locator('a.vehicle, .empty').first().waitFor();
    const changing = page.getByRole('button', { name: /^(New route|Edit|Delete…|Save the route)$/ });
    expect(await changing.count()).toBe(0);
  });

  it.each(['fr', 'de', 'es', 'ar'])('speak %s', async (language) => {
    const { routeTexts } = await import('../../build/words/route/en.ts');
    const sentences = sentencesOf(routeTexts);
    const { page, open: go } = await open({ language });
    for (const path of ['/routes?route=by-map', '/routes?edit=new&shape=2%3B500']) {
      await go(path);
      await page.locator('section.panel').waitFor();
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
      const { page, complaints, open: go } = await open({ width, language, hasMap: width > 1000 });
      for (const path of [
        '/routes',
        '/routes?route=by-map',
        '/routes?edit=new&shape=2%3B500%3B43.6%2C-79.5%3B43.7%2C-79.4',
      ]) {
        await go(path);
        await page.locator('a.vehicle').first().waitFor();
        await page.waitForTimeout(800);
        expect([path, await findFaultsInThemes(page)]).toEqual([path, []]);
      }
      expect(complaints).toEqual([]);
    },
  );
});
