// The whole chain with real processes: a recorded receiver on one serial line, pymodbus as the board on another, the
// agent, the broker, and an app that asks over HTTP. Then both are killed without mercy, again and again.
import { rmSync } from 'node:fs';
import SqliteConnection from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSeededEntropy } from '../../simulator/core/random.ts';
import { statusCodes } from '../../src/core/events/status-codes.ts';
import { everyEventIn } from '../support/database/stored-events.ts';
import { requires } from '../support/machine/requires.ts';
import { readShared, sharedData, sharedTitle } from '../support/machine/shared-data.ts';
import { hangMs, waitUntil } from '../support/machine/wait-until.ts';
import {
  type Api,
  createBrokerSetup,
  openApi,
  type Program,
  provision,
  startBroker,
  startProgram,
} from '../support/programs/fleet-processes.ts';
import { wireVehicle } from '../support/programs/wired-vehicle.ts';
import type { GnssSource } from '../support/serial/gnss-source.ts';
import { type Slave, sleep } from '../support/serial/pty-bus.ts';
import { commissionDisk } from '../support/storage/commissioned-disk.ts';

const { missing, python } = requires({
  commands: ['socat'],
  python: ['pymodbus', 'serial_asyncio'],
  debian: ['socat', 'python3-pymodbus', 'python3-serial-asyncio'],
});
const name = `a vehicle, end to end${missing === null ? '' : ` (${missing})`}`;
const capture = 'nmea/google-mtv-f9k-a.nmea.gz';
/** Of the agent, and as many of the broker; `npm run test:nightly` takes more. */
const kills = Number(process.env['FLEETWARD_TEST_CHAIN_KILLS'] ?? '1');

interface StateEntry {
  readonly state: string;
  readonly pendingState: string | null;
  readonly pendingReason: string | null;
  readonly commandState: string | null;
  readonly verdict: {
    readonly code: string;
    readonly rules: readonly Readonly<Record<string, unknown>>[];
    readonly at: number;
  } | null;
}

interface Device {
  readonly hasPendingCommands: string;
  readonly deviceLastValidLatitude: number;
  readonly deviceLastValidLongitude: number;
  readonly deviceLastHeartbeat: number;
  readonly sensors: Readonly<Record<string, { readonly state: string }>>;
  readonly state: Readonly<Record<string, StateEntry>>;
}

interface Metadata {
  readonly metadata: readonly {
    readonly statusCode: string;
    readonly count: string;
    readonly timestamp?: number;
  }[];
}

