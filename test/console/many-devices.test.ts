// Many devices at once in Chromium against the real broker: secrets of an import, deletion of several, units that are silent, and payloads that could
// not be read. What the screen says was done is compared with what the service then answers.
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type ConsolePage, findFaultsInThemes, whyNoConsole } from '../support/http/console-page.ts';
import {
  createUserPages,
  findEnglishOn,
  findFaultsOn,
  memberPassword as password,
} from '../support/http/user-pages.ts';
import { connectPacket, connectRaw, publishPacket } from '../support/mqtt/raw-mqtt.ts';
import { type DemoProgram, startDemoProgram } from '../support/programs/demo-program.ts';

const why = whyNoConsole();

describe.skipIf(why !== null)(
  why === null ? 'many devices of the console' : `many devices of the console [${why}]`,
  () => {
    let demo: DemoProgram;
    const { openAs, closePages, close } = createUserPages(() => demo);
    let token = '';

    const post = (path: string, body: object) => demo.call(`${path}/authorization`, { token, body });
    const isThere = async (deviceID: string): Promise<boolean> =>
      (await demo.call(`device/getdevice/${deviceID}/authorization`, { token }))['error'] === undefined;
    const entriesOf = async (deviceID: string) =>
      (await demo.call(`device/quarantine/authorization?deviceID=${deviceID}`, { token }))[
        'payloads'
      ] as readonly { readonly quarantineID: string }[];

    /** React Aria announces a pending button by its label for some seconds, and its dialog is gone by then. */
    const announced = (page: ConsolePage['page']) =>
      expect.poll(() => page.locator('[role=log] [role=img]').count()).toBe(0);

    /** Connects with the secret as a unit does. @returns the code of the answer. */
    const connect = async (username: string, secret: string, payload?: string): Promise<number> => {
      const client = await connectRaw(demo.ports[1]);
      try {
        client.send(connectPacket(username, secret));
        const { returnCode = 0 } = await client.next('connack');
        if (payload === undefined) return returnCode;
        client.send(publishPacket(`fleet/v1/${username}/events`, payload, 1));
        await client.next('puback');
        return returnCode;
      } finally {
        client.end();
      }
    };

    beforeAll(async () => {
      demo = await startDemoProgram(2);
      token = await demo.login('admin', demo.password);
      for (const [userID, roleID] of [
        ['olga', 'operator'],
        ['vera', 'viewer'],
      ])
        await post('user/createuser', { userID, roleID, password });
      for (const deviceID of ['bad-01', 'quiet-01']) await post('device/createdevice', { deviceID });
      const { username, secret } = await post('device/issuesecret', { deviceID: 'bad-01' });
      for (const payload of ['not JSON', 'nor this'])
        expect(await connect(String(username), String(secret), payload)).toBe(0);
    });

    afterEach(closePages);

    afterAll(async () => {
      await close();
      await demo?.stop();
    });

    it('that are imported with their secrets connect with what was shown once and saved as a file', async () => {
      const { page, complaints, open } = await openAs('admin');
      await open('/devices?open=import');
      const dialog = page.getByRole('dialog', { name: 'Import devices from a file' });
      const choosing = page.waitForEvent('filechooser');
      await dialog.getByRole('button', { name: 'Choose a CSV file…' }).click();
      const buffer = Buffer.from('deviceID,deviceDriver\r\nnew-01,M. Roy\r\nvan-01,A. Lee\r\n');
      await (await choosing).setFiles({ name: 'fleet.csv', mimeType: 'text/csv', buffer });
      await dialog.getByText('Would create 1, change 1').waitFor();
      await dialog.getByText('Give each new device its secret').click();
      await dialog.getByRole('button', { name: 'Import 2 devices' }).click();
      const shown = dialog.getByRole('region', { name: 'Secrets of the new devices' });
      await shown.waitFor();
      const saving = page.waitForEvent('download');
      await dialog.getByRole('button', { name: 'Save the secrets as a file' }).click();
      const saved = readFileSync(await (await saving).path(), 'utf8');
      const [, line = '', ...others] = saved.trim().split('\r\n');
      expect([line.split(',')[0], others]).toEqual(['new-01', []]);
      expect(await shown.textContent()).toContain(line);
      const [, username = '', secret = ''] = line.split(',');
      expect(await connect(username, secret)).toBe(0);
      await announced(page);
      expect(await findFaultsInThemes(page)).toEqual([]);
      await dialog.getByRole('button', { name: 'Close' }).click();
      await dialog.waitFor({ state: 'detached' });
      expect(await page.content()).not.toContain(secret);
      expect(
        await page.evaluate('JSON.stringify([sessionStorage, localStorage, location.href])'),
      ).not.toContain(secret);
      expect(complaints).toEqual([]);
    });

    it('are deleted by keyboard in one request, and one with an open command stays, with the reason', async () => {
      for (const deviceID of ['old-01', 'old-02', 'old-03']) await post('device/createdevice', { deviceID });
      await post('command/feature', { deviceID: 'old-03', feature: 'enginecutoff', state: '0' });
      const { page, user, complaints, open } = await openAs('admin');
      await open('/devices?find=old');
      await page.getByRole('link', { name: 'old-02' }).waitFor();
      for (const name of ['Pick old-01', 'Pick old-02', 'Pick old-03']) {
        await user.goTo(name);
        await user.press('Space');
      }
      await page.getByText('3 of at most 100 picked').waitFor();
      await page.reload();
      await page.getByText('3 of at most 100 picked').waitFor();
      await user.goTo('Delete the picked devices…');
      await user.press('Enter');
      const dialog = page.getByRole('dialog', { name: 'Delete 3 devices' });
      await dialog.waitFor();
      await expect.poll(user.focused).toBe('Cancel');
      expect(await findFaultsInThemes(page)).toEqual([]);
      expect(await isThere('old-01')).toBe(true);
      await user.goTo('Delete 3 devices with their events');
      await user.press('Enter');
      await dialog.getByText('2 devices were deleted').waitFor();
      await dialog.getByText('1 device was not deleted').waitFor();
      await user.expectFocus();
      expect(await Promise.all(['old-01', 'old-02', 'old-03'].map(isThere))).toEqual([false, false, true]);
      await user.goTo('Close');
      await user.press('Enter');
      await page.getByText('1 of at most 100 picked').waitFor();
      await expect.poll(() => page.locator('table.devices tbody tr').count()).toBe(1);
      expect(complaints).toEqual([]);
    });

    it('are all picked when they are ticked faster than the screen follows', async () => {
      const { page, complaints, open } = await openAs('admin');
      await open('/devices?find=van-0');
      await page.getByRole('link', { name: 'van-02' }).waitFor();
      const tick = (names: readonly string[]) =>
        page.evaluate(
          `for (const name of ${JSON.stringify(names)}) document.querySelector('[aria-label="' + name + '"]').click()`,
        );
      await tick(['Pick van-01', 'Pick van-02']);
      await page.getByText('2 of at most 100 picked').waitFor();
      // One is taken back while another one joins.
      await tick(['Pick van-01', 'Pick van-01', 'Pick van-02']);
      await page.getByText('1 of at most 100 picked').waitFor();
      expect(new URL(page.url()).searchParams.get('pick')).toBe('van-01');
      expect(complaints).toEqual([]);
    });

    it('join a group together, and those that are in it stay', async () => {
      await post('group/updategroup', { groupID: 'yard', groupDisplayName: 'Yard', devices: ['van-01'] });
      const { page, user, complaints, open } = await openAs('admin');
      await open('/devices?pick=van-01,van-02');
      await user.goTo('Add to a group…');
      await user.press('Enter');
      const dialog = page.getByRole('dialog', { name: 'Add 2 devices to a group' });
      await dialog.getByRole('button', { name: /Group/ }).first().click();
      await page.getByRole('option', { name: 'Yard', exact: true }).click();
      await dialog.getByRole('button', { name: 'Add to Yard' }).click();
      await dialog.waitFor({ state: 'detached' });
      await expect.poll(() => new URL(page.url()).search).toBe('');
      const { groups } = await demo.call('group/groups/authorization', { token });
      expect(groups).toContainEqual(
        expect.objectContaining({ groupID: 'yard', devices: ['van-01', 'van-02'] }),
      );
      expect(complaints).toEqual([]);
    });

    it('are listed by how long nothing was received, as the service judges it', async () => {
      const { page, complaints, open } = await openAs('vera');
      await open('/devices?silent=hour');
      const { devices } = await demo.call('device/lostvehicles/60/authorization', { token });
      expect(devices).toEqual([]);
      await page.getByText('No device matches').waitFor();
      await page.getByRole('button', { name: /Nothing received for/ }).click();
      await page.getByRole('option', { name: 'more than a day' }).click();
      await expect.poll(() => new URL(page.url()).search).toBe('?silent=day');
      await page.getByText('No device matches').waitFor();
      await page.getByRole('button', { name: 'Clear' }).first().click();
      await page.locator('table.devices tbody tr').first().waitFor();
      expect(await page.getByRole('checkbox').count()).toBe(0);
      expect(complaints).toEqual([]);
    });

    it('that sent what could not be read show it with reason and bytes, and an administrator drops one or all', async () => {
      const { page, complaints, open } = await openAs('admin');
      const [newest] = await entriesOf('bad-01');
      await open('/devices/bad-01?part=unreadable');
      await expect.poll(() => page.locator('tbody tr').count()).toBe(2);
      await page.getByRole('link', { name: `Payload ${newest?.quarantineID}`, exact: true }).click();
      await expect
        .poll(() => page.getByRole('region', { name: 'Bytes of the payload' }).textContent())
        .toBe('nor this');
      expect(await findFaultsInThemes(page)).toEqual([]);
      await page.getByRole('button', { name: `Drop payload ${newest?.quarantineID}…` }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: `Drop payload ${newest?.quarantineID}` }).click();
      await expect.poll(() => page.locator('tbody tr').count()).toBe(1);
      expect((await entriesOf('bad-01')).length).toBe(1);
      await page.getByRole('button', { name: 'Drop all payloads…' }).click();
      await dialog.getByRole('button', { name: 'Drop all payloads of bad-01' }).click();
      await page.getByText('Every payload of this unit could be read').waitFor();
      expect(await entriesOf('bad-01')).toEqual([]);
      const viewer = await openAs('vera');
      await viewer.open('/devices/bad-01?part=unreadable');
      await viewer.page.getByText('Payloads are shown to operators and administrators').waitFor();
      expect([...complaints, ...viewer.complaints]).toEqual([]);
    });

    it.each([
      [1180, 'en'],
      [320, 'ar'],
      [320, 'de'],
      [320, 'fr'],
      [320, 'es'],
    ])(
      'have no fault of accessibility in any theme at %i px in %s, and no other language',
      async (width, language) => {
        const opened = await openAs('admin', { width, language });
        const paths = [
          '/devices?silent=week',
          '/devices?pick=van-01,van-02',
          '/devices?pick=van-01,van-02&open=delete',
          '/devices?pick=van-01,van-02&open=group',
          '/devices?open=import',
          '/devices/van-01?part=unreadable',
        ];
        expect(await findFaultsOn(opened, { paths })).toEqual([]);
        if (language !== 'en') expect(await findEnglishOn(opened, { paths })).toEqual([]);
        expect(opened.complaints).toEqual([]);
      },
    );
  },
);
