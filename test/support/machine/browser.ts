// Debian's Chromium for tests that open a page as a person does. Every request that leaves the page's own file is noted, and refused.
import axe from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';
import { requires } from './requires.ts';

const path = '/usr/bin/chromium';
export const chromiumNeeds = () => requires({ commands: ['chromium'], debian: ['chromium'] });

/** Without the flags it asks its maker for news, which a closed network refuses. */
const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: path, args: flags, timeout: 60_000 });

/** With WebGL by software: Chromium gives none by itself on a machine without a graphics card. */
export const openMapBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: path,
    args: [
      ...flags.filter((flag) => flag !== '--disable-gpu'),
      '--use-angle=swiftshader',
      '--enable-unsafe-swiftshader',
    ],
    timeout: 60_000,
  });

/** What axe finds wrong on a page, as `rule: places`, by all rules of WCAG 2.2 AA and its best practices. */
export async function findFaults(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  const found = await page.evaluate(
    "axe.run(document, { resultTypes: ['violations'] }).then((r) => r.violations.map((v) => v.id + ': ' + v.nodes.map((n) => n.target.join(' ')).slice(0, 5).join(', ')))",
  );
  return found as readonly string[];
}

export interface OpenPage {
  readonly page: Page;
  /** Console messages and errors of the page, and addresses that it asked for besides itself. */
  readonly complaints: readonly string[];
  /** What axe finds wrong, as `rule: places`. */
  findFaults(): Promise<readonly string[]>;
}

/** Opens a file. */
export async function openFile(
  browser: Browser,
  file: string,
  of: { readonly colours: 'light' | 'dark'; readonly hasScript?: boolean; readonly width?: number },
): Promise<OpenPage> {
  const context = await browser.newContext({
    colorScheme: of.colours,
    // Axe is put in from outside; what the page's own policy says is held by the browser in every other test.
    javaScriptEnabled: of.hasScript ?? true,
    viewport: { width: of.width ?? 1180, height: 900 },
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    if (request.url() !== `file://${file}`) complaints.push(`request: ${request.url()}`);
  });
  await page.goto(`file://${file}`, { timeout: 60_000 });
  return {
    page,
    complaints,
    findFaults: () => findFaults(page),
  };
}