describe.skipIf(missing !== null)(name, () => {
  const setup = createBrokerSetup('chain');
  const { folder } = setup;
  const cleanups: (() => Promise<void>)[] = [];
  let broker: Program;
  let agent: Program;
  const startBrokerAgain = async (): Promise<void> => {
    broker = await startBroker(setup);
    cleanups.push(async () => broker.signal('SIGKILL'));
  };
  let api: Api;
  let slave: Slave;
  let gnss: GnssSource;
  let config = '';

  const device = (): Promise<Device> => api.get('/device/getdevice/truck-1/authorization');
  /** Waits until the HTTP service shows it. */
  const shows = (what: string, isTrue: (found: Device) => boolean, limitMs = hangMs): Promise<Device> => {
    let last: Device | null = null;
    const seen = (): string =>
      `${JSON.stringify({ ...last?.state, sensors: last?.sensors })}; the agent said ${agent.lines
        .slice(-5)
        .map((line) => JSON.stringify(line))
        .join(' ')}; the broker complained ${broker.complaints()}`;
    return waitUntil(
      what,
      async () => {
        last = await device();
        return isTrue(last) ? last : null;
      },
      { limitMs, everyMs: 100, seen },
    );
  };
  /** The code of each record: an entry stands for `count` of them. */
  const codes = async (): Promise<number[]> => {
    const { metadata } = await api.get<Metadata>('/eventdata/devicemetadata/truck-1/0/0/authorization');
    return metadata.flatMap(({ statusCode, count }) => Array<number>(Number(count)).fill(Number(statusCode)));
  };
  const startAgent = (): void => {
    const started = startProgram('agent', ['start', '--config', config]);
    cleanups.push(async () => started.signal('SIGKILL'));
    agent = started;
  };

  beforeAll(async () => {
    const identity = provision(setup, 'truck-1');
    await startBrokerAgain();
    api = await openApi(setup);
    const wires = await wireVehicle({ ...setup, ...identity }, python ?? '');
    ({ slave, gnss, config } = wires);
    cleanups.push(
      () => slave.close(),
      () => wires.close(),
    );
    await commissionDisk(`${folder}/outbox.db`, {
      accountID: 'demo',
      deviceID: 'truck-1',
      profileName: 'waveshare-relay-d',
    });
    startAgent();
    await shows('the first words of the agent', (found) => found.deviceLastHeartbeat > 0);
  });

  afterAll(async () => {
    for (const cleanup of cleanups.toReversed()) await cleanup();
    rmSync(folder, { recursive: true, force: true });
  });

  it.skipIf(sharedData(capture) === null)(
    sharedTitle('shows the last position of a recorded drive', capture),
    async () => {
      // Input 0 is the ignition and input 6 the motion sensor of this board: on the road both are active.
      await slave.set('input', 0, 1);
      await slave.set('input', 6, 1);
      await gnss.play(lastEpochs(readShared(capture), 20));
      await slave.set('input', 6, 0);
      await slave.set('input', 0, 0);
      const fixes = new TextDecoder()
        .decode(readShared(capture.replace('.nmea.gz', '.fixes.jsonl')))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { lat: number; lon: number });
      const isAt = (found: Device, fix: { lat: number; lon: number } | undefined): boolean =>
        fix !== undefined &&
        Math.abs(found.deviceLastValidLatitude - fix.lat) < 2e-6 &&
        Math.abs(found.deviceLastValidLongitude - fix.lon) < 2e-6;
      await shows(
        'the last recorded position',
        (found) => isAt(found, fixes.at(-1)) || isAt(found, fixes.at(-2)),
      );
    },
  );

  it('shows ignition and panic', async () => {
    const { deviceLastValidLatitude, deviceLastValidLongitude } = await device();
    gnss.stand(deviceLastValidLatitude || 43.65, deviceLastValidLongitude || -79.35);
    await slave.set('input', 0, 1);
    await shows('ignition on', (found) => found.sensors['ignition']?.state === '1');
    await slave.set('input', 1, 1);
    await shows('panic', (found) => found.sensors['panic']?.state === '1');
    await slave.set('input', 1, 0);
    await shows('panic released', (found) => found.sensors['panic']?.state === '0');
    expect(await codes()).toEqual(
      expect.arrayContaining([
        statusCodes.IGNITION_ON.code,
        statusCodes.PANIC_ON.code,
        statusCodes.PANIC_OFF.code,
      ]),
    );
  });

  it('holds a cut back while ignition is on, and says why', async () => {
    await api.post('/command/feature/authorization', {
      deviceID: 'truck-1',
      feature: 'enginecutoff',
      state: '1',
    });
    const ignition = { rule: 'ignition_off', isMet: false, value: 'on', needed: 'off' };
    // The first reason may be a board that this machine keeps silent.
    const found = await shows('the reason', ({ state }) =>
      (state['enginecutoff']?.verdict?.rules ?? []).some(
        ({ rule, value }) => rule === ignition.rule && value === ignition.value,
      ),
    );
    expect(found.state['enginecutoff']).toMatchObject({
      state: '0',
      pendingState: '1',
      pendingReason: expect.stringContaining('Ignition is on'),
    });
    expect(found.hasPendingCommands).toBe('true');
    const verdict = found.state['enginecutoff']?.verdict;
    expect(verdict).toMatchObject({
      code: expect.any(String),
      rules: expect.arrayContaining([expect.objectContaining(ignition)]),
      at: expect.any(Number),
    });
    // In seconds, whatever the machine took to show it.
    expect(Math.abs((verdict?.at ?? 0) - Date.now() / 1000)).toBeLessThan(600);
    const { commands } = await api.get<{ commands: readonly Pick<StateEntry, 'verdict'>[] }>(
      '/command/list/truck-1/authorization',
    );
    expect(commands[0]?.verdict?.rules).toContainEqual(expect.objectContaining(ignition));
    // The agent polls on and judges anew meanwhile; however slow the machine, it must not move.
    await sleep(3000);
    expect(await slave.coil(0)).toBe(false);
  });

  it('cuts once ignition is off and the vehicle stands, and proves it', async () => {
    await slave.set('input', 0, 0);
    // Nobody saw it stop, so it has to hold its place for a minute.
    const found = await shows('the cut', (seen) => seen.state['enginecutoff']?.state === '1', 300_000);
    expect(found.hasPendingCommands).toBe('false');
    expect(found.state['enginecutoff']).toMatchObject({ pendingState: null, pendingReason: null });
    expect(await slave.coil(0)).toBe(true);
    const written = slave.writes.filter(({ write, address }) => write === 'coil' && address === 0);
    // Once; or again after it was taken back, because this machine kept the board silent for a moment.
    expect(written.map(({ value }) => value).join('')).toMatch(/^1(01)*$/);
  });

  it('answers when it is asked for its health, its log and its position', async () => {
    const answered = async (requestID: string): Promise<Readonly<Record<string, unknown>>> => {
      const path = `/diagnostic/request/${requestID}/authorization`;
      return waitUntil(
        `an answer to request ${requestID}`,
        async () => {
          const found = await api.get<{ requestState: string; answer: Readonly<Record<string, unknown>> }>(
            path,
          );
          return found.requestState === 'answered' && found.answer;
        },
        { everyMs: 100 },
      );
    };
    const ask = async (kind: string): Promise<string> => {
      const body = { deviceID: 'truck-1', kind };
      return (await api.post<{ requestID: string }>('/diagnostic/request/authorization', body)).requestID;
    };
    // A receiver that this machine delays has no fix for a moment.
    const withFix = (askOnce: () => Promise<string>) =>
      waitUntil(
        'an answer with a fix',
        async () => {
          const answer = await answered(await askOnce());
          return answer['gps'] === 'fix' && answer;
        },
        { everyMs: 1000 },
      );
    expect(await withFix(() => ask('diagnostic'))).toMatchObject({
      board: 'open',
      gps: 'fix',
      disk: expect.any(Number),
      rssMb: expect.any(Number),
      queueDepth: expect.any(Number),
      mbCrc: 0,
    });
    const log = await ask('log');
    expect(await answered(log)).toEqual({});
    const read = await api.get<{ isWhole: boolean; log: string }>(`/diagnostic/log/${log}/authorization`);
    expect(read.isWhole).toBe(true);
    const lines = read.log.trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toContain('relay_order_done');
    const locate = '/command/send/truck-1/61504/authorization';
    const { deviceLastValidLatitude } = await device();
    const place = await withFix(async () => (await api.get<{ commandID: string }>(locate)).commandID);
    expect(place).toMatchObject({ gps: 'fix', kind: 'position' });
    expect(place['latitude']).toBeCloseTo(deviceLastValidLatitude, 3);
  });

  it(`loses and doubles nothing when agent and broker are killed ${kills} times each`, async () => {
    const random = createSeededEntropy('chain');
    let door = 0;
    for (let kill = 0; kill < kills * 2; kill++) {
      const boots = kill % 2 === 0 ? kill / 2 + 1 : 0;
      // Something is always on its way: the door moves a few times between two kills, until each run of the agent has stored an event.
      const untilMs = performance.now() + 100 + random.fraction() * 1400;
      await waitUntil('an event of this run of the agent', async () => {
        door = 1 - door;
        await slave.set('input', 3, door);
        await sleep(250 + random.fraction() * 200);
        return performance.now() > untilMs && groupByBoot(storedEvents(folder)).size >= boots;
      });
      if (kill % 2 === 0) {
        agent.signal('SIGKILL');
        await agent.ended();
        startAgent();
      } else {
        broker.signal('SIGKILL');
        await broker.ended();
        await startBrokerAgain();
      }
    }
    // Calm: a last change must arrive, and everything before it with it.
    await slave.set('input', 3, 1 - door);
    await shows('the last door state', (seen) => seen.sensors['cargoDoor']?.state === String(1 - door));
    // The vehicle lives on, and what is urgent overtakes the rest: a number may be missing for a moment, a lost one for ever.
    const isWhole = (events: readonly { readonly seq: number }[]): boolean =>
      Math.max(...events.map((event) => event.seq)) === events.length;
    let rows = storedEvents(folder);
    const isAllThere = (): boolean => {
      rows = storedEvents(folder);
      const boots = [...groupByBoot(rows).values()];
      return outboxRows(folder) === 0 && boots.length === kills + 1 && boots.every(isWhole);
    };
    await waitUntil('an empty outbox, and every number stored', isAllThere);
    const perBoot = groupByBoot(rows);
    console.log(
      `${rows.length} events of ${perBoot.size} boots after ${kills} kills of the agent and ${kills} of the broker`,
    );
    for (const [boot, events] of perBoot) {
      const seqs = events.map((event) => event.seq).sort((a, b) => a - b);
      expect(seqs, `boot ${boot} is whole`).toEqual(
        Array.from({ length: seqs.length }, (_unused, index) => index + 1),
      );
    }
    // The vehicle lives on while we count: HTTP lies between two looks at the table.
    const shown = (await codes()).length;
    expect(shown).toBeGreaterThanOrEqual(rows.length);
    expect(shown).toBeLessThanOrEqual(storedEvents(folder).length);
    expect(await slave.coil(0)).toBe(true);
    expect(slave.writes.filter((write) => write.write === 'coil' && write.address === 0)).toHaveLength(1);
  });

  it('restores the engine at once, ignition on or not', async () => {
    await slave.set('input', 0, 1);
    await api.post('/command/feature/authorization', {
      deviceID: 'truck-1',
      feature: 'enginecutoff',
      state: '0',
    });
    await shows('the restored engine', (seen) => seen.state['enginecutoff']?.state === '0');
    expect(await slave.coil(0)).toBe(false);
  });

  it('stops in good order on SIGTERM and says so', async () => {
    agent.signal('SIGTERM');
    expect(await agent.ended()).toBe(0);
    expect((await codes()).includes(statusCodes.SHUTDOWN.code)).toBe(true);
    broker.signal('SIGTERM');
    expect(await broker.ended()).toBe(0);
  });
});

