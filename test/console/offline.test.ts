// The console without network, in Chromium against the real broker: the last picture with its age and no command, whose picture it is, when it goes,
// and that a broker with another build leaves no tab in the old one.
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { readConsoleFiles } from '../../broker/adapters/storage/console-files.ts';
import type { ConsoleFiles } from '../../broker/ports/console-files.ts';
import {
  type ConsolePage,
  createConsoleBrowsers,
  findFaultsInThemes,
  sentencesOf,
  whyNoConsole,
} from '../support/http/console-page.ts';
import { allWords } from '../support/http/console-words.ts';
import { startHttpService } from '../support/http/http-service.ts';
import { createKeyboardUser } from '../support/http/keyboard-user.ts';
import { memberPassword } from '../support/http/user-pages.ts';
import { freePort } from '../support/machine/free-port.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { type DemoProgram, startDemoProgram } from '../support/programs/demo-program.ts';

const why = whyNoConsole();
const root = new URL('../../', import.meta.url).pathname;

const isOfNetwork = (complaint: string): boolean => /net::ERR|status of (401|503)/.test(complaint);

/** Names of what this browser has kept of the fleet; null without a picture. */
const pictureScript = `new Promise((done) => {
  const asked = indexedDB.open('fleetward-picture');
  asked.onupgradeneeded = () => asked.transaction.abort();
  asked.onerror = () => done(null);
  asked.onsuccess = () => {
    const read = asked.result.transaction('pictures').objectStore('pictures').get('last');
    read.onsuccess = () => { asked.result.close(); done(read.result ?? null); };
  };
})`;

/** Changes what is kept. @param change of the picture, as code. */
const changeScript = (change: string): string => `new Promise((done) => {
  const asked = indexedDB.open('fleetward-picture');
  asked.onsuccess = () => {
    const table = asked.result.transaction('pictures', 'readwrite').objectStore('pictures');
    const read = table.get('last');
    read.onsuccess = () => {
      const picture = read.result;
      ${change}
      table.put(picture, 'last').onsuccess = () => { asked.result.close(); done(true); };
    };
  };
})`;

interface KeptPicture {
  readonly userID: string;
  readonly atMs: number;
  readonly vehicles: readonly { readonly name: string }[];
}

async function signIn(page: Page, userID: string, secret: string): Promise<void> {
  await page.getByLabel('Account').fill('demo');
  await page.getByLabel('User').fill(userID);
  await page.getByLabel('Password', { exact: true }).fill(secret);
  await page.keyboard.press('Enter');
  await page.locator('.pulse[data-state=live]').waitFor();
}

