// Trackers and phones in Chromium against the real broker: an administrator finds the lines for a Traccar server, lets new trackers in, makes a
// token, and connects a phone, whose address works.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConsoleFiles } from '../../broker/adapters/storage/console-files.ts';
import {
  createConsoleBrowsers,
  findFaultsInThemes,
  openConsole,
  whyNoConsole,
} from '../support/http/console-page.ts';
import { startHttpService } from '../support/http/http-service.ts';

const why = whyNoConsole();
const built = new URL('../../dist/broker/console/', import.meta.url).pathname;

describe.skipIf(why !== null)(why === null ? 'trackers and phones' : `trackers and phones [${why}]`, () => {
  const browsers = createConsoleBrowsers();
  let service: Awaited<ReturnType<typeof startHttpService>>;
  let base = '';
  const open = async (userID: string, path: string) => {
    const session = { token: await service.login('demo', userID), userID };
    const opened = await openConsole(browsers, { base, session, width: 1180 });
    await opened.open(path);
    return opened;
  };

  beforeAll(async () => {
    service = await startHttpService({ console: why === null ? await readConsoleFiles(built) : null });
    await service.account('demo');
    await service.user('demo', 'olga', 'operator');
    base = `http://127.0.0.1:${await service.http.listen({ host: '127.0.0.1', port: 0 })}`;
  });
  afterAll(async () => {
    await browsers.close();
    await service?.close();
  });

  it('are connected by an administrator, with lines, a token and an address that work', async () => {
    const { page, complaints, context } = await open('admin', '/devices');
    await page.getByRole('link', { name: 'Trackers and phones' }).click();
    await page.getByRole('heading', { name: 'Trackers and phones' }).waitFor();
    const lines = page.getByRole('textbox', { name: 'Lines for conf/traccar.xml' });
    expect(await lines.inputValue()).toContain(
      `<entry key='forward.url'>${base}/api/v1/tracker/traccar/authorization</entry>\n<entry key='forward.header'>Authorization: Bearer TOKEN</entry>`,
    );
    await page.getByText('Refused', { exact: true }).waitFor();
    await page.getByText('this service knows no address of the server').waitFor();
    expect(await findFaultsInThemes(page)).toEqual([]);

    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Add new trackers' }).click();
    await dialog.getByText('up to the number of devices').waitFor();
    await dialog.getByRole('button', { name: 'Add new trackers' }).click();
    await page.getByText('Added at their first position', { exact: true }).waitFor();

    await page.getByRole('button', { name: 'Create lines with a token' }).click();
    await dialog.getByRole('button', { name: 'Create lines with a token' }).click();
    const filled = await dialog.getByRole('textbox', { name: 'Lines for conf/traccar.xml' }).inputValue();
    const [, token = ''] = /key='forward.header'>Authorization: Bearer (\S+)</.exec(filled) ?? [];
    const at = new Date().toISOString();
    const position = { serverTime: at, fixTime: at, valid: true, latitude: 43.7, longitude: -79.4 };
    const answer = await fetch(`${base}/api/v1/tracker/traccar/authorization`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ position, device: { id: 7, uniqueId: 'imei-7', name: 'Van 7' } }),
    });
    expect(await answer.json()).toMatchObject({ stored: 1 });
    await dialog.getByRole('button', { name: 'Close' }).last().click();

    await page.getByRole('button', { name: 'Connect a phone' }).click();
    await dialog.getByRole('textbox', { name: 'ID' }).fill('phone-ann');
    // React Aria announces a change that is under way by an element that is gone when it has ended: looked at before.
    await page.locator('[role=log] > div').first().waitFor({ state: 'detached' });
    expect(await findFaultsInThemes(page)).toEqual([]);
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Ann');
    await dialog.getByRole('button', { name: 'Connect a phone' }).click();
    const address = await dialog.getByRole('textbox', { name: /Address for Traccar Client/ }).inputValue();
    expect(
      (await fetch(address, { method: 'POST', body: new URLSearchParams('lat=43.7&lon=-79.4') })).status,
    ).toBe(200);
    expect(await dialog.getByRole('textbox', { name: 'Address for OsmAnd' }).inputValue()).toContain(
      `${address}?lat={0}&`,
    );
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    expect(complaints).toEqual([]);
    expect(
      await service.rows('SELECT device_id FROM devices WHERE is_foreign = 1 ORDER BY device_id'),
    ).toEqual([{ device_id: 'imei-7' }, { device_id: 'phone-ann' }]);
    await context.close();
  });

  it('are no matter of an operator, who is offered none of it', async () => {
    const { page, context } = await open('olga', '/devices');
    await page.getByRole('button', { name: 'Import' }).waitFor();
    expect(await page.getByRole('link', { name: 'Trackers and phones' }).count()).toBe(0);
    await context.close();
    const direct = await open('olga', '/trackers');
    await direct.page.getByText('Administrators connect trackers and phones').waitFor();
    expect(await direct.page.getByRole('button', { name: 'Connect a phone' }).count()).toBe(0);
    await direct.context.close();
  });
});
