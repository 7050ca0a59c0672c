// The ledger of `storage-child.mjs` and the judgement over it: what an outbox must hold after the process was killed, lost
// its power or its disk failed. A promise is broken when something told durable is neither there nor acknowledged nor
// counted as dropped, comes twice, comes out of order, was never appended, or when the command record is older than told.
import type { Outbox } from '../../../agent/outbox.ts';
import { type Priority, statusCodes } from '../../../src/core/events/status-codes.ts';
import { drain } from './outbox-bench.ts';

type Line =
  | { readonly k: 'open'; readonly boot: string }
  | {
      readonly k: 'try';
      readonly rows: readonly (readonly [Priority, number])[];
      readonly record: number | null;
    }
  | { readonly k: 'told'; readonly seqs: readonly number[] }
  | { readonly k: 'refused'; readonly code: string; readonly message: string }
  | { readonly k: 'acked'; readonly boot: string; readonly seqs: readonly number[] }
  | { readonly k: 'unopened'; readonly code: string; readonly message: string; readonly hint: string | null }
  | { readonly k: 'fault'; readonly message: string }
  | { readonly k: 'bye' | 'plan' | 'planned' };

interface Told {
  readonly priority: Priority;
  readonly boot: string;
  readonly seq: number;
}

export interface Ledger {
  take(line: Line): void;
  readonly told: ReadonlyMap<number, Told>;
  readonly tried: ReadonlyMap<number, Priority>;
  readonly acked: ReadonlySet<string>;
  /** Highest command record told durable, and tried. */
  records(): { readonly told: number; readonly tried: number };
  readonly counts: { refused: number; faults: number; unopened: number; opened: number };
  lastMark(): number;
  readonly complaints: readonly string[];
}

export function createLedger(): Ledger {
  const told = new Map<number, Told>();
  const tried = new Map<number, Priority>();
  const acked = new Set<string>();
  const counts = { refused: 0, faults: 0, unopened: 0, opened: 0 };
  const complaints: string[] = [];
  let boot = '';
  let trial: Extract<Line, { k: 'try' }> | null = null;
  const records = { told: 0, tried: 0 };
  return {
    told,
    tried,
    acked,
    counts,
    complaints,
    records: () => records,
    lastMark: () => Math.max(0, ...[...tried.keys()].slice(-50)),
    take(line) {
      switch (line.k) {
        case 'open':
          boot = line.boot;
          counts.opened += 1;
          return;
        case 'try':
          trial = line;
          for (const [priority, mark] of line.rows) tried.set(mark, priority);
          if (line.record !== null) records.tried = line.record;
          return;
        case 'told':
          for (const [index, [priority, mark]] of (trial?.rows ?? []).entries())
            told.set(mark, { priority, boot, seq: line.seqs[index] ?? -1 });
          if (trial?.record != null) records.told = trial.record;
          trial = null;
          return;
        case 'acked':
          for (const seq of line.seqs) acked.add(`${line.boot}:${seq}`);
          return;
        case 'refused':
          counts.refused += 1;
          trial = null;
          if (line.code !== 'storage') complaints.push(`refused with ${line.code}: ${line.message}`);
          return;
        case 'unopened':
          counts.unopened += 1;
          complaints.push(`not opened: ${line.code} ${line.message}; ${line.hint ?? 'no hint'}`);
          return;
        case 'fault':
          counts.faults += 1;
          return;
        case 'bye':
        case 'plan':
        case 'planned':
      }
    },
  };
}

/** The lines of a ledger; the last may be cut short. */
export function parseLedger(text: string): readonly Line[] {
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  return whole
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
}

export interface Finding {
  readonly faults: readonly string[];
  readonly found: number;
  /** Told and gone without being acknowledged: all of them counted as dropped, or it is a fault. */
  readonly missing: readonly [number, number, number, number];
  readonly dropped: readonly number[];
  /** Why the file was replaced, as its events say. */
  readonly replaced: readonly string[];
}

/**
 * Compares the ledger with what the outbox gives now. Acknowledges nothing.
 * @param isSalvaged order holds within each boot; which boot came first may be unknown.
 */
export async function judgeOutbox(
  ledger: Ledger,
  outbox: Outbox,
  { isSalvaged = false }: { readonly isSalvaged?: boolean } = {},
): Promise<Finding> {
  const faults: string[] = [];
  const found = new Set<number>();
  const replaced: string[] = [];
  const keys = new Set<string>();
  const lastMark = new Map<string, number>();
  for (const batch of await drain(outbox)) {
    for (const event of batch.events) {
      const key = `${batch.boot}:${event.seq}`;
      if (keys.has(key)) faults.push(`${key} comes twice`);
      keys.add(key);
      const mark = event.upMs ?? -1;
      if (
        event.statusCode === statusCodes.STORAGE_REPLACED.code &&
        event.attributes?.['phase'] === 'replaced'
      )
        replaced.push(String(event.attributes['reason']));
      if (event.speed === undefined) continue;
      if (ledger.tried.get(mark) !== batch.priority)
        faults.push(`mark ${mark} of class ${batch.priority} was never appended`);
      if (event.odometer !== mark / 10 || event.speed !== mark % 90)
        faults.push(`mark ${mark} has other content`);
      const line = `${batch.priority} ${isSalvaged ? batch.boot : ''}`;
      if (mark <= (lastMark.get(line) ?? -1)) faults.push(`mark ${mark} is out of order`);
      lastMark.set(line, mark);
      found.add(mark);
    }
  }
  const missing: [number, number, number, number] = [0, 0, 0, 0];
  for (const [mark, { priority, boot, seq }] of ledger.told) {
    if (!found.has(mark) && !ledger.acked.has(`${boot}:${seq}`)) missing[priority] += 1;
  }
  const { dropped } = await outbox.stats();
  for (const priority of [0, 1, 2, 3] as const) {
    if (missing[priority] > dropped[priority])
      faults.push(
        `class ${priority}: ${missing[priority]} are gone, ${dropped[priority]} counted as dropped`,
      );
  }
  const state = await outbox.readState();
  const text = state.values.get('commands');
  const kept = text === undefined ? 0 : (JSON.parse(text) as { record: number }).record;
  const { told, tried } = ledger.records();
  if (state.isIntact && (kept < told || kept > tried))
    faults.push(`command record ${kept}, told ${told}, tried ${tried}`);
  return { faults, found: found.size, missing, dropped, replaced };
}
