// The order of orders, over real sockets: requests of one connection are handled one after the other, and a restore is
// never overtaken by a cut that came before it, however slow what lies between is, on one bridge or several.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { type HttpServiceLimits, startHttpService } from '../support/http/http-service.ts';
import { openRaw, type RawConnection, requestText } from '../support/http/raw-http.ts';
import { waitUntil } from '../support/machine/wait-until.ts';

const v1 = (path: string) => `/api/v1${path}/authorization`;
const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

type Feature = 'enginecutoff' | 'cargoaccess';

async function start(limits: HttpServiceLimits = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'fleetward-order-'));
  closers.push(() => rmSync(folder, { recursive: true, force: true }));
  const service = await startHttpService({ databasePath: join(folder, 'broker.db'), ...limits });
  closers.push(() => service.close());
  await service.account('acme');
  await service.user('acme', 'olga', 'operator');
  await service.user('acme', 'otto', 'operator');
  await service.device('acme', 'truck-1');
  await service.sql('UPDATE accounts SET cuts_per_hour = 1000');
  const ports: number[] = [];
  for (const host of service.hosts) {
    ports.push(await host.listen({ host: '127.0.0.1', port: 0, setting: 'http' }));
  }
  const tokens = { olga: await service.login('acme', 'olga'), otto: await service.login('acme', 'otto') };
  const open = async (bridge = 0): Promise<RawConnection> => {
    const connection = await openRaw(ports[bridge % ports.length] ?? 0);
    closers.push(() => connection.close());
    return connection;
  };
  const order = (feature: Feature, state: string, token = tokens.olga): string =>
    requestText({ path: v1('/command/feature'), token, body: { deviceID: 'truck-1', feature, state } });
  const unfinished = async () => {
    const rows = await service.rows('SELECT feature, state FROM commands WHERE is_final = 0');
    return rows.map(({ feature, state }) => `${String(feature)} ${String(state)}`);
  };
  const waiting = () => service.rows("SELECT approval_id FROM approvals WHERE approval_state = 'pending'");
  /** So that the next round neither repeats this one nor is one too many within a minute. */
  const nextRound = async (): Promise<void> => {
    await service.sql(
      "UPDATE commands SET is_final = 1, command_state = 'expired', issued_ms = issued_ms - 120000, asked_us = 0",
    );
    await service.sql("UPDATE approvals SET approval_state = 'expired', requested_ms = 0");
  };
  return { service, ports, tokens, open, order, unfinished, waiting, nextRound };
}

/** A pace that takes the turns of the list over and over. */
const paced = (...turns: readonly number[]) => {
  let at = 0;
  return () => turns[at++ % turns.length] ?? 0;
};