async function signOut(page: Page, userID: string): Promise<void> {
  await page.getByRole('button', { name: `${userID}, menu` }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
}

const workerIsReady = (page: Page): Promise<unknown> =>
  page.evaluate('navigator.serviceWorker.ready.then(() => true)');

describe.skipIf(why !== null)(why === null ? 'the console offline' : `the console offline [${why}]`, () => {
  let demo: DemoProgram;
  const browsers = createConsoleBrowsers();
  const opened: ConsolePage['context'][] = [];

  /** A device that has never been here. */
  const openDevice = async (
    of: { base?: string; width?: number; hasMap?: boolean; language?: string } = {},
  ) => {
    const { base = demo.base, width = 1180, hasMap = false, language = 'en' } = of;
    const browser = await browsers.of(hasMap);
    const context = await browser.newContext({ viewport: { width, height: 900 }, locale: 'en-GB' });
    opened.push(context);
    await context.addInitScript(`localStorage.setItem('fleetward.language', '${language}')`);
    const complaints: string[] = [];
    const openTab = async (path: string): Promise<Page> => {
      const page = await context.newPage();
      page.setDefaultTimeout(60_000);
      page.on('console', (message) => {
        if (hasMap || !message.text().includes('WebGL')) complaints.push(message.text());
      });
      page.on('pageerror', (error) => complaints.push(error.message));
      await page.goto(`${base}/console${path}`);
      return page;
    };
    return { context, complaints, openTab };
  };
  const kept = (page: Page) => page.evaluate<KeptPicture | null>(pictureScript);

  /** Chooses to keep the picture, as a person does. */
  const keepPicture = async (page: Page): Promise<void> => {
    await page.getByRole('button', { name: /, menu$/ }).click();
    await page.getByRole('menuitem', { name: 'Account and preferences' }).click();
    await page.getByRole('button', { name: /Keep the last picture/ }).click();
    await page.getByRole('option', { name: 'On', exact: true }).click();
    await expect.poll(() => kept(page), { timeout: 60_000 }).not.toBeNull();
    await workerIsReady(page);
  };

  beforeAll(async () => {
    demo = await startDemoProgram(3);
    const token = await demo.login('admin', demo.password);
    for (const [userID, roleID] of [
      ['olga', 'operator'],
      ['vera', 'viewer'],
    ] as const)
      await demo.call('user/createuser/authorization', {
        token,
        body: { userID, roleID, groups: ['all'], password: memberPassword },
      });
  }, 120_000);

  afterEach(async () => {
    for (const context of opened.splice(0)) await context.close();
  });

  afterAll(async () => {
    await browsers.close();
    await demo?.stop();
  });

  it('can be installed: a manifest with icons, and a worker that is asked for anew each time', async () => {
    const { openTab } = await openDevice();
    const page = await openTab('/login');
    const link = await page.locator('link[rel=manifest]').getAttribute('href');
    const answer = await fetch(`${demo.base}${link ?? ''}`);
    expect(answer.headers.get('content-type')).toContain('application/manifest+json');
    const manifest = (await answer.json()) as {
      readonly name: string;
      readonly display: string;
      readonly start_url: string;
      readonly scope: string;
      readonly icons: readonly { readonly src: string; readonly sizes: string; readonly type: string }[];
    };
    expect(manifest).toMatchObject({
      name: 'Fleetward',
      display: 'standalone',
      start_url: '/console/',
      scope: '/console/',
    });
    for (const { src, sizes, type } of manifest.icons) {
      const icon = await fetch(`${demo.base}${src}`);
      expect([src, icon.headers.get('content-type')?.split(';')[0]]).toEqual([src, type]);
      if (type !== 'image/png') continue;
      const size = await page.evaluate(
        `fetch('${src}').then((one) => one.blob()).then((one) => createImageBitmap(one)).then((one) => one.width + 'x' + one.height)`,
      );
      expect(size).toBe(sizes);
    }
    const devtools = await page.context().newCDPSession(page);
    const { installabilityErrors } = await devtools.send('Page.getInstallabilityErrors');
    // A window without a person's profile installs nothing; that is all that is in the way.
    expect(installabilityErrors.map(({ errorId }) => errorId).filter((id) => id !== 'in-incognito')).toEqual(
      [],
    );
    const worker = await fetch(`${demo.base}/console/service-worker.mjs`);
    expect(worker.headers.get('cache-control')).toBe('no-cache');
    expect(worker.headers.get('content-type')).toContain('text/javascript');
    const policy = worker.headers.get('content-security-policy') ?? '';
    for (const part of [
      "worker-src 'self'",
      "manifest-src 'self'",
      "script-src 'self'",
      "default-src 'none'",
    ])
      expect(policy).toContain(part);
  });

  it('opens with the last picture, its age in large letters and no command, and goes on by itself when the service is back', async () => {
    const { openTab, complaints, context } = await openDevice({ hasMap: true });
    const first = await openTab('/login');
    await signIn(first, 'admin', demo.password);
    await keepPicture(first);
    const picture = await kept(first);
    expect(picture?.vehicles.map(({ name }) => name).toSorted()).toEqual(['van-01', 'van-02', 'van-03']);
    let isBack = false;
    await demo.kill();
    onTestFinished(async () => {
      // The other tests need it, whatever happens here.
      if (!isBack) demo = await startDemoProgram(3, demo);
    });
    await first.close();

    // A new start: no session is in this tab.
    const page = await openTab('/');
    await page.getByRole('heading', { level: 1, name: /^Offline, as of \d\d:\d\d:\d\d$/ }).waitFor();
    await page
      .locator('.offline-age')
      .filter({ hasText: /^\d+ (s|min \d\d s) ago$/ })
      .waitFor();
    await page.locator('.offline-row').filter({ hasText: 'van-02' }).waitFor();
    await page.waitForSelector('.map-host[data-is-drawn]');
    const names = await page
      .getByRole('button')
      .evaluateAll((all) => all.map((one) => one.getAttribute('aria-label') ?? one.textContent));
    expect(new Set(names)).toEqual(
      new Set(['Remove the picture from this device', 'Show all vehicles', 'Try now', 'Zoom in', 'Zoom out']),
    );
    expect(await page.getByRole('link').count()).toBe(0);
    const text = await page.locator('body').innerText();
    expect(text).not.toMatch(/Live|Cut engine|Restore engine|Take/);
    expect(text).toContain('Nothing can be asked of a vehicle from here');
    expect(await findFaultsInThemes(page)).toEqual([]);
    // An address of a screen opens the same, and so does the old tab's.
    const other = await openTab('/vehicle/van-01?cut=ask');
    await other.locator('.offline-warning').waitFor();
    expect(await other.getByText(/Cut engine|Restore engine/).count()).toBe(0);
    await other.close();
    expect(await context.cookies()).toEqual([]);

    isBack = true;
    demo = await startDemoProgram(3, demo);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await page.locator('.offline').count()).toBe(0);
    expect(complaints.filter((one) => !isOfNetwork(one))).toEqual([]);
  });

  it('grows older before the eyes, says when the clock was set back, and is removed after a day', async () => {
    const { openTab, context } = await openDevice();
    const page = await openTab('/login');
    await signIn(page, 'vera', memberPassword);
    await keepPicture(page);
    await page.close();
    await context.setOffline(true);
    const away = await openTab('/');
    const age = away.locator('.offline-age');
    const before = await age.innerText();
    await expect.poll(() => age.innerText(), { timeout: 60_000 }).not.toBe(before);
    await away.evaluate(changeScript('picture.atMs -= 35 * 60000;'));
    await away.reload();
    await age.filter({ hasText: /^35 min \d\d s ago$/ }).waitFor();
    await away.evaluate(changeScript('picture.atMs += 5 * 3600000;'));
    await away.reload();
    await age.filter({ hasText: 'Age unknown: the clock of this device was set back' }).waitFor();
    await away.evaluate(changeScript('picture.atMs -= 30 * 3600000;'));
    await away.reload();
    await away.getByText('No picture of the fleet may be shown').waitFor();
    expect(await kept(away)).toBeNull();
  });

  it('keeps nothing unless the user has chosen so on this device', async () => {
    const { openTab, context } = await openDevice();
    const page = await openTab('/login');
    await signIn(page, 'vera', memberPassword);
    await page.locator('a.vehicle').first().waitFor();
    await workerIsReady(page);
    await context.setOffline(true);
    await page.reload();
    await page.getByText('No picture of the fleet may be shown').waitFor();
    expect(await page.locator('body').innerText()).not.toContain('van-');
    expect(await kept(page)).toBeNull();
  });

  it('removes the picture at a sign-out, also without network, and by its own button', async () => {
    const { openTab, context } = await openDevice();
    const page = await openTab('/login');
    await signIn(page, 'vera', memberPassword);
    await keepPicture(page);
    await signOut(page, 'vera');
    expect(await kept(page)).toBeNull();
    // The choice stays for this user.
    await signIn(page, 'vera', memberPassword);
    await expect.poll(() => kept(page), { timeout: 60_000 }).not.toBeNull();
    await context.setOffline(true);
    await signOut(page, 'vera');
    expect(await kept(page)).toBeNull();
    const empty = await openTab('/');
    await empty.getByText('No picture of the fleet may be shown').waitFor();

    await context.setOffline(false);
    const again = await openTab('/login');
    await signIn(again, 'vera', memberPassword);
    await expect.poll(() => kept(again), { timeout: 60_000 }).not.toBeNull();
    await again.close();
    await context.setOffline(true);
    const away = await openTab('/');
    const user = createKeyboardUser(away);
    await away.locator('.offline-row').first().waitFor();
    await user.goTo('Remove the picture from this device');
    await user.press('Enter');
    await away.getByText('No picture of the fleet may be shown').waitFor();
    expect(await kept(away)).toBeNull();
  });

  it('shows nothing of one user to another, and removes it when another signs in', async () => {
    const { openTab, context } = await openDevice();
    const first = await openTab('/login');
    await signIn(first, 'vera', memberPassword);
    await keepPicture(first);
    // She has not signed out; her tab is still open.
    const second = await openTab('/login');
    await signIn(second, 'olga', memberPassword);
    await expect.poll(() => kept(second), { timeout: 60_000 }).toBeNull();
    await first.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
    await first.waitForTimeout(1000);
    expect(await kept(second)).toBeNull();
    await context.setOffline(true);
    for (const page of [await openTab('/'), second]) {
      await page.reload();
      await page.getByText('No picture of the fleet may be shown').waitFor();
      expect(await page.locator('body').innerText()).not.toMatch(/van-|vera/);
    }
    // A picture that were left would not be shown to another either.
    await context.setOffline(false);
    await second.reload();
    await keepPicture(second);
    await second.evaluate(changeScript(`picture.userID = 'vera';`));
    await context.setOffline(true);
    await second.reload();
    await second.getByText('No picture of the fleet may be shown').waitFor();
  });

  it('removes the picture when the session is ended at the service', async () => {
    const { openTab } = await openDevice();
    const page = await openTab('/login');
    await signIn(page, 'olga', memberPassword);
    await keepPicture(page);
    const token = await demo.login('olga', memberPassword);
    const ended = await demo.call('auth/revoketokens/authorization', { token, body: {} });
    expect(ended['error']).toBeUndefined();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await kept(page)).toBeNull();
  });

  it('keeps files of the build only: no answer of the service, no token, no page of the console', async () => {
    const { openTab } = await openDevice();
    const page = await openTab('/login');
    await signIn(page, 'olga', memberPassword);
    await keepPicture(page);
    await page.reload();
    await page.locator('.pulse[data-state=live]').waitFor();
    const found = await page.evaluate<
      [string, string | null][]
    >(`caches.keys().then((names) => Promise.all(names.map(async (name) =>
      (await (await caches.open(name)).keys()).map(({ url, headers }) => [new URL(url).pathname, headers.get('authorization')])))).then((all) => all.flat())`);
    expect(found.length).toBeGreaterThan(20);
    expect(
      found.filter(
        ([path, token]) => token !== null || !/^\/console\/(assets\/|(offline|wallboard)\.html$)/.test(path),
      ),
    ).toEqual([]);
    const picture = JSON.stringify(await kept(page));
    expect(picture).not.toContain('%7C');
    expect(Object.keys((JSON.parse(picture) as KeptPicture).vehicles[0] ?? {}).toSorted()).toEqual(
      [
        'alarm',
        'cutoff',
        'fixS',
        'heading',
        'heartbeatS',
        'id',
        'isDoubtful',
        'isOnline',
        'name',
        'place',
        'speed',
      ].toSorted(),
    );
  });

  it('leaves the login page and the pages of share links to the network', async () => {
    const { openTab, context } = await openDevice();
    const page = await openTab('/login');
    await signIn(page, 'olga', memberPassword);
    await keepPicture(page);
    await context.setOffline(true);
    for (const path of ['/login', '/share']) {
      const tab = await context.newPage();
      await expect(tab.goto(`${demo.base}/console${path}`)).rejects.toThrow(/ERR_INTERNET_DISCONNECTED/);
      await tab.close();
    }
  });

  it.each(['en', 'de', 'fr', 'es', 'ar'])(
    'has no fault of accessibility and no foreign sentence in %s at 320 px',
    async (language) => {
      const { openTab, context } = await openDevice({ language, width: 320 });
      const words = (await allWords(language as 'en')) as unknown as {
        readonly login: Readonly<Record<string, string>>;
      };
      const page = await openTab('/login');
      await page.getByLabel(words.login['account'] ?? '').fill('demo');
      await page.getByLabel(words.login['user'] ?? '').fill('vera');
      await page.getByLabel(words.login['password'] ?? '', { exact: true }).fill(memberPassword);
      await page.keyboard.press('Enter');
      await page.locator('.pulse[data-state=live]').waitFor({ state: 'attached' });
      await page.evaluate(`localStorage.setItem('fleetward.device-owner', 'demo vera on')`);
      await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
      await expect.poll(() => kept(page), { timeout: 60_000 }).not.toBeNull();
      await workerIsReady(page);
      await context.setOffline(true);
      await page.reload();
      await page.locator('.offline-row').first().waitFor();
      expect(await page.evaluate('document.documentElement.dir')).toBe(language === 'ar' ? 'rtl' : 'ltr');
      expect(await findFaultsInThemes(page)).toEqual([]);
      if (language === 'en') return;
      const text = await page.locator('body').innerText();
      const english = sentencesOf(await allWords('en')).filter((one) => !one.includes('GeoNames'));
      expect(english.filter((one) => text.includes(one))).toEqual([]);
    },
  );
});

