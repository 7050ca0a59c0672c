// The real agent with a real clock that lies: libfaketime answers for CLOCK_REALTIME and is set to other years while the
// process runs, as NTP does on a unit without an RTC. Monotonic time is the kernel's own and must not notice; every event
// arrives once, in order, and with its true time once the broker has told it.
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import SqliteConnection from 'better-sqlite3';
import { afterAll, describe, expect, it } from 'vitest';
import { statusCodes } from '../../src/core/events/status-codes.ts';
import { everyEventIn } from '../support/database/stored-events.ts';
import { requires } from '../support/machine/requires.ts';
import { hangMs, waitUntil } from '../support/machine/wait-until.ts';
import {
  createBrokerSetup,
  type Program,
  provision,
  startBroker,
  startProgram,
  writeAgentConfig,
} from '../support/programs/fleet-processes.ts';
import { sleep } from '../support/serial/pty-bus.ts';

const { missing } = requires({ commands: ['faketime'], debian: ['faketime'] });
const library = ['/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu', '/usr/lib/arm-linux-gnueabihf']
  .map((folder) => `${folder}/faketime/libfaketime.so.1`)
  .find((path) => existsSync(path));
const why =
  missing ?? (library === undefined ? 'skipped: libfaketime.so.1 is not where Debian puts it' : null);

interface Row {
  readonly boot: string;
  readonly seq: number;
  readonly up_ms: number;
  readonly timestamp_ms: number;
  readonly time_quality: string;
  readonly status_code: number;
}

