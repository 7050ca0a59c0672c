// The panel of `fleetward-simulator hardware` in a browser: its buttons are commands of the bench, its own page is the only one that is served,
// and it asks nothing of any other host.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BenchState } from '../../simulator/bench/bench-state.ts';
import { chromiumNeeds, findFaults, openBrowser } from '../support/machine/browser.ts';
import { requires } from '../support/machine/requires.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { type BenchProgram, startBenchProgram } from '../support/programs/bench-program.ts';

const why = chromiumNeeds().missing ?? requires({ commands: ['socat'], debian: ['socat'] }).missing;

describe.skipIf(why !== null)(
  why === null ? 'the panel of the bench' : `the panel of the bench [${why}]`,
  () => {
    let bench: BenchProgram;
    const state = async (): Promise<BenchState> =>
      (await (await fetch(`${bench.control}/state`)).json()) as BenchState;

    beforeAll(async () => {
      const folder = join(temporaryFolder('bench-panel'), 'desk');
      mkdirSync(folder);
      bench = await startBenchProgram(folder, 'waveshare-io-analog');
    });
    afterAll(() => bench?.close());

    it('operates the hardware, shows what is so, and says what a command came to', async () => {
      const browser = await openBrowser();
      try {
        const context = await browser.newContext({ viewport: { width: 1180, height: 900 } });
        const page = await context.newPage();
        const complaints: string[] = [];
        page.on('console', (message) => complaints.push(message.text()));
        page.on('pageerror', (error) => complaints.push(error.message));
        page.on('request', (request) => {
          if (!request.url().startsWith(`${bench.control}/`)) complaints.push(request.url());
        });
        const answer = await page.goto(`${bench.control}/`);
        expect(answer?.headers()['content-security-policy']).not.toMatch(/unsafe|\*/);
        const press = async (name: string): Promise<void> => {
          await page.getByRole('button', { name, exact: true }).focus();
          await page.keyboard.press('Enter');
        };
        await press('Drive');
        await page.getByText('> drive').waitFor();
        await expect.poll(async () => (await state()).vehicle.speedKmh).toBeGreaterThan(5);
        await press('Press the panic button for 4 s');
        await page.locator('[data-fact=inputs]').filter({ hasText: 'panic' }).waitFor();
        await press('Jam the receiver');
        await page.locator('[data-fact=receiver]').filter({ hasText: 'jammed' }).waitFor();
        await press('Tow it away');
        await expect.poll(async () => (await state()).vehicle.ignition).toBe(false);
        await expect.poll(async () => (await state()).vehicle.speedKmh).toBeGreaterThan(20);
        await press('Let go');
        await expect.poll(async () => (await state()).vehicle.speedKmh).toBe(0);
        for (const width of [1180, 320]) {
          await page.setViewportSize({ width, height: 900 });
          expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
          for (const colorScheme of ['light', 'dark'] as const) {
            await page.emulateMedia({ colorScheme });
            expect(await findFaults(page)).toEqual([]);
          }
        }
        expect(complaints).toEqual([]);
      } finally {
        await browser.close();
      }
    });

    it.each([
      { origin: 'http://evil.example' },
      { origin: 'null' },
      { origin: 'https://127.0.0.1' },
      { origin: 'http://127.0.0.1:1' },
    ])('refuses a page with %j', async (headers) => {
      const sent = { method: 'POST', headers, body: 'ignition on' };
      expect((await fetch(`${bench.control}/command`, sent)).status).toBe(400);
      expect((await fetch(`${bench.control}/`, { headers })).status).toBe(400);
      expect((await state()).vehicle.ignition).toBe(false);
    });

    it('takes only what fits of a tow', async () => {
      for (const command of ['tow', 'tow -1', 'tow 101', 'tow fast', 'tow 1 2 3 4'.repeat(30)])
        await expect(bench.command(command)).rejects.toThrow(/does not fit|characters/);
    });
  },
);
