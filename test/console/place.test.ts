// What people and units say of one vehicle, in Chromium against the real broker: the address of a place, people aboard, and messages of vehicles.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { whyNoConsole } from '../support/http/console-page.ts';
import {
  createUserPages,
  findEnglishOn,
  findFaultsOn,
  memberPassword as password,
} from '../support/http/user-pages.ts';
import { type DemoProgram, startDemoProgram } from '../support/programs/demo-program.ts';
import { connectOwnUnit, type OwnUnit } from '../support/programs/own-unit.ts';

const why = whyNoConsole();

const codes = { location: 61_472, message: 4392, embarked: 63_532 } as const;

describe.skipIf(why !== null)(
  why === null
    ? 'place, people and messages of a vehicle'
    : `place, people and messages of a vehicle [${why}]`,
  () => {
    let demo: DemoProgram;
    let unit: OwnUnit;
    const { openAs, closePages, close } = createUserPages(() => demo);
    let token = '';

    const addressOf = async (deviceID: string): Promise<unknown> =>
      (await demo.call(`device/getdevice/${deviceID}/authorization`, { token }))['deviceLastValidAddress'];
    const unreadOf = async (userID: string): Promise<readonly unknown[]> => {
      const as = await demo.login(userID, password);
      const answer = await demo.call('notificationqueue/getMessages/authorization', { token: as });
      return (answer['messages'] as readonly { readonly message: string }[]).map(({ message }) => message);
    };

    beforeAll(async () => {
      demo = await startDemoProgram(1);
      token = await demo.login('admin', demo.password);
      for (const [userID, roleID] of [
        ['olga', 'operator'],
        ['vera', 'viewer'],
      ] as const)
        await demo.call('user/createuser/authorization', { token, body: { userID, roleID, password } });
      unit = await connectOwnUnit(demo, token, 'bus-7');
    });

    afterEach(closePages);

    afterAll(async () => {
      unit?.end();
      await close();
      await demo?.stop();
    });

    it('says that nothing was counted, and then how many of how many the vehicle has reported', async () => {
      const { page, open } = await openAs('vera');
      await open('/vehicle/bus-7');
      const card = page.getByRole('region', { name: 'Place and people' });
      await card.getByText('The vehicle has reported no count').waitFor();
      await card.getByText('No position yet').waitFor();
      await demo.call('device/settings/authorization', {
        token,
        body: { deviceID: 'bus-7', maxPassengers: 3 },
      });
      await unit.report({ statusCode: codes.embarked, attributes: { passengers: 2 } });
      await card.getByText('2 of 3').waitFor();
      await unit.report({ statusCode: codes.embarked, attributes: { passengers: 4 } });
      await card.getByText('4 of 3').waitFor();
      await card.getByText('More than it may carry').waitFor();
    });

    it('writes the address of the position that is shown, and takes it away, by keyboard', async () => {
      await unit.report({ statusCode: codes.location, latitude: 52.1, longitude: 5.2 });
      const { page, user, complaints, open } = await openAs('olga');
      await open('/vehicle/bus-7');
      await page.getByLabel('Address of the last position').waitFor();
      await user.goTo('Address of the last position');
      await page.keyboard.type('Dock 4, Utrecht');
      await user.goTo('Save the address');
      await user.press('Enter');
      await page.locator('.hero-facts').getByText('Dock 4, Utrecht').waitFor();
      expect(await addressOf('bus-7')).toBe('Dock 4, Utrecht');
      await page.getByLabel('Address of the last position').fill('');
      await user.goTo('Save the address');
      await user.press('Enter');
      await expect.poll(() => addressOf('bus-7')).toBe('');
      await page.locator('.hero-facts').getByText('Dock 4, Utrecht').waitFor({ state: 'detached' });
      expect(complaints).toEqual([]);
    });

    it('says in words where it is before it is cut, with the coordinates beside them', async () => {
      await unit.report({ statusCode: codes.location, latitude: 52.1, longitude: 5.21 });
      const { page, complaints, open } = await openAs('olga');
      await open('/vehicle/bus-7?cut=ask');
      const where = page.getByRole('dialog').locator('.place');
      await where.getByText('52.10000, 5.21000').waitFor();
      await expect
        .poll(() => where.innerText())
        .toMatch(/^(in .+|[\d.,]+\skm\s(N|NE|E|SE|S|SW|W|NW)\sof\s.+)/);
      expect(complaints).toEqual([]);
    });

    it('shows a viewer the address, and no form', async () => {
      await unit.report({ statusCode: codes.location, latitude: 52.1, longitude: 5.3 });
      await demo.call('device/updateaddress/authorization', {
        token,
        body: { deviceID: 'bus-7', timestamp: 0, address: 'Gate 9' },
      });
      const { page, open } = await openAs('vera');
      await open('/vehicle/bus-7');
      const card = page.getByRole('region', { name: 'Place and people' });
      await card.getByText('Gate 9').waitFor();
      expect(await card.getByRole('textbox').count()).toBe(0);
    });

    it('marks the messages of vehicles that are shown as read, for this user only', async () => {
      await unit.report({ statusCode: codes.message, attributes: { message: 'Dock 4 is closed' } });
      const { page, user, complaints, open } = await openAs('olga');
      await open('/vehicle/bus-7?tab=messages');
      await page.getByText('Dock 4 is closed').waitFor();
      await page.getByRole('link', { name: 'Go to the inbox' }).click();
      const card = page.getByRole('region', { name: 'Messages of vehicles' });
      await card.getByText('Dock 4 is closed').waitFor();
      await card.getByRole('link', { name: 'bus-7' }).waitFor();
      await unit.report({ statusCode: codes.message, attributes: { message: 'Dock 5 too' } });
      await card.getByText('Dock 5 too').waitFor();
      await user.goTo('Mark these as read');
      await user.press('Enter');
      await card.getByText('No unread messages of vehicles').waitFor();
      await user.expectFocus();
      expect(await unreadOf('olga')).toEqual([]);
      expect(await unreadOf('vera')).toEqual(['Dock 4 is closed', 'Dock 5 too']);
      expect(complaints).toEqual([]);
    });

    it.each(['fr', 'de', 'es', 'ar'])('speaks %s', async (language) => {
      const opened = await openAs('admin', { language });
      const names = ['Dock 4 is closed', 'Dock 5 too', 'Gate 9'];
      const paths = ['/vehicle/bus-7', '/vehicle/bus-7?tab=messages', '/inbox'];
      expect(await findEnglishOn(opened, { paths, names })).toEqual([]);
    });

    it.each([
      [1180, 'en'],
      [320, 'ar'],
    ])('has no fault of accessibility in any theme at %i px in %s', async (width, language) => {
      const opened = await openAs('admin', { width, language });
      expect(await findFaultsOn(opened, { paths: ['/vehicle/bus-7', '/inbox'] })).toEqual([]);
      expect(opened.complaints).toEqual([]);
    });
  },
);
