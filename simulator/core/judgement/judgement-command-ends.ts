// Judges the end of each command: delivered to a connected vehicle, confirmed only with its relay, restored at the end, and shown
// by the service like the relay. Pure. The contacts of the simulated board are the truth.
import { type FeatureName, featureNames } from '../../../src/core/events/event.ts';
import { recoveryMs, type Span, stalledMs } from '../ledger/excuses.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Breach, CommandNote, VehicleNotes } from '../ledger/ledger-types.ts';

/** A vehicle that is connected this long without a break must have stored the arrival of the command. */
const deliveryMs = 5000;

interface Ordered {
  readonly command: CommandNote;
  readonly vehicle: VehicleNotes;
  /** Time of the next command to the same relay; infinite: none. */
  readonly nextMs: number;
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(3)} s`;

/** Position of a relay at a moment; all are open at the start. */
function isEnergised({ contacts }: VehicleNotes, feature: FeatureName, atMs: number): boolean {
  return (
    contacts.findLast((contact) => contact.feature === feature && contact.atMs <= atMs)?.energised ?? false
  );
}

/** True when the relay was in the commanded state while the command was the newest, or moved there for it. */
function hasRelay({ command, vehicle, nextMs }: Ordered): boolean {
  const { commandID, feature, requestedMs } = command;
  const energised = command.state === '1';
  if (isEnergised(vehicle, feature, requestedMs) === energised) return true;
  return vehicle.contacts.some(
    (contact) =>
      contact.feature === feature &&
      contact.energised === energised &&
      contact.atMs >= requestedMs &&
      (contact.atMs <= nextMs || contact.token === `drive:${commandID}`),
  );
}

/** Length of a span outside faults and their recovery times. */
function without(span: Span, faults: readonly Span[]): readonly Span[] {
  return faults.reduce<readonly Span[]>(
    (left, { fromMs, toMs }) =>
      left
        .flatMap((part) => [
          { fromMs: part.fromMs, toMs: Math.min(part.toMs, fromMs) },
          { fromMs: Math.max(part.fromMs, toMs + recoveryMs), toMs: part.toMs },
        ])
        .filter((part) => part.fromMs < part.toMs),
    [span],
  );
}

/** Longest time without a break that the link was up within a span, nothing was at fault, and the generator had time, ms. */
function connectedMs(vehicle: VehicleNotes, span: Span): number {
  const { ups, downs, excuses } = vehicle;
  const connected = ups.map((fromMs, at) => ({
    fromMs: Math.max(fromMs, span.fromMs),
    toMs: Math.min(downs[at] ?? span.toMs, span.toMs),
  }));
  const sound = connected.flatMap((up) => without(up, excuses));
  return Math.max(0, ...sound.map((part) => part.toMs - part.fromMs - stalledMs(vehicle, part)));
}

function undelivered({ command, vehicle, nextMs }: Ordered, endMs: number): string | null {
  const { requestedMs, expiresMs, endState } = command;
  const upMs = connectedMs(vehicle, { fromMs: requestedMs, toMs: Math.min(expiresMs, nextMs, endMs) });
  if (upMs < deliveryMs) return null;
  return `requested at ${seconds(requestedMs)}, ended as ${endState}; the vehicle was connected for ${seconds(upMs)} meanwhile and did not get it`;
}

type Finding = Pick<Breach, 'kind' | 'words'>;

const openEnd = ({ endState }: CommandNote): Finding => ({
  kind: 'commandOpen',
  words: `its state at the end is ${endState ?? 'not known to the service'}`,
});

/** Breach at the end of one command; null: none. */
function endOf(of: Ordered, endMs: number): Finding | null {
  const { command, vehicle } = of;
  const { commandID, feature, state, endState } = command;
  if (!command.hasEnded) return openEnd(command);
  const mine = vehicle.reports.filter((report) => report.commandID === commandID);
  if (endState === 'confirmed') {
    if (!hasRelay(of))
      return { kind: 'falseConfirmation', words: `${feature} ${state}: the relay did not move to it` };
    if (!mine.some((report) => report.state === 'confirmed'))
      return { kind: 'falseConfirmation', words: `${feature} ${state}: the vehicle did not report it` };
    return null;
  }
  const words = mine.length === 0 ? undelivered(of, endMs) : null;
  return words === null ? null : { kind: 'commandUndelivered', words: `${feature} ${state}: ${words}` };
}

/** True when the last relay move may be unknown to the service: the relay moved by itself after the run. */
function isLate({ contacts, stopMs }: VehicleNotes, feature: FeatureName): boolean {
  const last = contacts.findLast((contact) => contact.feature === feature);
  return last !== undefined && stopMs !== null && last.atMs >= stopMs && !last.token?.startsWith('drive:');
}

/** The relays of a vehicle at the end. @param last the newest command to each. */
function judgeRelays(vehicle: VehicleNotes, last: ReadonlyMap<FeatureName, CommandNote>): readonly Breach[] {
  const { deviceID, shownStates } = vehicle;
  return featureNames.flatMap((feature): readonly Breach[] => {
    const energised = isEnergised(vehicle, feature, Number.POSITIVE_INFINITY);
    const command = last.get(feature);
    const about = { deviceID, factNo: null, eventID: null, commandID: command?.commandID ?? null };
    const left: readonly Breach[] =
      energised && command !== undefined
        ? [{ kind: 'notRestored', ...about, words: `the relay of ${feature} is energised at the end` }]
        : [];
    const shown = shownStates[feature];
    const is = energised ? '1' : '0';
    if (shown === undefined || shown === is || isLate(vehicle, feature)) return left;
    const words = `the service shows ${feature} ${shown}, the relay is in ${is}`;
    return [...left, { kind: 'wrongState', ...about, words }];
  });
}

/** Breaches in the ends of commands and in the final relay states. @param endMs when vehicles left the road, ms of the run. */
export function judgeCommandEnds(ledger: Ledger, endMs: number): readonly Breach[] {
  const found: Breach[] = [];
  const newest = new Map<string, Map<FeatureName, CommandNote>>();
  // From the newest to the oldest, so that the next command to the same relay is known.
  const commands = [...ledger.commands.values()].sort((a, b) => b.requestedMs - a.requestedMs);
  const next = new Map<string, number>();
  for (const command of commands) {
    const { deviceID, commandID, feature, requestedMs } = command;
    const key = `${deviceID} ${feature}`;
    const nextMs = next.get(key) ?? Number.POSITIVE_INFINITY;
    next.set(key, requestedMs);
    const vehicle = ledger.vehicles.get(deviceID);
    // A vehicle that never started is reported elsewhere; its commands must end all the same.
    if (vehicle === undefined && command.hasEnded) continue;
    const relays = newest.get(deviceID) ?? new Map<FeatureName, CommandNote>();
    if (!relays.has(feature)) relays.set(feature, command);
    newest.set(deviceID, relays);
    const end = vehicle === undefined ? openEnd(command) : endOf({ command, vehicle, nextMs }, endMs);
    if (end !== null) found.push({ ...end, deviceID, commandID, factNo: null, eventID: null });
  }
  for (const vehicle of ledger.vehicles.values())
    found.push(...judgeRelays(vehicle, newest.get(vehicle.deviceID) ?? new Map()));
  return found.toReversed();
}
