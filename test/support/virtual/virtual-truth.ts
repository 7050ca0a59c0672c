// The judge of a simulation: sees every contact of the board, every order, every durable event and the true motion, and
// notes each breach of an invariant (reliability-security 2.4). It knows nothing of how the agent decides.
import { createOrderBook } from '../../../simulator/core/ledger/order-book.ts';
import type { RelayChange } from '../../../simulator/hardware/contacts.ts';
import type { CommandState, FeatureName, FleetEvent } from '../../../src/core/events/event.ts';
import { statusCodes } from '../../../src/core/events/status-codes.ts';
import type { Clock, LogFields } from '../../../src/ports.ts';
import type { VirtualDisk } from './virtual-disk.ts';
import type { World } from './virtual-world.ts';

/**
 * How long the truth may already have changed when a restrictive contact closes. Ignition: a sample that said "off" is
 * good for 1 s, then ignition is unknown and an order that still waits is withdrawn; and the telegram itself. Motion: a
 * fix is good for 2 s, its burst takes half a second, and an order waits at most 1.5 s for the bus.
 */
const latency = { ignitionMs: 1100, motionMs: 4000 } as const;

export interface IssuedCommand {
  readonly commandID: string;
  readonly feature: FeatureName;
  readonly state: '0' | '1';
  readonly expiresMs: number;
  readonly commandState: string;
  readonly isFinal: boolean;
}

export interface CommandMove {
  readonly commandID: string;
  readonly feature: FeatureName;
  readonly isOn: boolean;
  readonly utcMs: number;
}

export interface Stored {
  readonly boot: string;
  readonly event: FleetEvent;
  readonly atMs: number;
}

export interface Truth {
  readonly breaches: readonly string[];
  readonly stored: readonly Stored[];
  /** The worst that was seen, ms: how long ignition was on, and how long it moved, when a contact closed. */
  readonly worst: { ignitionMs: number; motionMs: number };
  readonly counts: {
    relayMoves: number;
    restrictive: number;
    repairs: number;
    withdrawals: number;
    boots: number;
    crashes: number;
  };
  breach(text: string): void;
  note(text: string): void;
  /** The newest notes and log lines, for the report of a failing seed. */
  trail(): readonly string[];
  /** Relay orders so far, and commands that said they execute. */
  orders(): number;
  executions(): number;
  /** Every contact that a command moved. */
  readonly moves: readonly CommandMove[];
  agentStarts(): void;
  agentDies(): void;
  onLog(event: string, fields: LogFields): void;
  onStored(boot: string, events: readonly FleetEvent[]): void;
  onRelayChange(change: RelayChange): void;
}

interface DurableRecord {
  readonly active?: Partial<Record<FeatureName, { commandID: string; phase: string; state: string }>>;
  readonly confirmed?: Partial<Record<FeatureName, { state: string }>>;
}

/** No further state follows these. */
const finalCommandStates: readonly CommandState[] = [
  'confirmed',
  'refused',
  'expired',
  'superseded',
  'cancelled',
];

const trailMost = 400;
const interesting = /relay|command|board|port|input|welcome|connected|agent|commit|envelope/;

