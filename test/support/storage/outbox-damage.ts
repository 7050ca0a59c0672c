// Outboxes with known content, damaged copies of their files, and the judgement over what a damaged one gives: every event
// comes or its loss is told with a number that is true, nothing false comes, a new panic is kept, and the evidence stays.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { putState } from '../../../agent/outbox/file/outbox-schema.ts';
import type { Batch } from '../../../agent/outbox/outbox-sending.ts';
import type { Outbox } from '../../../agent/outbox.ts';
import type { FleetEvent } from '../../../src/core/events/event.ts';
import type { Priority } from '../../../src/core/events/status-codes.ts';
import { drain, impatientClock, open, record, settle } from './outbox-bench.ts';

export type Files = Map<string, Buffer>;

export interface Original {
  readonly files: ReadonlyMap<string, Buffer>;
  /** Marks that must come, with their class. */
  readonly marks: ReadonlyMap<number, Priority>;
  /** Marks that were delivered: they may come again. */
  readonly delivered: ReadonlySet<number>;
  /** What was stored under each mark, as the file gives it undamaged. */
  readonly content: ReadonlyMap<number, string>;
}

export const database = 'outbox.db';
export const log = 'outbox.db-wal';
const panicMark = 5000;
const classes = [3, 3, 2, 3, 1, 3, 0, 3] as const;
const perCommit = 20;

async function append(outbox: Outbox, marks: Map<number, Priority>, span: { from: number; count: number }) {
  for (let mark = span.from; mark < span.from + span.count; mark += perCommit) {
    const records = Array.from({ length: perCommit }, (_value, index) =>
      record(classes[(mark + index) % classes.length] ?? 3, mark + index),
    );
    await outbox.append(records, [putState('commands', JSON.stringify({ record: mark }))]);
    for (const { priority, event } of records) marks.set(event.upMs ?? -1, priority);
  }
}

/** An event without its number, for comparison. */
const contentOf = ({ seq: _seq, ...content }: FleetEvent): string => JSON.stringify(content);

/** Delivers and acknowledges what comes first, by batches. */
async function deliver(outbox: Outbox, marks: Map<number, Priority>, count: number) {
  const delivered = new Map<number, string>();
  await outbox.rewind();
  while (delivered.size < count) {
    const batch = await outbox.next({ limit: 30, bytes: 60_000 });
    if (batch === null) break;
    await outbox.acknowledge(
      batch.boot,
      batch.events.map(({ seq }) => [seq, seq] as const),
    );
    for (const event of batch.events) {
      delivered.set(event.upMs ?? -1, contentOf(event));
      marks.delete(event.upMs ?? -1);
    }
  }
  return delivered;
}

/**
 * `closed`: one boot, closed in good order. `cut`: as a power cut leaves it, most of it in the log. `worn`: three boots,
 * some of each class delivered, so that free pages and blocks hold rows of long ago.
 */
export async function makeOriginal(root: string, kind: 'closed' | 'cut' | 'worn'): Promise<Original> {
  const folder = join(root, kind);
  mkdirSync(folder);
  const path = join(folder, database);
  const marks = new Map<number, Priority>();
  const delivered = new Map<number, string>();
  let outbox = await open(path, { boot: `was-${kind}` });
  await append(outbox, marks, { from: 1, count: kind === 'cut' ? 300 : 800 });
  if (kind === 'worn') {
    for (const [mark, content] of await deliver(outbox, marks, 330)) delivered.set(mark, content);
    for (const from of [801, 1201]) {
      await outbox.close();
      outbox = await open(path, { boot: `was-${kind}-${from}` });
      await append(outbox, marks, { from, count: 400 });
      for (const [mark, content] of await deliver(outbox, marks, 300)) delivered.set(mark, content);
    }
  }
  if (kind !== 'cut') await outbox.close();
  const names = readdirSync(folder).filter((name) => name === database || name === log);
  const files = new Map(names.map((name) => [name, readFileSync(join(folder, name))]));
  if (kind === 'cut') await outbox.close();
  const content = new Map(delivered);
  const whole = await open(path);
  for (const { events } of await drain(whole))
    for (const event of events) content.set(event.upMs ?? -1, contentOf(event));
  await whole.close();
  return { files, marks, delivered: new Set(delivered.keys()), content };
}

/** Until nothing is replaced or salvaged any more: damage may show only when a batch is read. */
async function drainAll(outbox: Outbox): Promise<readonly Batch[]> {
  for (let round = 0; round < 5; round += 1) {
    await settle(outbox);
    const batches = await drain(outbox);
    if ((await outbox.stats()).isExact) return batches;
  }
  throw new Error('the outbox is replaced again and again');
}

