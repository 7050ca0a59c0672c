// The link breaks at any byte of the exchange, up or down, or dies while it looks alive: the real outbox, session, MQTT
// client and broker over TCP. Every event reaches the store exactly once and in order, and what is gone from the vehicle is
// in the store. FLEETWARD_TEST_STRIDE=1 cuts at every single byte.

import { statSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readBoardProfile } from '../../agent/boards.ts';
import { type AgentConfig, standardProtection, standardSettings } from '../../agent/config.ts';
import type { VehicleEvent } from '../../agent/core/kernel/vehicle-events.ts';
import {
  createDelivery,
  type DeliveryInput,
  deliveryWakeMs,
  stepDelivery,
} from '../../agent/core/link/delivery.ts';
import type { Outbox } from '../../agent/outbox.ts';
import { createSession } from '../../agent/session.ts';
import { openMqttLink } from '../../src/adapters/mqtt-link.ts';
import { createSystemEntropy } from '../../src/adapters/system.ts';
import type { Cancel, Clock, Row } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import { createSteadyClock, helloOf } from '../support/broker/broker-bench.ts';
import { type LiveBroker, type LiveDevice, startLiveBroker } from '../support/broker/live-broker.ts';
import { everyEvent } from '../support/database/stored-events.ts';
import { waitUntil } from '../support/machine/wait-until.ts';
import { type Cut, type CuttingProxy, startCuttingProxy } from '../support/mqtt/cutting-proxy.ts';
import { createFolder, drain, open, record, silentLog } from '../support/storage/outbox-bench.ts';

const stride = Number(process.env['FLEETWARD_TEST_STRIDE'] ?? 23);
const boot = 'b1';

/**
 * The agent's minutes pass in seconds here: pauses between connections, time-outs of acknowledgements. They stand still while this
 * process does, or a short stall would be minutes without an answer.
 */
const speed = 40;
const time = createSteadyClock(speed);
const clock: Clock = { ...time, utcMs: () => Date.now() };

/** The delivering half of an agent: what `vehicle.ts` and the loop do with it, and nothing else. */
function startDelivering(given: {
  readonly config: AgentConfig;
  readonly outbox: Outbox;
  readonly broker: LiveBroker;
}) {
  const { config, outbox, broker } = given;
  let state = createDelivery(clock.monoMs(), {
    firstDelayMs: 0,
    traffic: { month: null, bytes: 0 },
    keepaliveS: config.broker.keepaliveS,
  });
  let timer: Cancel = () => undefined;
  let isOver = false;
  const downs: string[] = [];
  const deliver = (input: DeliveryInput): void => {
    if (isOver) return;
    if (input.kind === 'down') downs.push(input.reason);
    // A random part of nothing: the shortest pauses that there are.
    const now = { ms: clock.monoMs(), fraction: 0, utcMs: clock.utcMs(), link: config.settings.link };
    const step = stepDelivery(state, input, now);
    state = step.state;
    for (const effect of step.effects) session.perform(effect);
    timer();
    const wakeMs = Math.min(deliveryWakeMs(state, config.settings.link) - clock.monoMs(), 60_000);
    timer = clock.after(Math.max(1, wakeMs), () => deliver({ kind: 'time' }));
  };
  const session = createSession({
    config,
    outbox,
    boot,
    ports: { clock, entropy: createSystemEntropy(), log: silentLog, openMqttLink, verifier: broker.verifier },
    hello: (nonce) => helloOf(boot, { nonce }),
    dispatch(event: VehicleEvent) {
      if (event.kind === 'delivery') deliver(event.input);
      if (event.kind === 'ack') deliver({ kind: 'ack', ack: event.ack });
      const { phase } = state;
      const isOurs = event.kind === 'welcome' && phase.kind === 'up' && phase.nonce === event.welcome.nonce;
      if (isOurs) deliver({ kind: 'welcomed', isShort: false });
    },
  });
  deliver({ kind: 'time' });
  return {
    downs,
    stored: () => deliver({ kind: 'stored', dueMs: 0 }),
    async close(): Promise<void> {
      isOver = true;
      timer();
      await session.close();
    },
  };
}