describe.skipIf(why !== null)(`an agent whose wall clock lies${why === null ? '' : ` [${why}]`}`, () => {
  const setup = createBrokerSetup('time');
  const { folder } = setup;
  const clockFile = join(folder, 'clock');
  const running: Program[] = [];
  afterAll(async () => {
    for (const program of running) {
      if (program.exitCode() !== null) continue;
      program.signal('SIGKILL');
      await program.ended();
    }
    // libfaketime's shared memory outlives a process that was killed.
    for (const { pid } of running)
      for (const name of [`faketime_shm_${pid}`, `sem.faketime_sem_${pid}`])
        rmSync(join('/dev/shm', name), { force: true });
    rmSync(folder, { recursive: true, force: true });
  });

  /** As `faketime -f` understands it: the clock starts at that moment, or runs with that offset. */
  const setWall = (text: string): void => writeFileSync(clockFile, `${text}\n`);
  const startAgent = (config: string): Program => {
    const agent = startProgram('agent', ['start', '--config', config], {
      flags: [],
      env: {
        LD_PRELOAD: library ?? '',
        FAKETIME_TIMESTAMP_FILE: clockFile,
        FAKETIME_NO_CACHE: '1',
        // The kernel's monotonic clocks are left alone, as they are by a real step of the wall clock.
        DONT_FAKE_MONOTONIC: '1',
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
      },
    });
    running.push(agent);
    return agent;
  };
  const says = (agent: Program, msg: string) =>
    waitUntil(`"${msg}" in the log of the agent`, () => agent.lines.some((line) => line.msg === msg), {
      // Between two tries to connect lies up to a minute.
      limitMs: 2 * hangMs,
      seen: () => `${JSON.stringify(agent.lines.slice(-10))}${agent.complaints()}`,
    });
  /** Events on the disk of the vehicle, sent or not. */
  const keptEvents = (): number => {
    const database = new SqliteConnection(join(folder, 'outbox.db'), { readonly: true });
    const counts = ['p0', 'p1', 'p2', 'p3'].map((name) => `(SELECT count(*) FROM ${name})`);
    const kept = database
      .prepare<[], number>(`SELECT ${counts.join(' + ')}`)
      .pluck()
      .get();
    database.close();
    return kept ?? 0;
  };
  const wallOf = (agent: Program): number => Date.parse(String(agent.lines.at(-1)?.['time']));
  const rowsOf = (): readonly Row[] => {
    const database = new SqliteConnection(join(folder, 'fleet.db'), { readonly: true });
    try {
      const text = `SELECT boot, seq, up_ms, timestamp_ms, time_quality, status_code FROM ${everyEventIn(database)}
        ORDER BY event_no`;
      return database.prepare(text).all() as Row[];
    } finally {
      database.close();
    }
  };

  it('by decades and back: works on, and sends every event once, in order and at its true time', {
    timeout: 600_000,
  }, async () => {
    const identity = provision(setup, 'truck-1');
    // The ports are chosen once; then the broker is away while the vehicle lives through its bad days.
    const first = await startBroker(setup);
    running.push(first);
    first.signal('SIGTERM');
    await first.ended();
    const config = writeAgentConfig({
      ...setup,
      ...identity,
      boardPort: join(folder, 'no-board'),
      gnssPort: join(folder, 'no-gnss'),
    });

    // No RTC: 1970. Killed without a word.
    setWall('@1970-01-01 00:00:10');
    const startedMs = Date.now();
    const lost = startAgent(config);
    await says(lost, 'disconnected');
    await waitUntil('an event of the first boot', () => keptEvents() > 0);
    expect(wallOf(lost)).toBeLessThan(Date.UTC(1971, 0, 1));
    lost.signal('SIGKILL');
    await lost.ended();

    setWall('@1970-01-01 00:00:10');
    const agent = startAgent(config);
    await says(agent, 'disconnected');
    // The last one but one stands still, as a broken RTC does.
    for (const wall of ['+9y', '-30y', '2079-06-01 00:00:00', '-30y']) {
      setWall(wall);
      await sleep(1500);
      expect(agent.exitCode(), wall).toBeNull();
    }
    const servedMs = Date.now();
    const broker = await startBroker(setup);
    running.push(broker);
    // Its timers go on: it tries again in its usual rhythm, whatever year it is.
    await says(agent, 'connected');
    expect(wallOf(agent)).toBeLessThan(Date.now() - 20 * 365 * 86_400_000);
    const isTimed = ({ time_quality }: Row): boolean => time_quality === 'server';
    await waitUntil('both boots, and more than the start of the second', () => {
      const rows = rowsOf();
      return new Set(rows.map(({ boot }) => boot)).size === 2 && rows.filter(isTimed).length > 1;
    });
    agent.signal('SIGTERM');
    expect(await agent.ended(), agent.complaints()).toBe(0);
    const endedMs = Date.now();

    const rows = rowsOf();
    const boots = [...new Set(rows.map(({ boot }) => boot))];
    expect(new Set(rows.map(({ boot, seq }) => `${boot}/${seq}`)).size).toBe(rows.length);
    expect(boots).toHaveLength(2);
    const started = rows.filter(({ status_code }) => status_code === statusCodes.INITIALIZED.code);
    expect(started).toHaveLength(2);
    for (const boot of boots) {
      const own = rows.filter((row) => row.boot === boot).toSorted((a, b) => a.seq - b.seq);
      expect(own.map(({ seq }) => seq)).toEqual(own.map((_row, index) => index + 1));
      // Monotonic time: no step of the wall clock is in it.
      for (const { up_ms } of own) expect(up_ms).toBeLessThan(endedMs - startedMs + 1000);
    }
    const knowing = rows.filter(isTimed);
    // Stored without a time, by a clock in 1970: made up for.
    const made = knowing.filter(({ status_code }) => status_code === statusCodes.INITIALIZED.code);
    expect(made).toHaveLength(1);
    // The broker's time is as old as its way to the vehicle was long.
    const wayMs = endedMs - servedMs;
    for (const { timestamp_ms, up_ms } of knowing) {
      expect(timestamp_ms).toBeLessThan(endedMs + 1000);
      expect(timestamp_ms - up_ms).toBeGreaterThan(startedMs - wayMs);
    }
    // What nobody can know is not made up: the boot that was killed in 1970 has no time of its own.
    const timeless = rows.filter((row) => !isTimed(row));
    expect(new Set(timeless.map(({ time_quality }) => time_quality))).toEqual(new Set(['none']));
    expect(new Set(timeless.map(({ boot }) => boot)).size).toBe(1);
  });
});
