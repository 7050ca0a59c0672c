// A person without a pointer on a page of the console: presses keys only, and after each of them the focus must be somewhere and in sight.
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

export interface KeyboardUser {
  /** Presses keys, one after the other. */
  press(...keys: readonly string[]): Promise<void>;
  type(text: string): Promise<void>;
  /**
   * Presses Tab until the element of that name has the focus.
   * @param key another key than Tab, for the way back or in a list.
   */
  goTo(name: string | RegExp, key?: string): Promise<void>;
  /** Name of what has the focus. */
  focused(): Promise<string>;
  /** Waits until the focus is somewhere and in sight. */
  expectFocus(): Promise<void>;
}

/** Further than the longest way over one page, some times over. */
const keysMost = 400;
/** Turns over a page on which something is still awaited, and the pause between two of them. */
const turnsMost = 20;
const turnMs = 500;

/** Finds what the focus is on, as a person sees it: the item of a list whose input has it, the label of a hidden input. */
const scripts = `
  const textOf = (id) => document.getElementById(id)?.textContent ?? '';
  const nameOf = (one) =>
    one.getAttribute('aria-label') ||
    (one.getAttribute('aria-labelledby') ?? '').split(' ').map(textOf).join(' ').trim() ||
    (one.labels?.[0]?.textContent ?? one.textContent ?? '');
  const active = document.activeElement;
  const isNowhere = active === null || active === document.body;
`;

/** A text that says what is wrong; null: nothing. */
const faultScript = `(() => {
  ${scripts}
  if (isNowhere) return 'the focus is nowhere';
  const html = active.outerHTML.slice(0, 200);
  const label = active.matches('input') ? active.closest('label.radio, label.switch') : null;
  const isInput = label !== null;
  const shown = label ?? active;
  const parts = [shown, shown.parentElement, shown.closest('.find'), ...(isInput ? shown.querySelectorAll('*') : [])];
  const isOutlined = parts.some((one) => {
    if (one === null) return false;
    const { outlineStyle, outlineWidth } = getComputedStyle(one);
    return outlineStyle !== 'none' && outlineWidth !== '0px';
  });
  if (!isOutlined) return 'the focus is not visible: ' + html;
  const box = shown.getClientRects()[0] ?? shown.getBoundingClientRect();
  const [left, right] = [Math.max(0, box.left), Math.min(innerWidth, box.right)];
  const [top, bottom] = [Math.max(0, box.top), Math.min(innerHeight, box.bottom)];
  if (right - left < 2 || bottom - top < 2) return 'the focus is out of sight: ' + html;
  // A mark in the middle of a map covers no map: something of it must be free.
  const shares = [[0.5, 0.5], [0.25, 0.25], [0.75, 0.25], [0.25, 0.75], [0.75, 0.75]];
  const hits = shares.map(([x, y]) => document.elementFromPoint(left + (right - left) * x, top + (bottom - top) * y));
  const isFree = hits.some((hit) => hit !== null && shown.contains(hit));
  return isFree ? null : 'the focus is covered by ' + hits[0]?.outerHTML.slice(0, 100) + ': ' + html;
})()`;

const nameScript = `(() => { ${scripts} return isNowhere ? '' : nameOf(active).trim().replace(/\\s+/g, ' '); })()`;

export function createKeyboardUser(page: Page): KeyboardUser {
  const focused = async (): Promise<string> => String(await page.evaluate(nameScript));
  const expectFocus = async (): Promise<void> => {
    if ((await page.evaluate(faultScript).catch(() => '')) !== null)
      await expect.poll(() => page.evaluate(faultScript), { timeout: 60_000, interval: 50 }).toBeNull();
  };
  const press = async (...keys: readonly string[]): Promise<void> => {
    for (const key of keys) {
      await page.keyboard.press(key);
      await expectFocus();
    }
  };
  return {
    focused,
    expectFocus,
    press,
    async type(text) {
      await page.keyboard.type(text);
      await expectFocus();
    },
    async goTo(name, key = 'Tab') {
      const isThere = (text: string): boolean => (typeof name === 'string' ? text === name : name.test(text));
      const seen: string[] = [];
      let turns = 0;
      for (let pressed = 0; pressed < keysMost; pressed += 1) {
        const text = await focused();
        if (isThere(text)) return expectFocus();
        seen.push(text.slice(0, 30));
        await page.keyboard.press(key);
        // Behind the last element of a page stands the browser itself; what comes late is found in a later turn.
        if (key.endsWith('Tab') && (await focused()) === '' && turns < turnsMost) {
          turns += 1;
          await page.waitForTimeout(turnMs);
          continue;
        }
        await expectFocus();
      }
      throw new Error(`${String(name)} is not reached by ${key}; on the way: ${seen.join(' | ')}`);
    },
  };
}

/** Records how long each press takes until the page has drawn its effect (Event Timing, as Interaction to Next Paint), and any use of a pointer. */
export const latencyScript = `
  globalThis.interactions = new Map();
  globalThis.pointers = 0;
  addEventListener('pointerdown', () => { globalThis.pointers += 1; }, true);
  new PerformanceObserver((list) => {
    for (const { interactionId, duration } of list.getEntries())
      if (interactionId > 0)
        globalThis.interactions.set(interactionId, Math.max(duration, globalThis.interactions.get(interactionId) ?? 0));
  }).observe({ type: 'event', durationThreshold: 16, buffered: true });
`;

/** Latencies of a page with `latencyScript`, ms, from 16 ms on in steps of 8; and the number of presses of a pointer. */
export const readLatencies = (
  page: Page,
): Promise<{ readonly ms: readonly number[]; readonly pointers: number }> =>
  page.evaluate(
    '({ ms: [...(globalThis.interactions ?? new Map()).values()], pointers: globalThis.pointers ?? 0 })',
  );
