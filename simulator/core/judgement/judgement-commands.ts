// Judges the relay contacts by the commands that were given: each moves its own relay at most once, in time and never while moving. The
// ends of commands are judged in `judgement-command-ends.ts`. Pure; the vehicle's log only names the command of a contact, the contact
// itself is the truth.
import { stalledMs } from '../ledger/excuses.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Breach, BreachKind, CommandNote, ContactNote, VehicleNotes } from '../ledger/ledger-types.ts';

/**
 * The truth may have changed this long before a restrictive contact closes (test/support/virtual/virtual-truth.ts): a sample of
 * the ignition is valid for 1 s and one reading, a fix for 2 s and its burst. An order waits at most 1.5 s for the bus. Stalls of
 * the generator do not count: board, receiver and agent are one process, and a written order reaches the contact after the stall.
 */
const latency = { ignitionMs: 1100, movingMs: 4000 } as const;
/** Expiry travels in whole seconds. */
const expiryMs = 1000;
/**
 * A withdrawn cut may already be on the wires: the contact closes and is opened again. The command is then not carried out and is
 * judged again, at most this often in an hour (`interlockLimits.changesPerHour` of the agent). A lock that may have been open is
 * never opened again.
 */
const cutClosingsMost = 6;

interface Mover {
  closings: number;
  /** What moved the contact back since. */
  movedBack: string | null;
}

interface CommandCheck {
  readonly ledger: Ledger;
  readonly vehicle: VehicleNotes;
  readonly movers: Map<string, Mover>;
  readonly last: Map<string, Mover>;
  readonly found: Breach[];
  readonly inputsMs: number;
}

function add(check: CommandCheck, kind: BreachKind, of: { commandID: string | null; words: string }): void {
  const { found } = check;
  const { deviceID } = check.vehicle;
  found.push({ kind, deviceID, factNo: null, eventID: null, ...of });
}

function judgeMotion(check: CommandCheck, contact: ContactNote): void {
  const { feature, token, movingMs, ignitionOnMs, atMs } = contact;
  if (!contact.energised) return;
  /** Of a state that has lasted so long, what the agent had to see it, ms. */
  const seenMs = (lastedMs: number): number =>
    lastedMs - stalledMs(check.vehicle, { fromMs: atMs - lastedMs, toMs: atMs });
  const isIgnition = feature === 'enginecutoff' && seenMs(ignitionOnMs) > latency.ignitionMs + check.inputsMs;
  if (!isIgnition && seenMs(movingMs) <= latency.movingMs) return;
  const words = `${feature} closed for ${token ?? 'no command'} after ${movingMs} ms of moving and ${ignitionOnMs} ms of ignition`;
  add(check, 'commandMoving', { commandID: null, words });
}

/** Time between a command's expiry and the contact's move, without stalls of the generator, ms. */
const lateMs = ({ vehicle }: CommandCheck, { expiresMs }: CommandNote, atMs: number): number =>
  atMs - expiresMs - stalledMs(vehicle, { fromMs: expiresMs, toMs: atMs });

function judgeDrive(check: CommandCheck, contact: ContactNote, commandID: string): void {
  const { feature, energised, atMs } = contact;
  const at = `${feature} ${energised ? 'closed' : 'opened'} at ${(atMs / 1000).toFixed(3)} s`;
  const command = check.ledger.commands.get(commandID);
  const mover = check.movers.get(commandID) ?? { closings: 0, movedBack: null };
  const count = mover.closings + 1;
  const mayCutAnew = feature === 'enginecutoff' && !contact.wasConfirmed && count <= cutClosingsMost;
  const isAnew = mayCutAnew && mover.movedBack?.startsWith('withdraw:') === true;
  check.movers.set(commandID, Object.assign(mover, { closings: count, movedBack: null }));
  check.last.set(feature, mover);
  if (command === undefined)
    add(check, 'commandTwice', { commandID, words: `${at} for a command that was not given` });
  else if (command.feature !== feature)
    add(check, 'wrongRelay', {
      commandID,
      words: `${at}, but requested was ${command.feature} ${command.state}`,
    });
  else if ((command.state === '1') !== energised)
    add(check, 'commandTwice', {
      commandID,
      words: `${at}, but requested was ${command.feature} ${command.state}`,
    });
  else if (count > 1 && !isAnew)
    add(check, 'commandTwice', { commandID, words: `${at}, the ${count}. time for one command` });
  else if (energised && lateMs(check, command, atMs) > expiryMs)
    add(check, 'commandLate', { commandID, words: `${at}, ${atMs - command.expiresMs} ms after its expiry` });
}

function judgeContact(check: CommandCheck, contact: ContactNote): void {
  const { token, energised, feature } = contact;
  judgeMotion(check, contact);
  if (token?.startsWith('drive:') === true) return judgeDrive(check, contact, token.slice('drive:'.length));
  const mover = check.last.get(feature);
  if (mover !== undefined) mover.movedBack = token;
  if (energised && token?.startsWith('repair:') !== true)
    add(check, 'commandTwice', { commandID: null, words: `${feature} closed for ${token ?? 'no command'}` });
}

/** What is wrong with the moves of relays. */
export function judgeCommands(ledger: Ledger, inputsMs: number): readonly Breach[] {
  const found: Breach[] = [];
  for (const vehicle of ledger.vehicles.values()) {
    const check: CommandCheck = {
      ledger,
      vehicle,
      movers: new Map(),
      last: new Map(),
      found,
      inputsMs,
    };
    for (const contact of vehicle.contacts) judgeContact(check, contact);
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

/** Commands of state 1 that were confirmed and whose relay moved for them. */
export function countDone(ledger: Ledger): number {
  const moved = new Set(
    [...ledger.vehicles.values()].flatMap(({ contacts }) => contacts.map(({ token }) => token)),
  );
  const isDone = ({ commandID, state, endState }: CommandNote): boolean =>
    state === '1' && endState === 'confirmed' && moved.has(`drive:${commandID}`);
  return [...ledger.commands.values()].filter(isDone).length;
}
