// The tasks of a dispatcher by keyboard alone, in Chromium against the real broker and the real simulated fleet: after every key the focus is in
// sight, and it is never lost. Drawing a zone, enrolling a unit and revoking a user are in `zones.test.ts`, `devices.test.ts` and
// `people.test.ts`.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type ConsolePage,
  createConsoleBrowsers,
  openConsole,
  whyNoConsole,
} from '../support/http/console-page.ts';
import {
  createKeyboardUser,
  type KeyboardUser,
  latencyScript,
  readLatencies,
} from '../support/http/keyboard-user.ts';
import { type DemoProgram, settleUsers, startDemoProgram } from '../support/programs/demo-program.ts';

const why = whyNoConsole();

const panic = 63553;
const password = 'nine boats below the bridge';
const vehicles = ['van-01', 'van-02', 'van-03', 'van-04'];

type Row = Readonly<Record<string, unknown>>;
type Opened = ConsolePage & { readonly user: KeyboardUser };

describe.skipIf(why !== null)(
  why === null ? 'by keyboard alone, a dispatcher' : `by keyboard alone, a dispatcher [${why}]`,
  () => {
    let demo: DemoProgram;
    const browsers = createConsoleBrowsers();
    let token = '';
    const pages: ConsolePage[] = [];
    const latenciesMs: number[] = [];

    /** @param userID null: nobody is signed in. */
    const openAs = async (userID: string | null): Promise<Opened> => {
      const session =
        userID === null ? {} : { session: { token: await demo.login(userID, password), userID } };
      const opened = await openConsole(browsers, { base: demo.base, ...session });
      await opened.page.addInitScript(latencyScript);
      pages.push(opened);
      return { ...opened, user: createKeyboardUser(opened.page) };
    };
    const post = (path: string, body: object) => demo.call(`${path}/authorization`, { token, body });
    const needApproval = (needsApproval: boolean) =>
      post('auth/updateaccount', { accountID: 'demo', password: demo.password, needsApproval });
    const raisePanic = (deviceID: string) =>
      demo.call(`events/createactivation/${deviceID}/${panic}/authorization`, { token });
    const alarmsOf = async (deviceID: string, state = 'open'): Promise<readonly Row[]> => {
      const query = `state=${state}&statusCode=${panic}&deviceID=${deviceID}`;
      const { alarms } = await demo.call(`alarm/alarms/authorization?${query}`, { token });
      return alarms as readonly Row[];
    };
    const commandsOf = async (deviceID: string): Promise<readonly Row[]> => {
      const { commands } = await demo.call(`command/list/${deviceID}/authorization`, { token });
      return commands as readonly Row[];
    };
    const cutsOf = async (deviceID: string) =>
      (await commandsOf(deviceID)).filter(({ state }) => state === '1');
    /** A vehicle that drives: a cut waits there. */
    const findMoving = async (): Promise<string> => {
      let found = '';
      const look = async (): Promise<number> => {
        const { devices } = await demo.call(
          'device/getalldevices/authorization?fields=deviceLastValidSpeed',
          { token },
        );
        const [fastest] = (devices as readonly { deviceID: string; deviceLastValidSpeed: number }[]).toSorted(
          (one, other) => other.deviceLastValidSpeed - one.deviceLastValidSpeed,
        );
        found = fastest?.deviceID ?? '';
        return fastest?.deviceLastValidSpeed ?? 0;
      };
      await expect.poll(look, { timeout: 60_000 }).toBeGreaterThan(25);
      return found;
    };
    /** From the page of a vehicle: opens the form by the palette, chooses a reason and presses the button. */
    const askForCut = async ({ page, user }: Opened, vehicle: string): Promise<void> => {
      await user.press('Control+k');
      await user.type('cut engine');
      await page.getByRole('menuitem', { name: `Cut engine · ${vehicle}` }).waitFor();
      await user.press('ArrowDown', 'Enter');
      await page.getByRole('dialog', { name: `Cut engine · ${vehicle}` }).waitFor();
      await user.goTo('Cancel');
      await user.goTo(/Reason/, 'Shift+Tab');
      await user.press('Enter');
      await user.goTo('Stolen', 'ArrowDown');
      await user.press('Enter');
      await page.getByText('Choose a reason first').waitFor({ state: 'detached' });
      await user.goTo(`Cut ${vehicle} when it stands`);
      await user.press('Enter');
      await page.getByRole('heading', { name: 'Course' }).waitFor();
      await user.expectFocus();
    };

    beforeAll(async () => {
      demo = await startDemoProgram(vehicles.length);
      token = await demo.login('admin', demo.password);
      for (const userID of ['olga', 'otto'])
        await post('user/createuser', { userID, roleID: 'operator', password });
      settleUsers(demo);
    });

    afterEach(async () => {
      for (const { page, context } of pages.splice(0)) {
        const { ms, pointers } = await readLatencies(page);
        latenciesMs.push(...ms);
        expect(pointers).toBe(0);
        await context.close();
      }
      for (const deviceID of vehicles)
        await post('command/feature', { deviceID, feature: 'enginecutoff', state: '0' });
    });

    afterAll(async () => {
      const sorted = latenciesMs.toSorted((one, other) => one - other);
      const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0;
      // For people who look at the run: speed is judged by the bench, never here.
      process.stdout.write(
        `Presses of 16 ms and more until drawn: ${sorted.length}; p50 ${at(0.5)} ms, p98 ${at(0.98)} ms, most ${sorted.at(-1) ?? 0} ms\n`,
      );
      await browsers.close();
      await demo?.stop();
    });

    it('signs in, reads what is wrong, and comes to the page that was wanted; the token stands in no address and no cookie', async () => {
      const { page, context, complaints, user, open } = await openAs(null);
      await open('/live?filter=moving');
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      await user.expectFocus();
      for (const [at, text] of ['demo', 'olga', 'wrong password'].entries()) {
        if (at > 0) await user.press('Tab');
        await user.type(text);
      }
      await user.press('Enter');
      await page.getByRole('alert').filter({ hasText: 'Account, user or password is wrong' }).waitFor();
      await user.type(password);
      await user.press('Enter');
      await page.getByRole('heading', { name: 'Vehicles' }).waitFor();
      await user.expectFocus();
      expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe('/console/live?filter=moving');
      expect(await context.cookies()).toEqual([]);
      expect(await page.evaluate('Object.keys(localStorage).join()')).not.toMatch(/session|token/);
      expect(await page.evaluate("JSON.parse(sessionStorage['fleetward.session']).userID")).toBe('olga');
      // The refused login is the one line that the browser writes by itself.
      expect(complaints.filter((line) => !line.includes('401'))).toEqual([]);
    });

    it('finds a vehicle by the palette with what is typed while it loads, and reads the list of keys', async () => {
      const { page, complaints, user, open } = await openAs('olga');
      let release: () => void = () => undefined;
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      await page.route(/assets\/palette-/, async (route) => {
        await released;
        await route.continue();
      });
      await open('/alarms');
      await page.getByRole('heading', { name: 'Alarms', exact: true }).waitFor();
      // Its name counts what is new.
      await user.goTo(/^Alarms/);
      await user.press('?');
      const keys = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
      await keys.waitFor();
      const listed = await keys.locator('kbd').allInnerTexts();
      expect(listed.filter((key) => key.startsWith('g ')).length).toBeGreaterThan(10);
      expect(new Set(listed).size).toBe(listed.length);
      await user.press('Escape');
      expect(await user.focused()).toMatch(/^Alarms/);
      await user.press('Control+k');
      // Enter opens nothing behind the palette, and Escape closes what is not there yet.
      await user.type('va');
      await user.press('Enter', 'Escape');
      expect(await user.focused()).toMatch(/^Alarms/);
      await user.press('Control+k');
      await user.type('van-0x');
      await user.press('Backspace');
      release();
      await page.getByRole('searchbox', { name: 'Vehicle, page or action' }).waitFor();
      await user.type('3');
      await page.getByRole('menuitem', { name: /van-03/ }).waitFor();
      await user.press('ArrowDown', 'Enter');
      await page.getByRole('heading', { name: 'van-03', level: 1 }).waitFor();
      await user.expectFocus();
      expect(await page.getByRole('button', { name: 'Restore engine' }).isEnabled()).toBe(true);
      await user.press('g', 'a');
      await page.getByRole('heading', { name: 'Alarms', exact: true }).waitFor();
      await user.expectFocus();
      expect(complaints).toEqual([]);
    });

    it('finds a vehicle in the list, opens it beside the map, and closes it again', async () => {
      const { page, user, open } = await openAs('olga');
      await open('/live');
      await page.locator('a.vehicle').nth(3).waitFor();
      await user.goTo('Find a vehicle in the list');
      await user.type('van-0');
      await user.goTo(/^van-0\d/);
      const first = await user.focused();
      await user.press('ArrowDown');
      expect((await user.focused()).slice(0, 6)).not.toBe(first.slice(0, 6));
      await user.press('ArrowUp', 'Enter');
      const name = first.slice(0, 6);
      await page.getByRole('region', { name: `Selected vehicle: ${name}` }).waitFor();
      await user.expectFocus();
      await user.goTo('Close');
      await user.press('Enter');
      await page.getByRole('region', { name: `Selected vehicle: ${name}` }).waitFor({ state: 'detached' });
      await user.expectFocus();
    });

    it('takes an alarm and closes it with a word; the focus goes to the next row', async () => {
      await raisePanic('van-01');
      await raisePanic('van-02');
      const { page, user, open } = await openAs('olga');
      await open('/alarms');
      const row = page.locator('table.queue tbody tr', { hasText: 'van-01' }).filter({ hasText: 'Panic' });
      await row.waitFor();
      await user.goTo('van-01');
      await user.goTo('Take');
      await user.press('Enter');
      await row.getByText('olga').waitFor();
      await expect.poll(user.focused).toBe('Close alarm…');
      await user.press('Enter');
      await page.getByRole('dialog').waitFor();
      await expect.poll(user.focused).toBe('Cancel');
      // Backwards the last one comes first; below it the first one follows.
      await user.goTo('Another reason', 'Shift+Tab');
      await user.press('ArrowDown', 'ArrowDown');
      expect(await user.focused()).toBe('False alarm');
      await user.press('Tab');
      await user.type('Driver called, button sticks');
      await user.goTo('Close alarm');
      // The simulated fleet may have raised alarms of its own.
      const below = row.locator('xpath=following-sibling::tr[1]');
      const neighbour = (await below.count()) > 0 ? below : row.locator('xpath=preceding-sibling::tr[1]');
      const namesOf =
        "[...document.querySelectorAll('table.queue tbody tr')].map((one) => [...one.querySelectorAll('a')].map((a) => a.textContent).join())";
      const before = await page.evaluate<readonly string[]>(namesOf);
      const next = (await neighbour.locator('a').allTextContents()).join();
      await user.press('Enter');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await expect.poll(() => row.count()).toBe(0);
      await user.expectFocus();
      const after = await page.evaluate<readonly string[]>(namesOf);
      const focused = await page.evaluate(
        "[...(document.activeElement.closest('table.queue tr')?.querySelectorAll('a') ?? [])].map((a) => a.textContent).join()",
      );
      // It may have come in between.
      expect([next, ...after.filter((name) => !before.includes(name))]).toContain(focused);
      expect((await alarmsOf('van-01', 'closed'))[0]).toMatchObject({
        closeReason: 'false_alarm',
        note: 'Driver called, button sticks',
      });
    });

    it('keeps the focus when another user closes the alarm that has it, to the last one', async () => {
      const { page, user, open } = await openAs('olga');
      await raisePanic('van-03');
      await open('/alarms');
      const rows = page.locator('table.queue tbody tr');
      await rows.filter({ hasText: 'van-03' }).first().waitFor();
      await user.goTo('van-03');
      const { alarms } = await demo.call('alarm/alarms/authorization?state=open', { token });
      const ofFocus = await alarmsOf('van-03');
      for (const { alarmID } of [...ofFocus, ...(alarms as readonly Row[])]) {
        await post('alarm/close', { alarmID, reason: 'test' });
        await user.expectFocus();
      }
      await expect.poll(() => rows.count()).toBe(0);
      await user.expectFocus();
    });

    it('asks for a cut: focus on Cancel, and nothing without a reason', async () => {
      const { page, complaints, user, open } = await openAs('olga');
      await open('/vehicle/van-01');
      await page.getByRole('link', { name: 'Cut engine…' }).waitFor();
      await user.goTo('Cut engine…');
      await user.press('Enter');
      await page.getByRole('dialog', { name: 'Cut engine · van-01' }).waitFor();
      await expect.poll(user.focused).toBe('Cancel');
      await page.getByText('Choose a reason first').waitFor();
      await user.press('Tab');
      expect(await user.focused()).toBe('Cut van-01 when it stands');
      await user.press('Enter', 'Enter');
      await page.waitForTimeout(500);
      expect(await cutsOf('van-01')).toEqual([]);
      await user.goTo(/Reason/, 'Shift+Tab');
      await user.press('Enter');
      await user.goTo('Stolen', 'ArrowDown');
      await user.press('Enter');
      await user.goTo('Note');
      await user.type('Police report 22-1187');
      await user.press('Enter');
      await page.getByRole('heading', { name: 'Course' }).waitFor();
      await page.getByText('Asked by olga').waitFor();
      await page.getByText('Reason: Stolen. Police report 22-1187').waitFor();
      await user.expectFocus();
      const cuts = await cutsOf('van-01');
      expect(cuts).toHaveLength(1);
      expect(cuts[0]).toMatchObject({ reason: 'stolen: Police report 22-1187', issuer: 'olga' });
      expect(Number(cuts[0]?.['expires']) - Number(cuts[0]?.['issued'])).toBe(1800);
      expect(new URL(page.url()).searchParams.get('cut')).toBe(`command-${String(cuts[0]?.['commandID'])}`);
      expect(complaints).toEqual([]);
    });

    it('watches why a cut waits, withdraws it, and is back on the page of the vehicle', async () => {
      const moving = await findMoving();
      const opened = await openAs('olga');
      const { page, user, open } = opened;
      await open(`/vehicle/${moving}`);
      await page.getByRole('heading', { name: moving, level: 1 }).waitFor();
      await user.goTo('Show on the map');
      await askForCut(opened, moving);
      await page.getByRole('dialog').getByText('Armed, waits').first().waitFor();
      // The rules that are not met, in words.
      await page.locator('[role=dialog] table.rules tr.no-value').first().waitFor();
      await user.goTo('Withdraw');
      // It is shown as off for the time of a double click.
      const withdraw = page.getByRole('button', { name: 'Withdraw' });
      await expect.poll(() => withdraw.getAttribute('aria-disabled')).not.toBe('true');
      await user.press('Enter');
      await expect
        .poll(async () => (await cutsOf(moving))[0]?.['commandState'])
        .toMatch(/^(cancelled|confirmed)$/);
      await page
        .getByRole('dialog')
        .getByText(/^(Withdrawn|Confirmed)$/)
        .first()
        .waitFor();
      await user.expectFocus();
      await user.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await user.expectFocus();
    });

    it('sees as the second person who asks, approves, and follows the cut', async () => {
      await needApproval(true);
      const [asker, second] = [await openAs('olga'), await openAs('otto')];
      await asker.open('/vehicle/van-04');
      await asker.page.getByRole('heading', { name: 'van-04', level: 1 }).waitFor();
      await asker.user.goTo('Show on the map');
      await askForCut(asker, 'van-04');
      await asker.page.getByText('Not sent to the vehicle yet').waitFor();
      await second.open('/live');
      await second.page.locator('a.vehicle').first().waitFor();
      await second.user.goTo(/^Approvals/);
      await second.user.press('g', 'p');
      await second.page.getByRole('button', { name: 'Approve cut of van-04' }).waitFor();
      await second.user.goTo('Approve cut of van-04');
      await second.user.press('Enter');
      await second.page.getByRole('dialog', { name: 'Cut engine · van-04' }).waitFor();
      await second.user.expectFocus();
      await asker.page.getByText('Approved by otto').waitFor();
      await asker.user.expectFocus();
      expect((await cutsOf('van-04'))[0]).toMatchObject({ issuer: 'olga', approver: 'otto' });
      await second.user.press('Escape');
      await second.page.getByRole('dialog').waitFor({ state: 'detached' });
      await second.user.expectFocus();
      await needApproval(false);
    });

    it('restores an engine: Shift+R goes to the button, Enter asks', async () => {
      const { page, user, open } = await openAs('olga');
      await open('/vehicle/van-02');
      await page.getByRole('button', { name: 'Restore engine' }).waitFor();
      await user.press('Shift+R');
      expect(await user.focused()).toBe('Restore engine');
      const before = (await commandsOf('van-02')).length;
      await user.press('Enter');
      await page.getByText(/Restore of van-02 asked|van-02 restored/).waitFor();
      await user.expectFocus();
      const commands = await commandsOf('van-02');
      expect(commands.length).toBe(before + 1);
      expect(commands[0]).toMatchObject({ feature: 'enginecutoff', state: '0', issuer: 'olga' });
    });

    it('replays a period: moves the moment by keys, plays to the end, and saves it as a file', async () => {
      const { page, user, open } = await openAs('olga');
      await open('/vehicle/van-01?tab=trips&range=hour');
      await page.getByRole('link', { name: 'Replay the whole period' }).waitFor();
      await user.goTo('Replay the whole period');
      await user.press('Enter');
      const slider = page.getByRole('slider', { name: 'Moment of the replay' });
      await slider.waitFor();
      await user.expectFocus();
      await user.goTo('Moment of the replay');
      await user.press('Home', 'ArrowRight', 'ArrowRight');
      expect(Number(await slider.inputValue())).toBeGreaterThan(Number(await slider.getAttribute('min')));
      await user.goTo(/^Pace/);
      await user.press('End');
      await user.goTo('Play', 'Shift+Tab');
      await user.press('Enter');
      await expect
        .poll(async () => Number(await slider.inputValue()) === Number(await slider.getAttribute('max')))
        .toBe(true);
      await expect.poll(user.focused).toBe('Play');
      await user.goTo('Save as file');
      const saving = page.waitForEvent('download');
      await user.press('Enter', 'Enter');
      expect((await saving).suggestedFilename()).toMatch(/^van-01_\w+\.gpx$/);
      await expect.poll(user.focused).toBe('Save as file');
      await user.expectFocus();
    });
  },
);
