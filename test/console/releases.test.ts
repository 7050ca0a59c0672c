// Releases of the console in Chromium against the real broker and the simulated fleet, whose units have no key of releases and refuse each: what the
// screen says is compared with what the service has.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { whyNoConsole } from '../support/http/console-page.ts';
import {
  createUserPages,
  findEnglishOn,
  findFaultsOn,
  memberPassword as password,
  reachByKey,
} from '../support/http/user-pages.ts';
import { type DemoProgram, startDemoProgram } from '../support/programs/demo-program.ts';

const why = whyNoConsole();

const file = {
  version: '9.9.9',
  url: 'https://updates.example.com/fleetward-agent-9.9.9-arm64.tar.gz',
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
} as const;
const refusal = 'this unit is updated by its package manager';

interface Release {
  readonly releaseID: string;
  readonly version: string;
  readonly note: string;
  readonly releaseState: string;
  readonly stoppedFor: string;
  readonly stages: readonly { readonly groupID: string; readonly started: number }[];
}

describe.skipIf(why !== null)(
  why === null ? 'the releases of the console' : `the releases of the console [${why}]`,
  () => {
    let demo: DemoProgram;
    const { openAs, closePages, close } = createUserPages(() => demo);
    let token = '';

    const post = (path: string, body: object) => demo.call(`${path}/authorization`, { token, body });
    const releases = async (): Promise<readonly Release[]> =>
      (await demo.call('release/list/authorization', { token }))['releases'] as readonly Release[];
    const releaseOf = async (note: string): Promise<Release | undefined> =>
      (await releases()).find((one) => one.note === note);
    const create = async (note: string, changes: object = {}): Promise<string> => {
      const answer = await post('release/create', { ...file, stages: ['pilot', 'rest'], note, ...changes });
      return (answer['release'] as Release).releaseID;
    };
    const stopAll = async (): Promise<void> => {
      for (const { releaseID, releaseState } of await releases())
        if (releaseState === 'ready' || releaseState === 'running') await post('release/stop', { releaseID });
    };
    const detail = (page: Page) => page.getByRole('complementary', { name: `Release ${file.version}` });

    beforeAll(async () => {
      demo = await startDemoProgram(3);
      token = await demo.login('admin', demo.password);
      for (const [userID, roleID] of [
        ['olga', 'operator'],
        ['vera', 'viewer'],
      ] as const)
        await post('user/createuser', { userID, roleID, password });
      await post('group/updategroup', { groupID: 'pilot', devices: ['van-01'] });
      await post('group/updategroup', { groupID: 'rest', devices: ['van-01', 'van-02', 'van-03'] });
    });

    // An account has few releases that have not ended.
    beforeEach(stopAll);

    afterEach(closePages);

    afterAll(async () => {
      await close();
      await demo?.stop();
    });

    it('is made by keyboard, in the order of the groups that were ticked, and sends nothing', async () => {
      const opened = await openAs('admin');
      const { page, user, complaints } = opened;
      await reachByKey(opened, { key: 'f', heading: 'Releases' });
      await page.getByText('No releases yet').waitFor();
      await user.goTo('Make a release…');
      await user.press('Enter');
      await expect.poll(user.focused).toBe('Version');
      await user.type(file.version);
      await user.goTo('Address of the file');
      await user.type('https://evil.example/agent.tar.gz');
      await page.getByText('It must be https at a host that is listed').waitFor();
      expect(
        await page
          .getByRole('dialog')
          .getByRole('button', { name: 'Make a release' })
          .getAttribute('aria-disabled'),
      ).toBe('true');
      await page.getByLabel('Address of the file').fill(file.url);
      await user.goTo('SHA-256 of the file');
      await user.type(file.sha256);
      for (const group of [/^rest/, /^pilot/]) {
        await page.getByRole('checkbox', { name: group }).focus();
        await user.press('Space');
      }
      await user.goTo('Note');
      await user.type('By keyboard');
      await user.goTo('Make a release');
      await user.press('Enter');
      await detail(page).getByText('Not begun').first().waitFor();
      expect(await releaseOf('By keyboard')).toMatchObject({
        releaseState: 'ready',
        stages: [
          { groupID: 'rest', started: 0 },
          { groupID: 'pilot', started: 0 },
        ],
      });
      await page.getByText('No stage was begun').waitFor();
      const { commands } = await demo.call('command/list/van-01/authorization', { token });
      expect(commands).toEqual([]);
      await user.expectFocus();
      expect(complaints).toEqual([]);
    });

    it('begins a stage after a second look, and shows each unit with its state, its age and the reason of its failure', async () => {
      const releaseID = await create('Second look', { stopAfter: 5 });
      const { page, user, complaints, open } = await openAs('admin');
      await open(`/releases?release=${releaseID}`);
      await detail(page).waitFor();
      await user.goTo('Begin stage 1…');
      await user.press('Enter');
      await page.getByText('The job goes to 1 device of pilot').waitFor();
      await expect.poll(user.focused).toBe('Cancel');
      expect((await releaseOf('Second look'))?.releaseState).toBe('ready');
      await user.goTo('Begin stage 1');
      await user.press('Enter');
      const row = page.locator('[data-unit="van-01"]');
      await row.getByText('Refused').waitFor({ timeout: 60_000 });
      await row.getByText(refusal).waitFor();
      await row.getByText(/ago/).first().waitFor();
      await detail(page).getByText('Run it: 0 of 1 unit').waitFor();
      await detail(page).getByText('Failed: 1').waitFor();
      await user.goTo('Begin stage 2…');
      await user.press('Enter');
      await page.getByText('1 unit of earlier stages failed').waitFor();
      await user.press('Escape');
      expect((await releaseOf('Second look'))?.stages[1]?.started).toBe(0);
      await page.getByRole('button', { name: 'Run it' }).click();
      await page.getByText('No unit stands so').waitFor();
      expect(new URL(page.url()).searchParams.get('phase')).toBe('done');
      expect(complaints).toEqual([]);
    });

    it('is stopped by the service when a unit fails, and says so', async () => {
      const releaseID = await create('Fails');
      await post('release/startstage', { releaseID, stage: 1 });
      const { page, open } = await openAs('admin');
      await open(`/releases?release=${releaseID}`);
      await detail(page).getByText('Stopped by the service: 1 unit failed').waitFor({ timeout: 60_000 });
      expect(await page.getByRole('button', { name: /^Begin stage|^Stop/ }).count()).toBe(0);
      expect(await releaseOf('Fails')).toMatchObject({ stoppedFor: 'failures' });
    });

    it('is stopped by a person with a reason, by keyboard', async () => {
      const releaseID = await create('By hand');
      const { page, user, open } = await openAs('admin');
      await open(`/releases?release=${releaseID}`);
      await detail(page).waitFor();
      await user.goTo('Stop the release…');
      await user.press('Enter');
      await page.getByText('For good.').waitFor();
      await user.goTo('Reason, for the record');
      await user.type('Wrong file');
      await user.goTo('Stop the release');
      await user.press('Enter');
      await detail(page).getByText('Stopped by admin').waitFor();
      await detail(page).getByText('Wrong file').waitFor();
      await detail(page).getByText('Stopped', { exact: true }).waitFor();
      await user.expectFocus();
      expect(await releaseOf('By hand')).toMatchObject({ releaseState: 'stopped', stoppedFor: 'user' });
    });

    it('orders again for one unit, as a job of its own', async () => {
      const releaseID = await create('Again', { stopAfter: 5 });
      await post('release/startstage', { releaseID, stage: 1 });
      const { page, user, open } = await openAs('admin');
      await open(`/releases?release=${releaseID}`);
      const row = page.locator('[data-unit="van-01"]');
      await row.getByText('Refused').waitFor({ timeout: 60_000 });
      const first = await row.getByRole('link').getAttribute('href');
      await user.goTo('Order again for van-01');
      await user.press('Enter');
      await page.getByText('A further job for this unit alone').waitFor();
      await user.goTo('Order for van-01');
      await user.press('Enter');
      // Another command, which the unit refuses as well.
      await expect
        .poll(() => row.getByRole('link').getAttribute('href'), { timeout: 60_000 })
        .not.toBe(first);
      await row.getByText('Refused').waitFor({ timeout: 60_000 });
    });

    it('is for administrators: others find no link, and are told why at the address', async () => {
      const { page, open } = await openAs('olga');
      await open('/releases');
      await page.getByText('Releases are staged by administrators').waitFor();
      expect(await page.getByRole('link', { name: 'Releases' }).count()).toBe(0);
      const admin = await openAs('admin');
      await admin.open('/live');
      await admin.page.getByRole('link', { name: 'Releases' }).waitFor();
    });

    it.each(['fr', 'de', 'es', 'ar'])('speaks %s', async (language) => {
      const releaseID = await create('9', { stopAfter: 5 });
      await post('release/startstage', { releaseID, stage: 1 });
      const opened = await openAs('admin', { language });
      const paths = [
        `/releases?release=${releaseID}`,
        `/releases?release=${releaseID}&open=begin`,
        `/releases?release=${releaseID}&open=stop`,
        '/releases?open=create',
      ];
      const names = ['Second look', 'Wrong file', 'By keyboard', 'By hand', 'Again', 'Fails', refusal];
      expect(await findEnglishOn(opened, { paths, names, ready: 'h1' })).toEqual([]);
    });

    it.each([
      [1180, 'en'],
      [320, 'en'],
      [320, 'ar'],
      [1180, 'ar'],
    ])('has no fault of accessibility in any theme at %i px in %s', async (width, language) => {
      const releaseID = await create('Looked at', { stopAfter: 5 });
      await post('release/startstage', { releaseID, stage: 1 });
      const opened = await openAs('admin', { width, language });
      const paths = [`/releases?release=${releaseID}`, '/releases?open=create'];
      expect(await findFaultsOn(opened, { paths, ready: 'h1' })).toEqual([]);
      expect(opened.complaints).toEqual([]);
    });

    // The last one: the service ends with it.
    it('offers no change without the stream', async () => {
      const releaseID = await create('Offline');
      const { page, open } = await openAs('admin');
      await open(`/releases?release=${releaseID}`);
      const begin = page.getByRole('button', { name: 'Begin stage 1…' });
      await begin.waitFor();
      await expect.poll(() => begin.getAttribute('aria-disabled')).not.toBe('true');
      await demo.stop();
      await detail(page).getByText('Commands wait for the connection').waitFor({ timeout: 60_000 });
      expect(await begin.getAttribute('aria-disabled')).toBe('true');
    });
  },
);