describe('pipelined requests on one connection', () => {
  it.each(['enginecutoff', 'cargoaccess'] as const)(
    'leave the restrictive state of %s behind when it was asked for first, and keep it when last',
    async (feature) => {
      const { open, order, unfinished, nextRound } = await start();
      for (let round = 0; round < 15; round++) {
        const connection = await open();
        connection.send(order(feature, '1') + order(feature, '0'));
        const answers = [await connection.next(), await connection.next()];
        expect(answers.map(({ status }) => status)).toEqual([200, 200]);
        expect(await unfinished(), `round ${round}`).toEqual([`${feature} 0`]);
        await nextRound();
        connection.send(order(feature, '0') + order(feature, '1'));
        const turned = [await connection.next(), await connection.next()];
        expect(
          turned.map(({ status }) => status),
          `round ${round}, turned: ${JSON.stringify(turned)}`,
        ).toEqual([200, 200]);
        expect(await unfinished(), `round ${round}, turned`).toEqual([`${feature} 1`]);
        await nextRound();
      }
    },
  );

  it('come after one that is answered while their own token is looked up', async () => {
    const delays: number[] = [];
    const { open, order, unfinished, nextRound, service } = await start({
      storeDelayMs: () => delays.shift() ?? 0,
    });
    for (let round = 0; round < 5; round++) {
      const connection = await open();
      // The first two accesses are the sessions of both.
      delays.push(0, 300);
      connection.send(order('enginecutoff', '0') + order('enginecutoff', '1'));
      const answers = [await connection.next(), await connection.next()];
      expect(
        answers.map(({ status }) => status),
        JSON.stringify(answers),
      ).toEqual([200, 200]);
      expect(await unfinished(), `round ${round}`).toEqual(['enginecutoff 1']);
      await nextRound();
    }
    const token = await service.login('acme', 'olga');
    const connection = await open();
    delays.splice(0, delays.length, 0, 300);
    const logout = requestText({ method: 'GET', path: '/api/v1/auth/logout/acme/olga', token });
    connection.send(logout + order('enginecutoff', '1', token));
    const answers = [await connection.next(), await connection.next()];
    expect(answers.map(({ status }) => status)).toEqual([200, 401]);
  });

  it('are handled in order although the store is slow for the first of them', async () => {
    const { open, order, unfinished } = await start({ storeDelayMs: paced(9, 0, 4, 0, 0, 7, 1) });
    const connection = await open();
    for (let round = 0; round < 8; round++) {
      connection.send(order('enginecutoff', '1') + order('enginecutoff', '0'));
      await connection.next();
      await connection.next();
      expect(await unfinished(), `round ${round}`).toEqual(['enginecutoff 0']);
    }
  });

  it('change the settings of one device in the order in which they were sent', async () => {
    const { service, open } = await start({ storeDelayMs: paced(5, 0, 0, 3, 0) });
    const token = await service.login('acme', 'admin');
    const connection = await open();
    const change = (deviceDescription: string) =>
      requestText({
        path: v1('/device/updatedevice'),
        token,
        body: { deviceID: 'truck-1', deviceDescription },
      });
    for (let round = 0; round < 8; round++) {
      const names = Array.from({ length: 6 }, (_unused, at) => `round ${round} name ${at}`);
      connection.send(names.map(change).join(''));
      for (const _name of names) expect((await connection.next()).status).toBe(200);
      const [row] = await service.rows("SELECT description FROM devices WHERE device_id = 'truck-1'");
      expect(row).toEqual({ description: names.at(-1) });
    }
  });

  it('are all answered, however many, rejected ones too, and continue after a client disconnects', async () => {
    const { service, ports, tokens, open, order, unfinished } = await start();
    const connection = await open();
    const look = requestText({ method: 'GET', path: v1('/device/getdevice/truck-1'), token: tokens.olga });
    const wrong = requestText({ method: 'GET', path: v1('/device/getdevice/truck-1'), token: 'nothing' });
    const nowhere = requestText({ method: 'GET', path: '/nowhere', token: tokens.olga });
    connection.send(Array.from({ length: 100 }, () => look + wrong + nowhere).join(''));
    for (let at = 0; at < 100; at++) {
      const statuses = [await connection.next(), await connection.next(), await connection.next()];
      expect(statuses.map(({ status }) => status)).toEqual([200, 401, 404]);
    }
    const leaver = await openRaw(ports[0] ?? 0);
    closers.push(() => leaver.close());
    leaver.send(order('enginecutoff', '1') + order('enginecutoff', '0'));
    await leaver.next();
    leaver.close();
    await waitUntil('the second order', async () => (await unfinished()).includes('enginecutoff 0'));
    expect(await unfinished()).toEqual(['enginecutoff 0']);
    expect(service.logLines.filter((line) => line.includes('http_failure'))).toEqual([]);
  });
});

