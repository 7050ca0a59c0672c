// The zones in Chromium against the real broker and the real simulated fleet: drawn by numbers, by keyboard on the map and by pointer. What the
// screen shows is compared with what the service answers.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type ConsolePage,
  createConsoleBrowsers,
  findFaultsInThemes,
  openConsole,
  sentencesOf,
  whyNoConsole,
} from '../support/http/console-page.ts';
import { createKeyboardUser } from '../support/http/keyboard-user.ts';
import { type DemoProgram, startDemoProgram } from '../support/programs/demo-program.ts';

const why = whyNoConsole();

const password = 'nine boats below the bridge';

type Zones = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

describe.skipIf(why !== null)(why === null ? 'the zones' : `the zones [${why}]`, () => {
  let demo: DemoProgram;
  const browsers = createConsoleBrowsers();
  let token = '';
  const pages: ConsolePage[] = [];

  const open = async (of: Partial<Parameters<typeof openConsole>[1]> = {}): Promise<ConsolePage> => {
    const opened = await openConsole(browsers, {
      base: demo.base,
      session: { token, userID: 'admin' },
      ...of,
    });
    pages.push(opened);
    return opened;
  };
  const zones = async (): Promise<Zones> =>
    (await demo.call('geozone/getgeozones/authorization', { token }))['geozones'] as Zones;
  const placeOf = async (deviceID: string): Promise<readonly [latitude: number, longitude: number]> => {
    const device = await demo.call(`device/getdevice/${deviceID}/authorization`, { token });
    return [Number(device['deviceLastValidLatitude']), Number(device['deviceLastValidLongitude'])];
  };
  const create = (body: object) => demo.call('geozone/creategeozone/authorization', { token, body });

  beforeAll(async () => {
    demo = await startDemoProgram(2);
    token = await demo.login('admin', demo.password);
    await demo.call('user/createuser/authorization', {
      token,
      body: { userID: 'vera', roleID: 'viewer', password },
    });
  });

  afterEach(async () => {
    for (const { context } of pages.splice(0)) await context.close();
  });

  afterAll(async () => {
    await browsers.close();
    await demo?.stop();
  });

  it('are drawn by keyboard and numbers: a ninth point and a border that crosses itself are refused, a vehicle is inside, and a deletion asks with the name', async () => {
    const { page, complaints, open: go } = await open();
    const user = createKeyboardUser(page);
    await expect.poll(() => placeOf('van-01'), { timeout: 60_000 }).not.toEqual([0, 0]);
    const [latitude, longitude] = await placeOf('van-01');
    // Larger than the whole town, so that the vehicle stays inside while it drives.
    const at = (north: number, east: number): string =>
      `${(latitude + north).toFixed(5)}, ${(longitude + east).toFixed(5)}`;
    await go('/live');
    await page.locator('a.vehicle').first().waitFor();
    await user.goTo('Zones');
    await user.press('Enter');
    await page.getByRole('heading', { name: 'Zones', level: 2 }).waitFor();
    await user.goTo('New zone');
    await user.press('Enter');
    await page.getByRole('region', { name: 'Draw a zone' }).waitFor();
    const set = async (text: string): Promise<void> => {
      await user.goTo('Next point: latitude, longitude');
      await user.type(text);
      await user.press('Enter');
    };
    const status = page.getByRole('region', { name: 'Draw a zone' }).getByRole('status');
    await set('somewhere');
    await page.getByText('Write latitude and longitude in degrees').waitFor();
    for (let count = 0; count < 9; count += 1) await user.press('Backspace');
    // The corners crosswise.
    for (const [index, text] of [at(-1, -1), at(1, 1), at(1, -1), at(-1, 1)].entries()) {
      await set(text);
      await status.getByText(`${index + 1} of 8 points`).waitFor();
    }
    await page.getByText('The border crosses itself: the sides from point 1 and from point 3').waitFor();
    await user.goTo('Save the zone');
    await user.press('Enter');
    // What is wrong stands at its field, and the first of them has the focus.
    await expect.poll(user.focused).toBe('Identifier');
    await page.getByText('Use 1 to 64 of A-Z, a-z, 0-9, _ and -').waitFor();
    expect(await zones()).not.toHaveProperty('town');
    for (const text of [at(-1.1, 1), at(-1.2, 1), at(-1.3, 1), at(-1.4, 1)]) await set(text);
    await status.getByText('8 of 8 points').waitFor();
    await set(at(-1.5, 1));
    await page.getByRole('alert').getByText('A zone has at most eight points').waitFor();
    for (let left = 7; left >= 1; left -= 1) {
      await user.goTo('Undo');
      await user.press('Enter');
      await status.getByText(`${left} of 8 points`).waitFor();
    }
    await user.goTo('Remove point 1', 'Shift+Tab');
    await user.press('Enter');
    await status.getByText('0 of 8 points').waitFor();
    for (const text of [at(-1, -1), at(-1, 1), at(1, 1), at(1, -1)]) await set(text);
    await status.getByText('4 of 8 points').waitFor();
    await user.goTo('Name');
    await user.type('Whole town');
    const id = page.getByRole('textbox', { name: 'Identifier' });
    await expect.poll(() => id.inputValue()).toBe('whole-town');
    await user.press('Tab', 'Control+a');
    await user.type('town');
    // The draft outlives a reload, for it stands in the address.
    expect(new URL(page.url()).searchParams.get('shape')).toMatch(/^3;500;/);
    await user.press('Enter');
    await page.getByRole('region', { name: 'Selected zone: Whole town' }).waitFor();
    await user.expectFocus();
    expect((await zones())['town']).toMatchObject({
      geozoneDisplayName: 'Whole town',
      geozoneType: 3,
      geozonePoint4: at(1, -1).replace(', ', ','),
      geozonePoint5: '0.00000,0.00000',
      geozoneWarning: '',
    });
    const panel = page.getByRole('region', { name: 'Selected zone: Whole town' });
    await panel.getByRole('link', { name: 'van-01' }).first().waitFor();
    const inside = await demo.call('geozone/getgeozone/device/van-01/authorization', { token });
    expect(Object.keys(inside['geozones'] as Zones)).toContain('town');
    // The vehicles take the zones and say so.
    await expect
      .poll(() => panel.getByRole('row').filter({ hasText: 'Has it' }).count(), { timeout: 60_000 })
      .toBe(2);
    await user.goTo('Delete…');
    await user.press('Enter');
    const dialog = page.getByRole('alertdialog', { name: 'Delete Whole town?' });
    await dialog.waitFor();
    await expect.poll(user.focused).toBe('Cancel');
    await user.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(Object.keys(await zones())).toContain('town');
    await user.goTo('Delete…');
    await user.press('Enter');
    await user.goTo('Delete Whole town');
    await user.press('Enter');
    await panel.waitFor({ state: 'detached' });
    await user.expectFocus();
    expect(Object.keys(await zones())).not.toContain('town');
    expect(complaints).toEqual([]);
  });

  it('are drawn on the map by its middle and by pointer, and a point is dragged to another place', async () => {
    const { page, complaints, open: go } = await open({ hasMap: true, width: 1440 });
    await go('/zones?edit=new&shape=2%3B400&at=43.65,-79.38,12');
    await page.waitForSelector('.map-host[data-is-drawn]', { timeout: 60_000 });
    const status = page.getByRole('region', { name: 'Draw a zone' }).getByRole('status');
    const canvas = page.locator('.map-host canvas');
    await canvas.focus();
    await page.keyboard.press('Enter');
    await status.getByText('1 of 8 points').waitFor();
    const shape = () => new URL(page.url()).searchParams.get('shape') ?? '';
    expect(shape()).toBe('2;400;43.65000,-79.38000');
    const box = await canvas.boundingBox();
    const [x, y] = [(box?.x ?? 0) + (box?.width ?? 0) / 2, (box?.y ?? 0) + (box?.height ?? 0) / 2];
    await page.mouse.click(x + 90, y + 60);
    await status.getByText('2 of 8 points').waitFor();
    const [, , , second = ''] = shape().split(';');
    await page.mouse.move(x + 90, y + 60);
    await page.mouse.down();
    await page.mouse.move(x + 110, y + 20, { steps: 5 });
    await page.mouse.move(x + 120, y, { steps: 5 });
    await page.mouse.up();
    await expect.poll(() => shape().split(';')[3]).not.toBe(second);
    expect(Number(shape().split(';')[3]?.split(',')[0])).toBeCloseTo(43.65, 2);
    await canvas.focus();
    await page.keyboard.press('Backspace');
    await expect.poll(() => shape().split(';')[3]).toBe(second);
    // A theme changes the style of the map, which takes the layers away.
    await page.getByRole('button', { name: 'Theme' }).click();
    await page.getByRole('menuitemradio', { name: 'Night' }).click();
    await page.getByRole('menu').waitFor({ state: 'detached' });
    await page.waitForSelector('.map-host[data-is-drawn]');
    // The menu gives the focus back once it has gone.
    await expect
      .poll(async () => {
        await canvas.focus();
        return page.evaluate("document.activeElement?.matches('canvas')");
      })
      .toBe(true);
    await page.mouse.click(x - 90, y - 60);
    await status.getByText('3 of 8 points').waitFor();
    await page.waitForTimeout(500);
    expect(await status.getByText('3 of 8 points').count()).toBe(1);
    expect(complaints).toEqual([]);
  });

  it('ask again, in words, before vehicles lock or cut by themselves; what was not changed is not sent', async () => {
    await create({
      geozoneID: 'yard',
      geozoneType: 0,
      geozoneRadius: 300,
      geozonePoint1: '43.60000,-79.50000',
    });
    const { page, open: go } = await open();
    await go('/zones?zone=yard');
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('region', { name: 'Change yard' }).waitFor();
    await page.getByRole('button', { name: /Cargo/ }).first().click();
    await page.getByRole('option', { name: 'the cargo is locked' }).click();
    const sent = page.waitForRequest('**/geozone/updategeozone/authorization');
    await page.getByRole('button', { name: 'Save the zone' }).click();
    const dialog = page.getByRole('alertdialog', { name: 'Save yard?' });
    await dialog.getByText('On arrival: the cargo is locked').waitFor();
    expect((await zones())['yard']).toMatchObject({ geozoneArrivalCargoLock: false });
    await dialog.getByRole('button', { name: 'Save yard' }).click();
    await page
      .getByRole('region', { name: 'Selected zone: yard' })
      .getByText('the cargo is locked')
      .waitFor();
    expect((await sent).postDataJSON()).toEqual({ geozoneID: 'yard', geozoneArrivalCargoLock: true });
    expect((await zones())['yard']).toMatchObject({ geozoneArrivalCargoLock: true, geozoneRadius: 300 });
  });

  it.each([
    [390, 844, 'en'],
    [1280, 720, 'de'],
    [1440, 900, 'en'],
  ])(
    'have an editor that scrolls inside its panel at %i x %i in %s, and the screen stays',
    async (width, height, language) => {
      const { page, open: go } = await open({ width, language });
      await page.setViewportSize({ width, height });
      await go('/zones?edit=new&shape=3%3B500');
      await page.locator('section.panel form').waitFor();
      await page.locator('section.panel button[type=submit]').press('Enter');
      await expect
        .poll(() => page.evaluate("document.activeElement?.getAttribute('aria-invalid')"))
        .toBe('true');
      await page.locator('section.panel button.choice').last().focus();
      const scrolled = await page.evaluate(`(() => {
      const content = document.querySelector('.content');
      const panel = document.querySelector('section.panel');
      return {
        content: content.scrollTop + content.scrollHeight - content.clientHeight,
        sideways: panel.scrollWidth - panel.clientWidth,
        isPanel: panel.scrollTop > 0,
      };
    })()`);
      expect(scrolled).toEqual({ content: 0, sideways: 0, isPanel: true });
    },
  );

  it('offer a viewer no change, and say who may', async () => {
    const own = await demo.login('vera', password);
    const { page, open: go } = await open({ session: { token: own, userID: 'vera' } });
    await go('/zones?zone=yard&edit=change&shape=3%3B500');
    await page.getByText('Zones are changed by operators and administrators').waitFor();
    expect(await page.getByRole('button', { name: /^(New zone|Edit|Delete…|Save the zone)$/ }).count()).toBe(
      0,
    );
  });

  it.each(['fr', 'de', 'es', 'ar'])('speak %s', async (language) => {
    const { zoneTexts } = await import('../../build/words/zone/en.ts');
    const sentences = sentencesOf(zoneTexts);
    const { page, open: go } = await open({ language });
    for (const path of ['/zones?zone=yard', '/zones?edit=new&shape=0%3B500']) {
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
        '/zones',
        '/zones?zone=yard',
        '/zones?edit=new&shape=3%3B500%3B43.6%2C-79.5%3B43.7%2C-79.4%3B43.6%2C-79.4%3B43.7%2C-79.5',
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