describe.skipIf(why !== null)(why === null ? 'another build' : `another build [${why}]`, () => {
  const browsers = createConsoleBrowsers();
  let builds: readonly ConsoleFiles[] = [];
  let port = 0;
  const databasePath = join(temporaryFolder('console-builds'), 'fleet.db');

  const start = async (at: number) => {
    const service = await startHttpService({ console: builds[at] ?? null, databasePath });
    await service.http.listen({ host: '127.0.0.1', port });
    return service;
  };
  const filesOf = (at: number): ReadonlySet<string> =>
    new Set([...(builds[at]?.keys() ?? [])].filter((path) => path.startsWith('assets/')));

  beforeAll(async () => {
    port = await freePort();
    const folder = temporaryFolder('console-other-build');
    const { build } = await import('vite');
    await build({
      configFile: join(root, 'broker/console/vite.config.ts'),
      logLevel: 'error',
      build: { outDir: folder, emptyOutDir: true },
      plugins: [
        {
          name: 'another-build',
          enforce: 'pre',
          transform: {
            filter: { id: /words\/(offline|wallboard)\/en\.ts$/ },
            handler: (code: string) =>
              code
                .replace(/title: (['"])Offline\1/, 'title: "Away"')
                .replace(/title: (['"])Wallboard\1/, 'title: "Board"'),
          },
        },
      ],
    });
    const { writeWorker } = (await import(join(root, 'broker/console/worker/write-worker.mjs'))) as {
      writeWorker(folder: string): void;
    };
    writeWorker(folder);
    const [one, other] = [
      await readConsoleFiles(join(root, 'dist/broker/console')),
      await readConsoleFiles(folder),
    ];
    if (one === null || other === null) throw new Error('A build is missing');
    builds = [one, other];
  }, 300_000);

  afterAll(async () => {
    await browsers.close();
  });

  it('replaces the worker and its files, mixes no files, and leaves no tab in the old one', async () => {
    let service = await start(0);
    try {
      await service.account('demo');
      const token = await service.login('demo', 'admin');
      const browser = await browsers.of(false);
      const context = await browser.newContext({ viewport: { width: 1180, height: 900 }, locale: 'en-GB' });
      const session = JSON.stringify({ token, accountID: 'demo', userID: 'admin', logoutURL: '' });
      await context.addInitScript(`sessionStorage.setItem('fleetward.session', ${JSON.stringify(session)})`);
      const page = await context.newPage();
      page.setDefaultTimeout(60_000);
      const loaded: string[] = [];
      page.on('response', (answer) => {
        const [, path] = /\/console\/(assets\/[^?#]+)/.exec(answer.url()) ?? [];
        if (path !== undefined) loaded.push(path);
      });
      const base = `http://127.0.0.1:${port}/console`;
      await page.goto(`${base}/alarms`);
      await page.locator('.pulse[data-state=live]').waitFor();
      await workerIsReady(page);
      const names = () => page.evaluate<readonly string[]>(`caches.keys()`);
      const [before] = await names();
      expect(filesOf(1)).not.toEqual(filesOf(0));

      await service.close();
      service = await start(1);
      // The tab that is open says it, on every screen.
      await page.getByText('There is a new version of the console').waitFor();
      loaded.length = 0;
      await page.getByRole('button', { name: 'Load the page again' }).click();
      await page.locator('.pulse[data-state=live]').waitFor();
      expect(await page.getByText('There is a new version of the console').count()).toBe(0);
      expect(loaded.filter((path) => !filesOf(1).has(path))).toEqual([]);
      expect(loaded.some((path) => !filesOf(0).has(path))).toBe(true);
      // The worker and what it keeps follow by themselves.
      await expect
        .poll(async () => (await names()).filter((name) => name !== before), { timeout: 60_000 })
        .toHaveLength(1);
      await expect.poll(async () => (await names()).includes(before ?? ''), { timeout: 60_000 }).toBe(false);
      const keptPaths = await page.evaluate<readonly string[]>(
        `caches.keys().then(([name]) => caches.open(name)).then((one) => one.keys()).then((all) => all.map(({ url }) => new URL(url).pathname.slice('/console/'.length)))`,
      );
      expect(keptPaths.filter((path) => builds[1]?.has(path) !== true)).toEqual([]);
      loaded.length = 0;
      await context.setOffline(true);
      await page.reload();
      await page.getByRole('heading', { level: 1, name: 'Away' }).waitFor();
      expect(loaded.filter((path) => !filesOf(1).has(path))).toEqual([]);
      await context.close();
    } finally {
      await service.close();
    }
  });

  it('is loaded by a wallboard on its own', async () => {
    let service = await start(0);
    try {
      const token = await service.login('demo', 'admin');
      const answer = await fetch(`http://127.0.0.1:${port}/api/v1/auth/token/authorization`, {
        method: 'POST',
        headers: { authorization: token, 'content-type': 'application/json' },
        body: JSON.stringify({ description: 'television' }),
      });
      const { token: reading } = (await answer.json()) as { readonly token: string };
      const browser = await browsers.of(false);
      const context = await browser.newContext({ viewport: { width: 1920, height: 1080 }, locale: 'en-GB' });
      const page = await context.newPage();
      page.setDefaultTimeout(60_000);
      await page.goto(`http://127.0.0.1:${port}/console/wallboard#${reading}`);
      await page.locator('.board[data-link=live]').waitFor();
      expect(await page.title()).toContain('Wallboard');
      await service.close();
      service = await start(1);
      await expect.poll(() => page.title(), { timeout: 60_000 }).toContain('Board ·');
      await page.locator('.board[data-link=live]').waitFor();
      await context.close();
    } finally {
      await service.close();
    }
  });
});
