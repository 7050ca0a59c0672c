// Contacts of the relays held against the commands that people gave: at most once, in time, never while moving, and every
// command at an end. Pure; what a vehicle's log says a contact moved for is a name only, the contact itself is the truth.
import type { Ledger } from './ledger.ts';
import type { Breach, BreachKind, CommandNote, ContactNote } from './ledger-types.ts';

/**
 * How long the truth may already have changed when a restrictive contact closes (test/support/virtual-truth.ts): a sample of
 * the ignition is good for 1 s besides one reading, a fix for 2 s and its burst, and an order waits at most 1.5 s for the bus.
 */
const latency = { ignitionMs: 1100, movingMs: 4000 } as const;
/** Expiry travels in whole seconds. */
const expiryMs = 1000;
/**
 * A vehicle that takes a cut back because of what it sees meanwhile may find it on the wires already: the contact closes and is
 * opened again. The command is not carried out then, and is judged anew: this often and no more (`commandLimits.mismatches` of
 * the agent). A lock that may have been open is never opened anew.
 */
const cutClosingsMost = 3;

interface Mover {
  closings: number;
  /** What moved the contact back since. */
  movedBack: string | null;
}

interface Bench {
  readonly ledger: Ledger;
  readonly deviceID: string;
  readonly movers: Map<string, Mover>;
  readonly last: Map<string, Mover>;
  readonly found: Breach[];
  readonly inputsMs: number;
}

function add(bench: Bench, kind: BreachKind, of: { commandID: string | null; words: string }): void {
  const { deviceID, found } = bench;
  found.push({ kind, deviceID, factNo: null, eventID: null, ...of });
}

function judgeMotion(bench: Bench, contact: ContactNote): void {
  const { feature, token, movingMs, ignitionOnMs } = contact;
  if (!contact.energised) return;
  const isIgnition = feature === 'enginecutoff' && ignitionOnMs > latency.ignitionMs + bench.inputsMs;
  if (!isIgnition && movingMs <= latency.movingMs) return;
  const words = `${feature} closed for ${token ?? 'nobody'} after ${movingMs} ms of moving and ${ignitionOnMs} ms of ignition`;
  add(bench, 'commandMoving', { commandID: null, words });
}

function judgeDrive(bench: Bench, contact: ContactNote, commandID: string): void {
  const { feature, energised, atMs } = contact;
  const at = `${feature} ${energised ? 'closed' : 'opened'} at ${(atMs / 1000).toFixed(3)} s`;
  const command = bench.ledger.commands.get(commandID);
  const mover = bench.movers.get(commandID) ?? { closings: 0, movedBack: null };
  const count = mover.closings + 1;
  const mayCutAnew = feature === 'enginecutoff' && !contact.wasConfirmed && count <= cutClosingsMost;
  const isAnew = mayCutAnew && mover.movedBack?.startsWith('withdraw:') === true;
  bench.movers.set(commandID, Object.assign(mover, { closings: count, movedBack: null }));
  bench.last.set(feature, mover);
  if (command === undefined)
    add(bench, 'commandTwice', { commandID, words: `${at} for a command that nobody gave` });
  else if (command.feature !== feature || (command.state === '1') !== energised)
    add(bench, 'commandTwice', {
      commandID,
      words: `${at}, but asked was ${command.feature} ${command.state}`,
    });
  else if (count > 1 && !isAnew)
    add(bench, 'commandTwice', { commandID, words: `${at}, the ${count}. time for one command` });
  else if (energised && atMs > command.expiresMs + expiryMs)
    add(bench, 'commandLate', { commandID, words: `${at}, ${atMs - command.expiresMs} ms after its expiry` });
}

function judgeContact(bench: Bench, contact: ContactNote): void {
  const { token, energised, feature } = contact;
  judgeMotion(bench, contact);
  if (token?.startsWith('drive:') === true) return judgeDrive(bench, contact, token.slice('drive:'.length));
  const mover = bench.last.get(feature);
  if (mover !== undefined) mover.movedBack = token;
  if (energised && token?.startsWith('repair:') !== true)
    add(bench, 'commandTwice', { commandID: null, words: `${feature} closed for ${token ?? 'nobody'}` });
}

/** What is wrong with commands and relays. */
export function judgeCommands(ledger: Ledger, inputsMs: number): readonly Breach[] {
  const found: Breach[] = [];
  for (const vehicle of ledger.vehicles.values()) {
    const bench: Bench = {
      ledger,
      deviceID: vehicle.deviceID,
      movers: new Map(),
      last: new Map(),
      found,
      inputsMs,
    };
    for (const contact of vehicle.contacts) judgeContact(bench, contact);
  }
  for (const { commandID, deviceID, hasEnded, endState } of ledger.commands.values()) {
    if (hasEnded) continue;
    const words = `its state at the end is ${endState ?? 'not known to the service'}`;
    found.push({ kind: 'commandOpen', deviceID, commandID, factNo: null, eventID: null, words });
  }
  return found;
}

export interface CommandDelay {
  /** When the contact moved, ms of the run. */
  readonly atMs: number;
  readonly tookMs: number;
}

/** From the request to the contact that came of it; of commands of that state. */
export function commandDelays(ledger: Ledger, state: CommandNote['state']): readonly CommandDelay[] {
  return [...ledger.vehicles.values()].flatMap(({ contacts }) =>
    contacts.flatMap(({ token, atMs }) => {
      const command = token?.startsWith('drive:') === true ? ledger.commands.get(token.slice(6)) : undefined;
      return command?.state === state ? [{ atMs, tookMs: Math.max(0, atMs - command.requestedMs) }] : [];
    }),
  );
}