describe('a restore on another connection', () => {
  const gaps = [0, 0, 1, 1, 2, 3, 5];

  it.each([
    ['without delay', undefined],
    ['over a slow store', () => paced(6, 0, 2, 0, 9, 1, 0, 4, 0, 0, 3)],
    ['when the look-up of the first request hangs', () => paced(40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)],
  ] as const)('is never overtaken by a cut that was sent before it, %s', async (_how, makePace) => {
    const bench = await start(makePace === undefined ? {} : { storeDelayMs: makePace() });
    const { open, order, unfinished, nextRound, tokens } = bench;
    const [first, second] = [await open(0), await open(1)];
    for (const feature of ['enginecutoff', 'cargoaccess'] as const) {
      for (let round = 0; round < 21; round++) {
        first.send(order(feature, '1'));
        await sleep(gaps[round % gaps.length] ?? 0);
        second.send(order(feature, '0', tokens.otto));
        const [cut, restore] = await Promise.all([first.next(), second.next()]);
        expect(restore.status).toBe(200);
        if (cut.status !== 200) expect(cut.json['error']).toMatchObject({ code: 'conflict' });
        expect(await unfinished(), `${feature}, round ${round}`).toEqual([`${feature} 0`]);
        await nextRound();
      }
    }
  });

  it('wins too when it is a repeat of one that is still open', async () => {
    const { open, order, unfinished, nextRound } = await start({
      storeDelayMs: paced(30, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    });
    const [first, second] = [await open(0), await open(1)];
    for (let round = 0; round < 12; round++) {
      second.send(order('enginecutoff', '0'));
      await second.next();
      first.send(order('enginecutoff', '1'));
      await sleep(1);
      second.send(order('enginecutoff', '0'));
      await Promise.all([first.next(), second.next()]);
      expect(await unfinished(), `round ${round}`).toEqual(['enginecutoff 0']);
      await nextRound();
    }
  });

  it('leaves no request for a second user behind that was sent before it', async () => {
    const { service, open, order, unfinished, waiting, nextRound, tokens } = await start({
      storeDelayMs: paced(25, 0, 0, 0, 3, 0, 0, 0, 0),
    });
    await service.sql('UPDATE accounts SET needs_approval = 1');
    const [first, second] = [await open(0), await open(1)];
    for (let round = 0; round < 15; round++) {
      first.send(order('enginecutoff', '1'));
      await sleep(gaps[round % gaps.length] ?? 0);
      second.send(order('enginecutoff', '0', tokens.otto));
      await Promise.all([first.next(), second.next()]);
      expect(await waiting(), `round ${round}`).toEqual([]);
      expect(await unfinished()).toEqual(['enginecutoff 0']);
      await nextRound();
    }
  });

  it('is not undone by an approval that was sent before it', async () => {
    const { service, open, order, unfinished, nextRound, tokens } = await start({
      storeDelayMs: paced(25, 0, 0, 0, 3, 0, 0, 0, 0),
    });
    await service.sql('UPDATE accounts SET needs_approval = 1');
    const [first, second] = [await open(0), await open(1)];
    for (let round = 0; round < 12; round++) {
      second.send(order('enginecutoff', '1'));
      const { approvalID } = (await second.next()).json;
      expect(approvalID).toMatch(/^[0-9a-f]{32}$/);
      first.send(requestText({ path: v1('/command/approve'), token: tokens.otto, body: { approvalID } }));
      await sleep(gaps[round % gaps.length] ?? 0);
      second.send(order('enginecutoff', '0'));
      await Promise.all([first.next(), second.next()]);
      expect(await unfinished(), `round ${round}`).toEqual(['enginecutoff 0']);
      await nextRound();
    }
  });

  it('is not withdrawn by an earlier withdrawal of the restore before it', async () => {
    const { open, order, unfinished, nextRound, tokens } = await start({
      storeDelayMs: paced(30, 0, 0, 0, 0, 0, 0, 0),
    });
    const [first, second] = [await open(0), await open(1)];
    for (let round = 0; round < 12; round++) {
      second.send(order('enginecutoff', '0'));
      const { commandID } = (await second.next()).json;
      first.send(requestText({ path: v1('/command/cancel'), token: tokens.otto, body: { commandID } }));
      await sleep(1);
      second.send(order('enginecutoff', '0'));
      await Promise.all([first.next(), second.next()]);
      expect(await unfinished(), `round ${round}`).toEqual(['enginecutoff 0']);
      await nextRound();
    }
  });

  it('does not stand against a cut that is sent after its answer', async () => {
    const { open, order, unfinished, nextRound, tokens } = await start();
    const [first, second] = [await open(0), await open(0)];
    for (let round = 0; round < 20; round++) {
      second.send(order('enginecutoff', '0', tokens.otto));
      expect((await second.next()).status).toBe(200);
      first.send(order('enginecutoff', '1'));
      expect((await first.next()).status).toBe(200);
      expect(await unfinished(), `round ${round}`).toEqual(['enginecutoff 1']);
      await nextRound();
    }
  });

  it('is a new one when the restore before it is being withdrawn', async () => {
    const { service, open, order, tokens } = await start();
    const connection = await open();
    connection.send(order('enginecutoff', '0'));
    const { commandID } = (await connection.next()).json;
    await service.sql("UPDATE commands SET command_state = 'sent', state_rank = 1");
    connection.send(requestText({ path: v1('/command/cancel'), token: tokens.olga, body: { commandID } }));
    connection.send(order('enginecutoff', '0'));
    expect((await connection.next()).status).toBe(200);
    const again = (await connection.next()).json;
    expect(again['commandID']).not.toBe(commandID);
    expect(
      await service.rows('SELECT command_id FROM commands WHERE is_final = 0 AND cancel_by IS NULL'),
    ).toEqual([{ command_id: again['commandID'] }]);
  });
});
