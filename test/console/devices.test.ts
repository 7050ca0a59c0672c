// Devices of the console in Chromium against the real broker: created, changed, enrolled by the real agent with a code, and deleted, by keyboard
// where a person would type. What the screen shows is compared with what the service answers.
import type { Page } from 'playwright-core';
import { decodeQR } from 'qr/decode.js';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { findFaultsInThemes, whyNoConsole } from '../support/http/console-page.ts';
import {
  createUserPages,
  findEnglishOn,
  findFaultsOn,
  memberPassword as password,
  reachByKey,
} from '../support/http/user-pages.ts';
import { requires } from '../support/machine/requires.ts';
import { type DemoProgram, startDemoProgram } from '../support/programs/demo-program.ts';
import { openYardUnit, type YardUnit } from '../support/programs/yard-unit.ts';

const why = whyNoConsole();
const { missing: noTerminals } = requires({ commands: ['socat'], debian: ['socat'] });

type Row = Readonly<Record<string, unknown>>;

describe.skipIf(why !== null)(
  why === null ? 'the devices of the console' : `the devices of the console [${why}]`,
  () => {
    let demo: DemoProgram;
    const { openAs, closePages, close } = createUserPages(() => demo);
    let token = '';
    const units: YardUnit[] = [];

    const post = (path: string, body: object) => demo.call(`${path}/authorization`, { token, body });
    const deviceOf = (deviceID: string) => demo.call(`device/getdevice/${deviceID}/authorization`, { token });
    const codesOf = async (deviceID: string): Promise<readonly Row[]> => {
      const { codes } = await demo.call('device/enrolmentcodes/authorization', { token });
      return (codes as readonly Row[]).filter((code) => code['deviceID'] === deviceID);
    };
    /** React Aria announces a pending button by its label for some seconds, and its dialog is gone by then. */
    const announced = (page: Page) =>
      expect.poll(() => page.locator('[role=log] [role=img]').count()).toBe(0);
    const stepDone = (page: Page, name: string) => page.locator(`li[data-step=${name}][data-done=true]`);

    beforeAll(async () => {
      demo = await startDemoProgram(2);
      token = await demo.login('admin', demo.password);
      for (const [userID, roleID] of [
        ['olga', 'operator'],
        ['vera', 'viewer'],
      ])
        await post('user/createuser', { userID, roleID, password });
      await post('group/updategroup', { groupID: 'north', devices: ['van-01'] });
      await post('user/createuser', { userID: 'nora', roleID: 'operator', groups: ['north'], password });
    });

    afterEach(async () => {
      await closePages();
      for (const unit of units.splice(0)) await unit.close();
    });

    afterAll(async () => {
      await close();
      await demo?.stop();
    });

    it('creates a device by keyboard, and leads on to the enrolment of its unit', async () => {
      const opened = await openAs('admin');
      const { page, user, complaints } = opened;
      await reachByKey(opened, { key: 'd', heading: 'Devices' });
      await page.locator('table.devices tbody tr').first().waitFor();
      await user.goTo('Create device…');
      await user.press('Enter');
      await page.getByRole('dialog', { name: 'Create a device' }).waitFor();
      expect(new URL(page.url()).search).toBe('?open=create');
      await expect.poll(user.focused).toBe('Name');
      await user.type('Truck forty');
      await expect
        .poll(() => page.getByRole('textbox', { name: 'Device ID' }).inputValue())
        .toBe('truck-forty');
      await user.press('Tab', 'Control+a');
      await user.type('truck 40');
      await page.getByText('Use 1 to 64 of A-Z, a-z, 0-9, _ and -').waitFor();
      await user.press('Enter');
      expect((await deviceOf('truck 40'))['error']).toBeDefined();
      await user.press('Control+a');
      await user.type('truck-40');
      await user.press('Tab');
      await user.type('356938035643809');
      await user.press('Enter');
      await page.getByRole('heading', { name: 'Truck forty', level: 1 }).waitFor();
      await user.expectFocus();
      expect(await deviceOf('truck-40')).toMatchObject({
        deviceDisplayName: 'Truck forty',
        deviceUnique: '356938035643809',
      });
      expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe(
        '/console/vehicle/truck-40?tab=device&part=enrol',
      );
      await page.getByText('No data yet').waitFor();
      expect(complaints.filter((line) => !line.includes('404'))).toEqual([]);
    });

    it('does not change a device that is there when one of its id is created', async () => {
      const before = await deviceOf('van-01');
      const { page, open } = await openAs('admin');
      await open('/devices?open=create');
      await page.getByRole('textbox', { name: 'Device ID' }).fill('van-01');
      await page.getByRole('textbox', { name: 'Driver' }).fill('Somebody else');
      await page.getByText('This identifier is taken').waitFor();
      const create = page.getByRole('dialog').getByRole('button', { name: 'Create device' });
      expect(await create.isDisabled()).toBe(true);
      // One that was made since the list was read is found before anything is sent.
      await page.getByRole('textbox', { name: 'Device ID' }).fill('truck-45');
      await post('device/createdevice', { deviceID: 'truck-45', deviceDriver: 'M. Roy' });
      await create.click();
      await page.getByRole('alert').filter({ hasText: 'This identifier is taken' }).waitFor();
      expect((await deviceOf('van-01'))['deviceDriver']).toBe(before['deviceDriver']);
      expect((await deviceOf('truck-45'))['deviceDriver']).toBe('M. Roy');
    });

    it('changes what is known of a device, and sends only what was changed', async () => {
      const { page, complaints, open } = await openAs('olga');
      await open('/devices/van-01');
      const sent: string[] = [];
      page.on('request', (request) => {
        if (request.method() === 'POST') sent.push(`${request.url()} ${request.postData() ?? ''}`);
      });
      await page.getByRole('textbox', { name: 'Driver' }).fill('M. Roy');
      await page.getByRole('button', { name: 'Save changes' }).click();
      await page.getByText('Saved', { exact: true }).waitFor();
      expect(await deviceOf('van-01')).toMatchObject({ deviceDriver: 'M. Roy' });
      expect(sent).toEqual([
        `${demo.base}/api/v1/device/updatedevice/authorization {"deviceid":"van-01","devicedriver":"M. Roy"}`,
      ]);
      expect(await page.getByRole('textbox', { name: 'Driver' }).inputValue()).toBe('M. Roy');
      expect(complaints).toEqual([]);
    });

    it('keeps what was typed when the service refuses it, and says why', async () => {
      await post('device/updatedevice', { deviceid: 'van-02', uniqueid: 490154203237518 });
      const { page, open } = await openAs('olga');
      await open('/devices/van-01');
      const field = page.getByRole('textbox', { name: 'Hardware number' });
      await field.fill('490154203237518');
      await page.getByRole('button', { name: 'Save changes' }).click();
      await page.getByRole('alert').filter({ hasText: 'belongs to another device' }).waitFor();
      expect(await field.inputValue()).toBe('490154203237518');
      expect((await deviceOf('van-01'))['deviceUnique']).toBe('');
    });

    it('sorts the list by a column, and the other way round by a second press', async () => {
      const { page, user, complaints, open } = await openAs('admin');
      await open('/devices?find=van-0');
      const names = () => page.locator('table.devices tbody th a').allTextContents();
      await expect.poll(names).toEqual(['van-01', 'van-02']);
      await user.goTo('Device');
      await user.press('Enter');
      await expect.poll(() => new URL(page.url()).searchParams.get('sorted')).toBe('1');
      await user.press('Enter');
      await expect.poll(names).toEqual(['van-02', 'van-01']);
      await page.reload();
      await expect.poll(names).toEqual(['van-02', 'van-01']);
      expect(await page.getByRole('columnheader', { name: 'Device' }).getAttribute('aria-sort')).toBe(
        'descending',
      );
      expect(complaints).toEqual([]);
    });

    it('keeps filter and search in the address, and says when nothing matches', async () => {
      const { page, open } = await openAs('admin');
      await open('/devices');
      await page.locator('table.devices tbody tr').nth(1).waitFor();
      await page.getByRole('searchbox', { name: 'Find a device' }).fill('van-02');
      await expect.poll(() => page.locator('table.devices tbody tr').count()).toBe(1);
      await page.getByRole('button', { name: /^Online/ }).click();
      await page.reload();
      await page.locator('table.devices tbody tr').first().waitFor();
      expect(new URL(page.url()).search).toBe('?find=van-02&link=online');
      expect(await page.locator('table.devices tbody tr').count()).toBe(1);
      await page.getByRole('searchbox').fill('zeppelin');
      await page.getByText('No device matches').waitFor();
    });

    it.skipIf(noTerminals !== null)(
      'enrols a unit by keyboard with a code that is shown once, and ticks each step as the real agent takes it',
      async () => {
        await post('device/createdevice', { deviceID: 'truck-41' });
        const { page, user, complaints, open } = await openAs('admin');
        await open('/devices/truck-41?part=enrol');
        await page.getByText('No code was created for this device yet').waitFor();
        await user.goTo('Create enrolment code…');
        await user.press('Enter');
        await page.getByRole('dialog', { name: 'Enrolment code for truck-41' }).waitFor();
        await expect.poll(user.focused).toBe('Cancel');
        await user.goTo('Create code for truck-41');
        await user.press('Enter');
        await page.getByRole('dialog').waitFor({ state: 'detached' });
        await user.expectFocus();
        await user.goTo('Command for the unit');
        const command = await page.getByRole('textbox', { name: 'Command for the unit' }).inputValue();
        const code = await page.getByRole('textbox', { name: 'Code', exact: true }).inputValue();
        expect(command).toBe(`fleetward-agent enrol --broker ${demo.base} --code ${code}`);
        expect(await page.evaluate('String(getSelection())')).toBe(command);
        await page.getByText('0 / 3').waitFor();

        // A phone beside the vehicle has the same page, without the code.
        const phone = await openAs('admin', { width: 320 });
        await phone.open('/devices/truck-41?part=enrol');
        await phone.page.getByText('A code is shown once').waitFor();
        expect(await phone.page.content()).not.toContain(code);

        const unit = await openYardUnit();
        units.push(unit);
        expect(await unit.type(command)).toMatchObject({ exitCode: 0 });
        for (const screen of [page, phone.page]) await stepDone(screen, 'used').waitFor();
        expect(await stepDone(page, 'connected').count()).toBe(0);
        unit.start();
        for (const screen of [page, phone.page])
          for (const step of ['connected', 'fitted']) await stepDone(screen, step).waitFor();
        await page.getByText('3 / 3').waitFor();
        await user.expectFocus();
        const [listed] = await codesOf('truck-41');
        expect(listed).toMatchObject({ state: 'used', codeID: code.replaceAll('-', '').slice(0, 6) });

        // As the key is turned at the vehicle, the screen beside it follows.
        const ignition = phone.page.locator('.pair', { hasText: 'Ignition' }).locator('dd');
        await unit.play('ignition on');
        await expect.poll(() => ignition.textContent()).toBe('On');
        await unit.play('ignition off');
        await expect.poll(() => ignition.textContent()).toBe('Off');

        await announced(page);
        expect([await findFaultsInThemes(page), await findFaultsInThemes(phone.page)]).toEqual([[], []]);

        // The code was in no address and is kept nowhere.
        expect(page.url()).not.toContain(code);
        expect(await page.evaluate('JSON.stringify([sessionStorage, localStorage])')).not.toContain(code);
        await page.reload();
        await page.getByText('Used', { exact: true }).first().waitFor();
        expect(await page.content()).not.toContain(code);
        expect([...complaints, ...phone.complaints]).toEqual([]);
      },
    );

    it('draws a QR code that a camera reads as the command, in the night too', async () => {
      await post('device/createdevice', { deviceID: 'truck-42' });
      const { page, open } = await openAs('admin', { theme: 'night', width: 320 });
      await open('/devices/truck-42?part=enrol&open=code');
      await page.getByRole('button', { name: 'Create code for truck-42' }).click();
      const picture = page.getByRole('img', { name: 'QR code of this command' });
      await picture.waitFor();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      const command = await page.getByRole('textbox', { name: 'Command for the unit' }).inputValue();
      await announced(page);
      expect(await findFaultsInThemes(page)).toEqual([]);
      const png = (await picture.screenshot()).toString('base64');
      const pixels = await page.evaluate(`(async () => {
        const image = new Image();
        image.src = 'data:image/png;base64,${png}';
        await image.decode();
        const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
        const context = canvas.getContext('2d');
        context.drawImage(image, 0, 0);
        const { width, height, data } = context.getImageData(0, 0, image.width, image.height);
        return { width, height, data: [...data] };
      })()`);
      const { width, height, data } = pixels as { width: number; height: number; data: number[] };
      expect(decodeQR({ width, height, data: Uint8Array.from(data) })).toBe(command);
    });

    it('warns of a unit that is connected before it creates a code, and ends a code by its name', async () => {
      const { page, open } = await openAs('admin');
      await open('/devices/van-02?part=enrol');
      await page.getByRole('button', { name: 'Create enrolment code…' }).click();
      await page.getByText('The unit of van-02 is connected now').waitFor();
      await page.getByRole('button', { name: 'Create code for van-02' }).click();
      await page.getByRole('button', { name: 'End this code…' }).click();
      const [{ codeID } = { codeID: '' }] = await codesOf('van-02');
      const dialog = page.getByRole('dialog', { name: `End enrolment code ${String(codeID)}` });
      await dialog.getByRole('button', { name: `End code ${String(codeID)}` }).click();
      await dialog.waitFor({ state: 'detached' });
      await page.getByText('Ended', { exact: true }).waitFor();
      expect((await codesOf('van-02'))[0]).toMatchObject({ state: 'revoked' });
      expect(await page.getByRole('textbox', { name: 'Code', exact: true }).count()).toBe(0);
    });

    it('shows a new secret once, after the consequence and with the name of the device', async () => {
      await post('device/createdevice', { deviceID: 'truck-43' });
      const { page, complaints, open } = await openAs('admin');
      await open('/devices/truck-43');
      await page.getByRole('button', { name: 'Issue a new secret…' }).click();
      const dialog = page.getByRole('dialog', { name: 'New secret for truck-43' });
      await dialog.getByText('stop working at once').waitFor();
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Cancel');
      await dialog.getByRole('button', { name: 'Issue a new secret for truck-43' }).click();
      const field = dialog.getByRole('textbox', { name: 'MQTT password' });
      await field.waitFor();
      const secret = await field.inputValue();
      expect(secret).toMatch(/^[\w-]{43}$/);
      expect(await dialog.getByRole('textbox', { name: 'MQTT user name' }).inputValue()).toBe(
        'demo/truck-43',
      );
      await dialog.getByRole('button', { name: 'Close' }).click();
      await dialog.waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Issue a new secret…' }).click();
      await dialog.getByText('stop working at once').waitFor();
      expect(await page.content()).not.toContain(secret);
      expect(page.url()).not.toContain(secret);
      expect(complaints).toEqual([]);
    });

    it('deletes a device only by a button that names it, and shows it nowhere afterwards', async () => {
      await post('device/createdevice', { deviceID: 'truck-44' });
      const { page, user, open } = await openAs('admin');
      await open('/devices/truck-44');
      await page.getByRole('heading', { name: 'truck-44', level: 1 }).waitFor();
      await user.goTo('Delete the device…');
      await user.press('Enter');
      await page.getByRole('dialog', { name: 'Delete truck-44' }).waitFor();
      await expect.poll(user.focused).toBe('Cancel');
      await user.press('Enter');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(await deviceOf('truck-44')).toMatchObject({ deviceID: 'truck-44' });
      await user.goTo('Delete the device…');
      await user.press('Enter');
      await user.goTo('Delete truck-44 with its events');
      await user.press('Enter');
      await page.getByRole('heading', { name: 'Devices', level: 1 }).waitFor();
      await user.expectFocus();
      await page.locator('table.devices tbody tr').first().waitFor();
      await expect.poll(() => page.getByText('truck-44').count()).toBe(0);
      await open('/devices/truck-44');
      await page.getByText('There is no vehicle truck-44').waitFor();
    });

    it('imports a file only when no line is wrong, and says of each line what would happen', async () => {
      const { page, user, complaints, open } = await openAs('olga');
      await open('/devices');
      await page.locator('table.devices tbody tr').first().waitFor();
      await user.goTo('Import…');
      await user.press('Enter');
      const dialog = page.getByRole('dialog', { name: 'Import devices from a file' });
      const choose = async (lines: readonly string[]): Promise<void> => {
        await user.goTo('Choose a CSV file…', 'Shift+Tab');
        const choosing = page.waitForEvent('filechooser');
        await user.press('Enter');
        const buffer = Buffer.from(['deviceID,uniqueid,deviceDriver', ...lines].join('\r\n'));
        await (await choosing).setFiles({ name: 'fleet.csv', mimeType: 'text/csv', buffer });
      };
      await choose(['bus-01,111,M. Roy', 'bus 02,222,', 'van-01,,A. Tremblay']);
      await dialog.getByText('1 line is wrong').waitFor();
      const rows = dialog.locator('tbody tr');
      await expect.poll(() => rows.count()).toBe(3);
      const actions = await Promise.all((await rows.all()).map((row) => row.getAttribute('data-action')));
      expect(actions).toEqual(['error', 'create', 'update']);
      expect(await rows.first().textContent()).toMatch(/^3bus 02Wrong.*deviceID/);
      expect(await dialog.getByRole('button', { name: /^Import/ }).isDisabled()).toBe(true);
      expect(await findFaultsInThemes(page)).toEqual([]);
      expect((await deviceOf('bus-01'))['error']).toBeDefined();
      await choose(['bus-01,111,M. Roy', 'bus-02,222,', 'van-01,,A. Tremblay']);
      await dialog.getByText('Would create 2, change 1, leave 0 as they are').waitFor();
      expect((await deviceOf('bus-01'))['error']).toBeDefined();
      await user.goTo('Import 3 devices');
      await user.press('Enter');
      await dialog.getByText('Created 2, changed 1').waitFor();
      await user.expectFocus();
      expect(await deviceOf('bus-01')).toMatchObject({ deviceUnique: '111', deviceDriver: 'M. Roy' });
      expect(await deviceOf('van-01')).toMatchObject({ deviceDriver: 'A. Tremblay' });
      await user.goTo('Close');
      await user.press('Enter');
      await page.getByRole('link', { name: 'bus-02' }).waitFor();
      expect(complaints).toEqual([]);
    });

    it('offers each role what it may do, and says who may do the rest', async () => {
      const viewer = await openAs('vera');
      await viewer.open('/devices');
      await viewer.page.getByText('Viewers do not change devices').waitFor();
      await viewer.open('/devices/van-01');
      await viewer.page.getByText('Viewers do not change devices').waitFor();
      await viewer.page.getByText('This is for administrators').waitFor();
      expect(await viewer.page.getByRole('textbox').count()).toBe(0);
      await viewer.open('/devices/van-01?part=enrol');
      await viewer.page.getByText('This is for administrators').waitFor();
      const limited = await openAs('nora');
      await limited.open('/devices');
      await limited.page.getByText('You see the devices of your groups only').waitFor();
      await expect.poll(() => limited.page.locator('table.devices tbody tr').count()).toBe(1);
      expect([...viewer.complaints, ...limited.complaints]).toEqual([]);
    });

    it.each([
      [390, 844, 'de'],
      [1280, 720, 'de'],
      [1440, 900, 'en'],
    ])(
      'shows a name of 88 characters whole, without a sideways scroll, at %i x %i in %s',
      async (width, height, language) => {
        const deviceDisplayName =
          'Güterwagen Nordrhein-Westfalen Köln-Ehrenfeld Sattelzug mit Kühlauflieger Nr. 3 Reserve';
        await post('device/settings', { deviceID: 'van-01', deviceDisplayName });
        const { page, open } = await openAs('admin', { width, language });
        await page.setViewportSize({ width, height });
        for (const path of [
          '/devices?pick=van-01',
          '/devices/van-01',
          '/devices/van-01?part=settings',
          '/settings',
          '/people?list=groups&group=north',
        ]) {
          await open(path);
          const names = page.locator('main').getByText(deviceDisplayName);
          await names.first().waitFor();
          const cut = await names.evaluateAll((shown) =>
            shown
              .filter((one) => one.scrollWidth > one.clientWidth && one.clientWidth > 0)
              .map((one) => one.outerHTML),
          );
          const sideways = await page.evaluate(`(() => {
          const { scrollWidth, clientWidth } = document.querySelector('.content');
          return scrollWidth - clientWidth;
        })()`);
          expect([path, cut, sideways]).toEqual([path, [], 0]);
        }
        await post('device/settings', { deviceID: 'van-01', deviceDisplayName: 'van-01' });
      },
    );

    it.each(['fr', 'de', 'es', 'ar'])('speaks %s on the screens of devices', async (language) => {
      const opened = await openAs('admin', { language });
      const paths = ['/devices', '/devices?open=create', '/devices/van-01', '/devices/van-01?part=enrol'];
      expect(await findEnglishOn(opened, { paths })).toEqual([]);
    });

    it.each([
      [1180, 'en'],
      [320, 'en'],
      [320, 'ar'],
      [1180, 'ar'],
    ])('has no fault of accessibility in any theme at %i px in %s', async (width, language) => {
      const opened = await openAs('admin', { width, language });
      const paths = [
        '/devices',
        '/devices?open=create',
        '/devices/van-01',
        '/devices/van-01?open=secret',
        '/devices/van-01?part=enrol',
        '/devices/van-01?part=enrol&open=code',
      ];
      expect(await findFaultsOn(opened, { paths })).toEqual([]);
      expect(opened.complaints).toEqual([]);
    });

    it('offers no change while the service is gone, and keeps what is shown', async () => {
      const { page, open } = await openAs('admin');
      await open('/devices/van-01');
      await page.getByRole('textbox', { name: 'Driver' }).fill('Nobody');
      await demo.stop();
      await page.locator('.stale-notice').waitFor();
      expect(await page.getByRole('button', { name: 'Save changes' }).isDisabled()).toBe(true);
      await page.getByText('Commands wait for the connection').first().waitFor();
      await page.getByRole('button', { name: 'Delete the device…' }).click();
      const dialog = page.getByRole('dialog');
      expect(await dialog.getByRole('button', { name: 'Delete van-01 with its events' }).isDisabled()).toBe(
        true,
      );
      await page.getByRole('heading', { name: 'van-01', level: 1, includeHidden: true }).waitFor();
    });
  },
);