/** The end of a drive, without GSV: 9600 baud cannot carry that once a second, so receivers at this speed leave it out. */
function lastEpochs(bytes: Uint8Array, count: number): Uint8Array {
  const lines = new TextDecoder('latin1')
    .decode(bytes)
    .split(/(?<=\n)/)
    .filter((line) => !line.includes('GSV'));
  const starts = lines.flatMap((line, index) => (line.startsWith('$GNRMC') ? [index] : []));
  return new TextEncoder().encode(lines.slice(starts.at(-count)).join(''));
}

function storedEvents(folder: string): { boot: string; seq: number }[] {
  const database = new SqliteConnection(`${folder}/fleet.db`, { readonly: true });
  const rows = database.prepare(`SELECT boot, seq FROM ${everyEventIn(database)}`).all() as {
    boot: string;
    seq: number;
  }[];
  database.close();
  return rows;
}

function groupByBoot(rows: readonly { boot: string; seq: number }[]): Map<string, { seq: number }[]> {
  const groups = new Map<string, { seq: number }[]>();
  for (const row of rows) groups.set(row.boot, [...(groups.get(row.boot) ?? []), row]);
  return groups;
}

/** Rows in the outbox that are not known to be acknowledged; up to 64 may wait for their deletion. */
function outboxRows(folder: string): number {
  const database = new SqliteConnection(`${folder}/outbox.db`, { readonly: true });
  const tables = database
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'p_'")
    .all() as { name: string }[];
  const count = tables.reduce(
    (sum, { name }) => sum + (database.prepare(`SELECT count(*) AS n FROM ${name}`).get() as { n: number }).n,
    0,
  );
  database.close();
  return count > 64 ? count : 0;
}
