// After an outage: how long a long queue takes to reach the broker, and how late live events are while it drains, beside how
// late they are afterwards. Read from the broker's own database at the end: nothing is added to the path.

import { setTimeout as sleep } from 'node:timers/promises';
import SqliteConnection from 'better-sqlite3';
import { standardSettings } from '../../src/core/settings/settings.ts';
import { fillOutbox } from './agent-backlog.ts';
import { type Figure, percentile, type Say } from './agent-figures.ts';
import { type Rig, startRig } from './agent-rig.ts';

export interface DrainOptions {
  readonly queued: number;
}

const goals = { drainS: 60, liveDelayMs: 2000 } as const;
const mostMs = 300_000;
/** Live events after the drain, to compare with. */
const quietMs = 30_000;

interface Received {
  readonly timestampMs: number;
  readonly receivedMs: number;
}

function openLedger(path: string, oldBoot: string) {
  const db = new SqliteConnection(path, { readonly: true, fileMustExist: true });
  const count = db.prepare<[string], number>('SELECT count(*) FROM events WHERE boot = ?').pluck();
  const span = db.prepare<[string], { first: number | null; last: number | null }>(
    'SELECT min(received_ms) AS first, max(received_ms) AS last FROM events WHERE boot = ?',
  );
  const live = db.prepare<[string], Received>(
    `SELECT timestamp_ms AS timestampMs, received_ms AS receivedMs FROM events
     WHERE boot <> ? AND status_code = 61472 AND time_quality IN ('gnss', 'server', 'ntp')`,
  );
  return {
    drained: () => count.get(oldBoot) ?? 0,
    span: () => span.get(oldBoot),
    live: () => live.all(oldBoot),
    close: () => db.close(),
  };
}

async function untilDrained(
  ledger: ReturnType<typeof openLedger>,
  { queued, say }: { readonly queued: number; readonly say: Say },
): Promise<void> {
  const startMs = performance.now();
  for (let turn = 0; ledger.drained() < queued; turn++) {
    if (performance.now() - startMs > mostMs) throw new Error(`not drained within ${mostMs} ms`);
    if (turn % 5 === 4)
      say(`drain: ${ledger.drained().toLocaleString('en')} of ${queued.toLocaleString('en')}`);
    await sleep(1000);
  }
}

function figuresOf(ledger: ReturnType<typeof openLedger>, queued: number): readonly Figure[] {
  const span = ledger.span();
  const [firstMs, lastMs] = [span?.first ?? 0, span?.last ?? 0];
  const delays = (isDuring: boolean): number[] =>
    ledger
      .live()
      .filter(({ timestampMs }) => (timestampMs >= firstMs && timestampMs <= lastMs) === isDuring)
      .filter(({ timestampMs }) => isDuring || timestampMs > lastMs + 2000)
      .map(({ timestampMs, receivedMs }) => receivedMs - timestampMs);
  const [during, after] = [delays(true), delays(false)];
  const common = { section: 'drain' } as const;
  const delay = (share: number, name: string): Figure => ({
    ...common,
    name: `live events meanwhile, ${name}`,
    unit: 'ms late',
    value: percentile(during, share),
    baseline: { name: 'the same after the drain', value: percentile(after, share) },
    goal: goals.liveDelayMs,
  });
  return [
    {
      ...common,
      name: `${queued.toLocaleString('en')} queued events`,
      unit: 's',
      value: (lastMs - firstMs) / 1000,
      baseline: {
        name: 'at the rate of link.backlogPerS',
        value: queued / standardSettings.link.backlogPerS,
      },
      goal: goals.drainS,
    },
    { ...common, name: 'live events meanwhile', unit: 'events', value: during.length },
    delay(0.5, 'p50'),
    delay(0.99, 'p99'),
    delay(1, 'longest'),
  ];
}

async function drain(rig: Rig, { queued, say }: { readonly queued: number; readonly say: Say }) {
  const oldBoot = await fillOutbox(rig.file.outbox, { count: queued, say });
  await rig.command('drive');
  rig.startAgent();
  const ledger = openLedger(rig.database, oldBoot);
  try {
    await untilDrained(ledger, { queued, say });
    say(`drain: done; ${quietMs / 1000} s of live events to compare with`);
    await sleep(quietMs);
    return figuresOf(ledger, queued);
  } finally {
    ledger.close();
  }
}

/** Measures the drain. Positions are made every second and written within a second. Needs socat. */
export async function benchDrain({ queued }: DrainOptions, say: Say): Promise<readonly Figure[]> {
  say(`drain: ${queued.toLocaleString('en')} events queued, then a broker`);
  const rig = await startRig({ windowS: 1, movingS: 1 });
  try {
    return await drain(rig, { queued, say });
  } finally {
    await rig.close();
  }
}
