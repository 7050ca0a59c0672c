// A page of the console in Chromium, watched: whatever it says in its log and whatever it asks of another host is a complaint.
import { existsSync } from 'node:fs';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { chromiumNeeds, findFaults, openBrowser, openMapBrowser } from '../machine/browser.ts';

/** Null when Chromium and the built console are there; else a text for the name of the skipped test. */
export function whyNoConsole(): string | null {
  const isBuilt = existsSync(new URL('../../../dist/broker/console/index.html', import.meta.url));
  return chromiumNeeds().missing ?? (isBuilt ? null : 'skipped, dist is missing: npm run build');
}

/** Texts of a catalogue, or of a part of it, that are known by their language: those of three words or more. */
export function sentencesOf(texts: unknown): readonly string[] {
  if (typeof texts === 'string') return texts.split(' ').length >= 3 ? [texts] : [];
  return typeof texts === 'object' && texts !== null ? Object.values(texts).flatMap(sentencesOf) : [];
}

export interface ConsolePage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Messages of the page's log, faults of its script, requests to other hosts. */
  readonly complaints: readonly string[];
  open(path: string): Promise<void>;
}

interface ConsolePageOptions {
  readonly base: string;
  readonly theme?: 'light' | 'dark' | 'night';
  readonly language?: string;
  readonly width?: number;
  /** Draws the map; without it WebGL is missing, and the page says so. Drawing without a graphics card costs most of a core. */
  readonly hasMap?: boolean;
  /** A session that is there from the start. */
  readonly session?: { readonly token: string; readonly userID: string };
}

/** Both browsers, each started when a page wants it first. */
export interface ConsoleBrowsers {
  of(hasMap: boolean): Promise<Browser>;
  close(): Promise<void>;
}

export function createConsoleBrowsers(): ConsoleBrowsers {
  const opened = new Map<boolean, Promise<Browser>>();
  return {
    of(hasMap) {
      const browser = opened.get(hasMap) ?? (hasMap ? openMapBrowser() : openBrowser());
      opened.set(hasMap, browser);
      return browser;
    },
    async close() {
      for (const browser of opened.values()) await (await browser).close();
    },
  };
}

export async function openConsole(
  browsers: ConsoleBrowsers,
  options: ConsolePageOptions,
): Promise<ConsolePage> {
  const { base, theme = 'light', language = 'en', width = 1180, hasMap = false, session } = options;
  const browser = await browsers.of(hasMap);
  const context = await browser.newContext({ viewport: { width, height: 900 }, locale: 'en-IE' });
  const kept = session === undefined ? null : JSON.stringify({ ...session, accountID: 'demo' });
  await context.addInitScript(`
    localStorage.setItem('fleetward.theme', ${JSON.stringify(theme)});
    localStorage.setItem('fleetward.language', ${JSON.stringify(language)});
    ${kept === null ? '' : `sessionStorage.setItem('fleetward.session', ${JSON.stringify(kept)});`}
  `);
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  // From the start on: a page that is busy takes a key before the message that has its file choosers intercepted, and then none is seen.
  page.on('filechooser', () => undefined);
  const complaints: string[] = [];
  page.on('console', (message) => {
    const text = `${message.type()}: ${message.text()} ${message.location().url}`;
    if (hasMap || !text.includes('WebGL')) complaints.push(text);
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(`${base}/`) && !/^(data|blob):/.test(url)) complaints.push(`request: ${url}`);
  });
  return {
    page,
    context,
    complaints,
    open: async (path) => void (await page.goto(`${base}/console${path}`)),
  };
}

/**
 * Watches by a timer of the page when something is shown there.
 * @param look an expression of the page, true once it is shown.
 * @returns how long it took from a moment (epoch ms) on, without the time that the machine kept from the page, ms.
 */
export async function watchPage(page: Page, look: string): Promise<(fromMs: number) => Promise<number>> {
  await page.evaluate(`
    globalThis.watched = { shownMs: 0, turns: [Date.now()] };
    const timer = setInterval(() => {
      watched.turns.push(Date.now());
      if (!(${look})) return;
      watched.shownMs = Date.now();
      clearInterval(timer);
    }, 50);
  `);
  return async (fromMs) => {
    await page.waitForFunction('watched.shownMs > 0');
    const { shownMs, turns } = await page.evaluate<{ shownMs: number; turns: readonly number[] }>('watched');
    const keptMs = turns
      .map((turn, at) => turn - Math.max(turns[at - 1] ?? turn, fromMs) - 100)
      .filter((late) => late > 0)
      .reduce((sum, late) => sum + late, 0);
    return shownMs - fromMs - keptMs;
  };
}

/** What axe finds wrong in each theme, and what sticks out to the side; nothing is right. */
export async function findFaultsInThemes(page: Page): Promise<readonly string[]> {
  const all: string[] = [];
  // Colours change at once then.
  await page.emulateMedia({ reducedMotion: 'reduce' });
  for (const theme of ['light', 'dark', 'night']) {
    await page.evaluate(`document.documentElement.dataset.theme = '${theme}'`);
    for (const fault of await findFaults(page)) all.push(`${theme}: ${fault}`);
  }
  const beside = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'));
  return beside === 0 ? all : [...all, `${beside} px to the side`];
}