export function createTruth(options: { clock: Clock; world: () => World; disk: VirtualDisk }): Truth {
  const { clock, disk } = options;
  const breaches: string[] = [];
  const stored: Stored[] = [];
  const trail: string[] = [];
  const moves: CommandMove[] = [];
  const orders = createOrderBook();
  let orderCount = 0;
  let executionCount = 0;
  /** Commands that moved a relay, and what moved it back since. */
  const moved = new Map<string, { movedBack: string | null }>();
  const lastMover = new Map<string, string>();
  const ends = new Map<string, string>();
  const worst = { ignitionMs: 0, motionMs: 0 };
  const counts = { relayMoves: 0, restrictive: 0, repairs: 0, withdrawals: 0, boots: 0, crashes: 0 };
  const note = (text: string): void => {
    trail.push(`${(clock.monoMs() / 1000).toFixed(3)} ${text}`);
    if (trail.length > trailMost) trail.shift();
  };
  const breach = (text: string): void => {
    breaches.push(`${(clock.monoMs() / 1000).toFixed(3)} s: ${text}`);
    note(`BREACH ${text}`);
  };
  const record = (): DurableRecord => {
    const row = disk.rows("SELECT value FROM state WHERE key = 'commands'")[0];
    return row === undefined ? {} : (JSON.parse(String(row['value'])) as DurableRecord);
  };

  const judgeMotion = (feature: FeatureName): void => {
    const { ignitionOnMs, movingMs } = options.world();
    if (feature === 'enginecutoff') worst.ignitionMs = Math.max(worst.ignitionMs, ignitionOnMs);
    worst.motionMs = Math.max(worst.motionMs, movingMs);
    if (feature === 'enginecutoff' && ignitionOnMs > latency.ignitionMs)
      breach(`I6: ${feature} closed ${ignitionOnMs} ms after ignition went on`);
    if (movingMs > latency.motionMs)
      breach(`I6: ${feature} closed ${movingMs} ms after the vehicle moved off`);
  };

  const judgeCommand = (feature: FeatureName, commandID: string, isOn: boolean): void => {
    moves.push({ commandID, feature, isOn, utcMs: clock.utcMs() });
    const before = moved.get(commandID);
    if (before !== undefined && !/^(power|withdraw)/.test(before.movedBack ?? ''))
      breach(`I4: ${commandID} moved ${feature} again; moved back by ${before.movedBack ?? 'nobody'}`);
    moved.set(commandID, { movedBack: null });
    lastMover.set(feature, commandID);
    const active = record().active?.[feature];
    if (isOn && (active?.commandID !== commandID || active.phase !== 'executing'))
      breach(`${commandID} closed ${feature} before "executing" was durable`);
  };

  return {
    breaches,
    stored,
    worst,
    counts,
    breach,
    note,
    trail: () => trail,
    orders: () => orderCount,
    executions: () => executionCount,
    moves,
    agentStarts() {
      counts.boots += 1;
      note('--- agent starts');
    },
    agentDies() {
      counts.crashes += 1;
      note('--- agent killed');
    },
    onLog(event, fields) {
      if (interesting.test(event)) note(`${event} ${JSON.stringify(fields)}`);
      if (event === 'command' && fields['state'] === 'executing') executionCount += 1;
      if (event === 'relay_order') orderCount += 1;
      orders.record(event, fields);
    },
    onStored(boot, events) {
      for (const event of events) {
        stored.push({ boot, event, atMs: clock.monoMs() });
        const { commandID, commandState } = event;
        if (commandID === undefined || commandState === undefined) continue;
        if (!finalCommandStates.includes(commandState)) continue;
        const known = ends.get(commandID);
        if (known !== undefined && known !== commandState)
          breach(`I9: ${commandID} ended as ${known} and then as ${commandState}`);
        ends.set(commandID, commandState);
      }
    },
    onRelayChange({ feature, energised, cause }) {
      if (feature === null) return;
      const token = orders.tokenOf({ feature, energised, cause }) ?? 'nobody';
      note(
        `contact ${feature} ${energised ? 'closes' : 'opens'} for ${token} (${cause}) ${JSON.stringify(options.world())}`,
      );
      counts.relayMoves += 1;
      const mover = moved.get(lastMover.get(feature) ?? '');
      if (mover !== undefined && !token.startsWith('drive:')) mover.movedBack = token;
      if (energised) {
        counts.restrictive += 1;
        judgeMotion(feature);
      }
      if (token.startsWith('drive:')) judgeCommand(feature, token.slice('drive:'.length), energised);
      else if (token.startsWith('repair:')) {
        counts.repairs += 1;
        const wanted = record().confirmed?.[feature]?.state ?? '0';
        if (energised && wanted !== '1')
          breach(`I7: ${feature} closed by a repair, but ${wanted} is confirmed`);
      } else if (token.startsWith('withdraw:')) counts.withdrawals += 1;
      else if (energised) breach(`${feature} closed by ${token} (${cause})`);
    },
  };
}

/** Checks what is stored in the broker against what the vehicles stored: I1, I2, and no gap. */
export function judgeEvents(
  truth: Truth,
  end: {
    readonly nowMs: number;
    readonly rows: readonly { readonly boot: string; readonly seq: number; readonly statusCode: number }[];
  },
): void {
  const { nowMs, rows } = end;
  const perBoot = new Map<string, Map<number, number>>();
  for (const { boot, seq, statusCode } of rows) {
    const seqs = perBoot.get(boot) ?? new Map<number, number>();
    if (seqs.has(seq)) truth.breach(`I2: ${boot}/${seq} is stored twice`);
    seqs.set(seq, statusCode);
    perBoot.set(boot, seqs);
  }
  for (const [boot, seqs] of perBoot) {
    const most = Math.max(...seqs.keys());
    if (most !== seqs.size)
      truth.breach(`I1: boot ${boot} has ${seqs.size} events, but the last is number ${most}`);
  }
  // What was stored in the last moments may still be on its way.
  const settledMs = nowMs - 5000;
  for (const { boot, event, atMs } of truth.stored) {
    if (atMs > settledMs) continue;
    const code = perBoot.get(boot)?.get(event.seq);
    if (code !== event.statusCode)
      truth.breach(
        `I1: ${boot}/${event.seq} (${event.statusCode}) is not in the broker: ${code ?? 'nothing'}`,
      );
  }
  const dropped = rows.filter(({ statusCode }) => statusCode === statusCodes.EVENTS_DROPPED.code);
  if (dropped.length > 0) truth.breach('events were dropped although there is room');
}

/** Checks what the ledger says at the end: every command moved in time (I5) and came to one end (I9). */
export function judgeCommands(truth: Truth, issued: readonly IssuedCommand[]): void {
  const byID = new Map(issued.map((command) => [command.commandID, command]));
  for (const { commandID, feature, isOn, utcMs } of truth.moves) {
    const command = byID.get(commandID);
    if (command === undefined || command.feature !== feature || (command.state === '1') !== isOn)
      truth.breach(`${feature} moved for a command that nobody issued: ${commandID}`);
    else if (isOn && utcMs > command.expiresMs)
      truth.breach(`I5: ${commandID} closed ${feature} ${utcMs - command.expiresMs} ms after its expiry`);
  }
  for (const { commandID, isFinal, commandState } of issued)
    if (!isFinal) truth.breach(`I9: ${commandID} has no end: ${commandState}`);
}
