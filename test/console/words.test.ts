// Words that come with their screen, in Chromium against the real broker: one language on the page at a time, and none of it missing.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readConsoleFiles } from '../../broker/adapters/storage/console-files.ts';
import {
  type ConsolePage,
  createConsoleBrowsers,
  openConsole,
  sentencesOf,
  whyNoConsole,
} from '../support/http/console-page.ts';
import { allWords } from '../support/http/console-words.ts';
import { startHttpService } from '../support/http/http-service.ts';

const why = whyNoConsole();
const built = new URL('../../dist/broker/console/', import.meta.url).pathname;

describe.skipIf(why !== null)(why === null ? 'words' : `words [${why}]`, () => {
  const browsers = createConsoleBrowsers();
  let service: Awaited<ReturnType<typeof startHttpService>>;
  let base = '';
  let token = '';
  const pages: ConsolePage[] = [];

  const open = async (language: string) => {
    const opened = await openConsole(browsers, { base, session: { token, userID: 'admin' }, language });
    pages.push(opened);
    const files: string[] = [];
    opened.page.on('response', (response) => {
      const name = /\/assets\/([a-z]{2})-[\w-]+\.js$/.exec(response.url());
      if (name !== null) files.push(name[1] ?? '');
    });
    return { ...opened, files };
  };
  const chooseLanguage = async ({ page }: ConsolePage, button: RegExp, name: string): Promise<void> => {
    await page.getByRole('button', { name: button }).click();
    await page.getByRole('menuitemradio', { name }).click();
  };

  beforeAll(async () => {
    service = await startHttpService({ console: why === null ? await readConsoleFiles(built) : null });
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

  it.each(['en', 'de'])('are loaded in %s only, as far as the screens show them', async (language) => {
    const { page, files, open: go } = await open(language);
    await go('/alarms');
    await page.locator('main h1').waitFor();
    await page.getByRole('button', { name: /^admin/ }).waitFor();
    await page.waitForTimeout(500);
    const ofAlarms = files.length;
    await go('/zones');
    await page.locator('section.panel, .empty').first().waitFor();
    expect(new Set(files)).toEqual(new Set([language]));
    expect(files.length).toBeGreaterThan(ofAlarms);
  });

  it('change on an open screen all at once, with those of the screens that were open before', async () => {
    const opened = await open('en');
    const { page, open: go } = opened;
    await go('/zones');
    await page.getByText('No zones yet').waitFor();
    await page.getByRole('link', { name: 'Reports' }).click();
    await page.getByRole('heading', { name: 'Reports' }).waitFor();
    await chooseLanguage(opened, /^Theme/, 'Français');
    await page.locator('html[lang=fr]').waitFor();
    const sentences = sentencesOf(await allWords('en'));
    const english = async (): Promise<readonly string[]> => {
      const shown = await page.locator('body').innerText();
      return sentences.filter((sentence) => shown.includes(sentence) && !sentence.includes('GeoNames'));
    };
    expect(await english()).toEqual([]);
    await page.getByRole('link', { name: 'Zones' }).click();
    await page.locator('section.panel, .empty').first().waitFor();
    expect(await english()).toEqual([]);
    await chooseLanguage(opened, /^Thème/, 'English');
    await page.getByText('No zones yet').waitFor();
  });

  it('that cannot be loaded leave the page as it was, which says so, and tries again when asked', async () => {
    const opened = await open('en');
    const { page, open: go } = opened;
    await go('/zones');
    await page.getByText('No zones yet').waitFor();
    await page.route('**/assets/fr-*.js', (route) => route.abort());
    await chooseLanguage(opened, /^Theme/, 'Français');
    await page.getByRole('alert').filter({ hasText: 'Français could not be loaded' }).waitFor();
    expect(await page.getByText('No zones yet').isVisible()).toBe(true);
    expect(await page.evaluate('document.documentElement.lang')).toBe('en');
    await page.unroute('**/assets/fr-*.js');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('html[lang=fr]').waitFor();
    expect(await page.getByRole('alert').filter({ hasText: 'Français' }).count()).toBe(0);
  });

  it('of a screen that cannot be loaded are said like the screen itself', async () => {
    const { page, open: go } = await open('en');
    await page.route('**/assets/en-*.js', (route) => route.abort());
    await go('/zones');
    await page.getByText('A part of the console could not be loaded').first().waitFor();
    await page.unroute('**/assets/en-*.js');
    await page.reload();
    await page.getByText('No zones yet').waitFor();
  });
});