export interface Outcome {
  readonly lost: number;
  readonly isReplaced: boolean;
  readonly isIntact: boolean;
  /** Least and most events that were told to be gone; null when the outbox did not know. */
  readonly told: readonly [least: number, most: number | null];
  readonly faults: readonly string[];
}

function toldIn(batches: readonly Batch[], dropped: number): Outcome['told'] {
  let least = dropped;
  let most: number | null = dropped;
  for (const { events } of batches)
    for (const { attributes } of events.filter(({ statusCode }) => statusCode === 4377)) {
      if (attributes?.['phase'] !== 'salvaged') continue;
      least += Number(attributes['lostLeast']);
      most = attributes['lostMost'] === null || most === null ? null : most + Number(attributes['lostMost']);
    }
  return [least, most];
}

interface Found {
  readonly marks: Map<number, number>;
  readonly faults: string[];
  hasPanic: boolean;
}

/** Whether what came is true, in order and once. */
function judge(original: Original, batches: readonly Batch[]): Found {
  const found: Found = { marks: new Map(), faults: [], hasPanic: false };
  const keys = new Set<string>();
  const lastOf = new Map<string, number>();
  for (const { boot, events, priority } of batches)
    for (const event of events) {
      const key = `${boot}:${event.seq}`;
      if (keys.has(key)) found.faults.push(`${key} twice`);
      keys.add(key);
      if (event.statusCode === 4376 || event.statusCode === 4377) continue;
      const mark = event.upMs ?? -1;
      if (mark !== panicMark && original.content.get(mark) !== contentOf(event))
        found.faults.push(`mark ${mark} of class ${priority} with other content`);
      if (mark <= (lastOf.get(`${priority} ${boot}`) ?? -1)) found.faults.push(`mark ${mark} out of order`);
      lastOf.set(`${priority} ${boot}`, mark);
      if (mark === panicMark) found.hasPanic = true;
      else if (original.marks.get(mark) === priority) found.marks.set(mark, event.seq);
      else if (!original.delivered.has(mark)) found.faults.push(`mark ${mark} was never appended`);
    }
  return found;
}

/** Opens a damaged copy as the next start would, twice, and judges what it gives. */
export async function openDamaged(
  root: string,
  original: Original,
  apply: (files: Files) => void,
): Promise<Outcome> {
  const folder = mkdtempSync(join(root, 'case-'));
  const path = join(folder, database);
  const files = new Map([...original.files].map(([name, bytes]) => [name, Buffer.from(bytes)]));
  apply(files);
  for (const [name, bytes] of files) writeFileSync(join(folder, name), bytes);
  const outbox = await open(path, { clock: impatientClock });
  await outbox.append([record(0, panicMark)]);
  const batches = await drainAll(outbox);
  const { marks, faults, hasPanic } = judge(original, batches);
  if (!hasPanic) faults.push('a new panic is not there');
  const phases = batches
    .flatMap(({ events }) => events.filter(({ statusCode }) => statusCode === 4377))
    .map(({ attributes }) => attributes?.['phase']);
  const isReplaced = phases.length > 0;
  if (isReplaced && phases.join() !== 'replaced,salvaged') faults.push(`told as ${phases.join()}`);
  const evidence = readdirSync(folder).filter((name) => /\.damaged-[0-9TZ]+-[0-9a-f]{8}(-wal)?$/.test(name));
  if (isReplaced !== evidence.length > 0) faults.push(`replaced ${isReplaced}, evidence ${evidence.length}`);
  const { isIntact, values } = await outbox.readState();
  if (isIntact && values.get('commands') === undefined) faults.push('the state is gone and counts as intact');
  const dropped = (await outbox.stats()).dropped.reduce((sum, count) => sum + count, 0);
  await outbox.close();
  const again = await open(path, { clock: impatientClock });
  const second = judge(original, await drainAll(again));
  if (second.marks.size !== marks.size) faults.push('not the same on the next start');
  await again.close();
  rmSync(folder, { recursive: true, force: true });
  return {
    lost: original.marks.size - marks.size,
    isReplaced,
    isIntact,
    told: toldIn(batches, dropped),
    faults,
  };
}

/** What is wrong with an outcome when every loss must be told with a true number. */
export function silence({ lost, told: [least, most] }: Outcome): readonly string[] {
  if (least <= lost && lost <= (most ?? Number.POSITIVE_INFINITY)) return [];
  return [`${lost} are gone, told are ${least} to ${most ?? 'an unknown number'}`];
}
