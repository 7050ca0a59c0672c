// Pages of the console for the users of a demo, each with a keyboard, and walks over several screens.
import { type DemoProgram } from '../programs/demo-program.ts';
import {
  type ConsolePage,
  createConsoleBrowsers,
  findFaultsInThemes,
  openConsole,
  sentencesOf,
} from './console-page.ts';
import { allWords } from './console-words.ts';
import { createKeyboardUser, type KeyboardUser } from './keyboard-user.ts';

/** Password of every user but the administrator of the demo. */
export const memberPassword = 'nine boats below the bridge';

export type UserPage = ConsolePage & { readonly user: KeyboardUser };

export interface UserPages {
  /** Signs in and opens a page; nothing is shown until it is led somewhere. */
  openAs(userID: string, of?: Partial<Parameters<typeof openConsole>[1]>): Promise<UserPage>;
  /** Closes the pages of one test. */
  closePages(): Promise<void>;
  /** Ends the browsers. */
  close(): Promise<void>;
}

/** @param demo whose console is opened; asked for when a page is. */
export function createUserPages(demo: () => DemoProgram): UserPages {
  const browsers = createConsoleBrowsers();
  const pages: ConsolePage[] = [];
  return {
    async openAs(userID, of = {}) {
      const { base, login, password } = demo();
      const token = await login(userID, userID === 'admin' ? password : memberPassword);
      const opened = await openConsole(browsers, { base, session: { token, userID }, ...of });
      pages.push(opened);
      return { ...opened, user: createKeyboardUser(opened.page) };
    },
    async closePages() {
      for (const { context } of pages.splice(0)) await context.close();
    },
    close: () => browsers.close(),
  };
}

/** From the live map to a screen by the keys of the shell, `g` and a letter. @param heading of the screen. */
export async function reachByKey(
  { page, user, open }: UserPage,
  to: { readonly key: string; readonly heading: string },
): Promise<void> {
  await open('/live');
  await page.locator('a.vehicle').first().waitFor();
  await user.goTo('Live');
  await user.press('g', to.key);
  await page.getByRole('heading', { name: to.heading, level: 1 }).waitFor();
}

/** Time for what a screen reads after its heading is there. */
const settleMs = 600;

interface Walk {
  readonly paths: readonly string[];
  /** What is there once a screen is; `main h1` unless given. */
  readonly ready?: string;
}

async function walk<T>(
  { page, open }: ConsolePage,
  { paths, ready = 'main h1' }: Walk,
  look: () => Promise<readonly T[]>,
) {
  const found: (readonly [path: string, all: readonly T[]])[] = [];
  for (const path of paths) {
    await open(path);
    await page.locator(ready).first().waitFor({ state: 'attached' });
    await page.waitForTimeout(settleMs);
    const all = await look();
    if (all.length > 0) found.push([path, all]);
  }
  return found;
}

/** Paths whose screen has faults of accessibility in a theme, or sticks out to the side, with these faults. */
export const findFaultsOn = (opened: ConsolePage, of: Walk) =>
  walk(opened, of, () => findFaultsInThemes(opened.page));

/** Paths whose screen shows sentences of the English catalogue, with these. @param of.names what people have named in English. */
export async function findEnglishOn(opened: ConsolePage, of: Walk & { readonly names?: readonly string[] }) {
  const sentences = sentencesOf(await allWords('en'));
  return walk(opened, of, async () => {
    const body = await opened.page.locator('body').innerText();
    const shown = (of.names ?? []).reduce((text, name) => text.replace(name, ''), body);
    return sentences.filter((sentence) => shown.includes(sentence));
  });
}