async function configFor(device: LiveDevice, port: number): Promise<AgentConfig> {
  const line = { baudRate: 9600, dataBits: 8, parity: 'none', stopBits: 1 } as const;
  return {
    accountID: device.accountID,
    deviceID: device.deviceID,
    hardwareID: '',
    agentVersion: '0.0.0',
    earliestUtcMs: 0,
    broker: { url: `mqtt://127.0.0.1:${port}`, secret: device.secret, keepaliveS: 30, connectSpreadMs: 0 },
    profile: await readBoardProfile('generic'),
    boardPort: { path: 'none', ...line },
    gnssPort: { path: 'none', ...line },
    gnssSilenceMs: 5000,
    settings: { ...standardSettings, link: { ...standardSettings.link, backlogPerS: 1000 } },
    protection: standardProtection,
    windowMs: 0,
  };
}

describe('a link that breaks', () => {
  let broker: LiveBroker;
  let proxy: CuttingProxy;
  beforeAll(async () => {
    const many = { burst: 1e6, perS: 1e6 };
    broker = await startLiveBroker({ connects: many, failures: many });
    proxy = await startCuttingProxy(broker.port);
  });
  afterAll(async () => {
    await proxy?.close();
    await broker?.broker.close();
    time.stop();
  });

  const rowsOf = async ({ deviceNo }: LiveDevice): Promise<readonly Row[]> =>
    broker.db.read(sql`SELECT seq, up_ms FROM ${await everyEvent(broker.db)}
      WHERE device_no = ${deviceNo} AND boot = ${boot} ORDER BY seq`);

  /** Lives through these cuts, one connection each, while events go on; then the link holds and all must arrive. */
  async function live(name: string, cuts: readonly Cut[]) {
    const device = await broker.addDevice('acme', name);
    const place = createFolder();
    const outbox = await open(place.path, { boot });
    const { ino } = statSync(place.path);
    const config = await configFor(device, proxy.port);
    proxy.cut = cuts[0] ?? null;
    const delivering = startDelivering({ config, outbox, broker });
    let mark = 0;
    const append = async (): Promise<void> => {
      await outbox.append([record(mark % 9 === 0 ? 0 : 3, (mark += 1))]);
      delivering.stored();
    };
    try {
      for (const cut of cuts) {
        const before = proxy.counts.cut;
        proxy.cut = cut;
        let turn = 0;
        const isCut = async (): Promise<boolean> => {
          if (proxy.counts.cut > before) return true;
          if (mark < 4 * cuts.length + 60 || turn % 50 === 49) await append();
          turn += 1;
          return false;
        };
        await waitUntil(`the end of a connection with ${JSON.stringify(cut)}`, isCut, { everyMs: 2 });
      }
      proxy.cut = null;
      await append();
      await waitUntil('all events', async () => (await rowsOf(device)).length >= mark, { everyMs: 25 });
    } finally {
      await delivering.close();
    }
    const rows = await rowsOf(device);
    const stored = new Set(rows.map((row) => row['seq']));
    const left = (await drain(outbox)).flatMap(({ events }) => events.map(({ seq }) => seq));
    expect(left.filter((seq) => !stored.has(seq))).toEqual([]);
    // No reconnect is a reason to make the buffer anew.
    expect(statSync(place.path).ino).toBe(ino);
    await outbox.close();
    place.remove();
    return { mark, rows, downs: delivering.downs.length };
  }

  it('at any byte of the exchange loses nothing, doubles nothing, and keeps the order', async () => {
    const whole = await live('whole', []);
    expect(whole.rows.map((row) => row['up_ms'])).toEqual([1]);
    // Where a first exchange with several batches ends, and some way beyond it.
    const cuts = (['up', 'down'] as const).flatMap((direction) => {
      const mostBytes = Math.max(1200, proxy.most[direction] + 600);
      return Array.from({ length: Math.floor(mostBytes / stride) }, (_none, index): Cut => {
        return { direction, afterBytes: 1 + index * stride, how: 'break' };
      });
    });
    const { mark, rows, downs } = await live('cut', cuts);
    console.info('link cut', { cuts: cuts.length, events: mark, downs });
    expect(downs).toBeGreaterThanOrEqual(cuts.length - 1);
    expect(rows.map((row) => row['seq'])).toEqual(Array.from({ length: mark }, (_none, index) => index + 1));
    expect(rows.map((row) => row['up_ms'])).toEqual(rows.map((row) => row['seq']));
  });

  it('without a sign, so that bytes vanish and the connection looks alive, is given up and made up for', async () => {
    const cuts = [1, 60, 300, 700].flatMap((afterBytes) =>
      (['up', 'down'] as const).map((direction): Cut => ({ direction, afterBytes, how: 'swallow' })),
    );
    const { mark, rows } = await live('silent', cuts);
    expect(rows.map((row) => row['up_ms'])).toEqual(
      Array.from({ length: mark }, (_none, index) => index + 1),
    );
  });
});
