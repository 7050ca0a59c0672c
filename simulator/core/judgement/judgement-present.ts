// Judges the final state of a vehicle in the service (position, sensors, fuel, commands) against what it sent last, and sensors
// also against the simulated board's terminals. Pure.
import { vehicleBreach } from '../ledger/breach.ts';
import { recoveryMs, stalledMs } from '../ledger/excuses.ts';
import { type Fact, type FactKind, inputFacts, type WatchedInput, watchedInputs } from '../ledger/facts.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Breach, EventNote, SentEvent, VehicleNotes } from '../ledger/ledger-types.ts';
import type { ShownCommand, ShownDevice, StreamedDevice, VehicleViews } from '../ledger/shown-views.ts';

type Sent = SentEvent & { readonly timestampMs: number; readonly ackedMs: number | null };

/** Events that the service has of a vehicle, by vehicle time, then number. Lost ones are reported elsewhere. */
function sentOf({ boots }: VehicleNotes): readonly Sent[] {
  const isKnown = (note: EventNote | undefined): boolean =>
    note !== undefined && note.shown > 0 && note.sent?.timestampMs != null && !note.isResent;
  return [...boots.values()]
    .flat()
    .flatMap((note) =>
      isKnown(note) && note?.sent?.timestampMs != null
        ? [{ ...note.sent, timestampMs: note.sent.timestampMs, ackedMs: note.ackedMs }]
        : [],
    )
    .sort((a, b) => a.timestampMs - b.timestampMs);
}

/** Whole degrees, and 360 is 0. */
function isSameHeading(a: number, b: number): boolean {
  const turn = Math.abs(a - b) % 360;
  return Math.min(turn, 360 - turn) <= 1;
}

/** True when the vehicle sent this place for that second; each of several reports of a second may be the last. */
const isSent = (device: StreamedDevice, sent: readonly Sent[]): boolean =>
  sent.some(
    ({ latitude, longitude, timestampMs, speedKmh, headingDeg }) =>
      latitude !== null &&
      Math.floor(timestampMs / 1000) === device.deviceLastValidTimestamp &&
      Math.abs(latitude - device.deviceLastValidLatitude) <= 1e-6 &&
      Math.abs((longitude ?? 0) - device.deviceLastValidLongitude) <= 1e-6 &&
      Math.abs((speedKmh ?? 0) - device.deviceLastValidSpeed) <= 1 &&
      isSameHeading(headingDeg, device.deviceLastValidHeading),
  );

/** Events delivered this shortly before the end may be missing on the live stream, ms. */
const streamMs = 5000;

/** Judges the live stream's last place of a vehicle. */
export function judgeStreamed(vehicle: VehicleNotes, shown: StreamedDevice | undefined): readonly Breach[] {
  const { deviceID, stopMs } = vehicle;
  const sent = sentOf(vehicle);
  const due = sent.findLast(
    ({ latitude, ackedMs }) => latitude !== null && ackedMs !== null && ackedMs < (stopMs ?? 0) - streamMs,
  );
  const found = (words: string) => [vehicleBreach('streamWrong', deviceID, words)];
  if (shown === undefined)
    return due === undefined ? [] : found('no place of it was on the live stream, and it has sent one');
  if (!isSent(shown, sent))
    return found(`the live stream said ${JSON.stringify(shown)} last; it never sent that`);
  const dueS = Math.floor((due?.timestampMs ?? 0) / 1000);
  if (shown.deviceLastValidTimestamp >= dueS) return [];
  return found(
    `the live stream shows where it was at ${shown.deviceLastValidTimestamp}; a place of ${dueS} was delivered`,
  );
}

function wrongPosition(device: ShownDevice, sent: readonly Sent[]): string | null {
  const last = sent.findLast(({ latitude }) => latitude !== null);
  const shown = `${device.deviceLastValidLatitude},${device.deviceLastValidLongitude} at ${device.deviceLastValidTimestamp}`;
  if (last === undefined)
    return device.deviceLastValidTimestamp === 0 ? null : `last position ${shown}; it has sent none`;
  const isLast = Math.floor(last.timestampMs / 1000) === device.deviceLastValidTimestamp;
  return isLast && isSent(device, sent)
    ? null
    : `last position ${shown} with ${device.deviceLastValidSpeed} km/h to ${device.deviceLastValidHeading} degrees; it sent ${JSON.stringify(last)}`;
}

const stateOf = ({ sensors }: ShownDevice, name: string): string => sensors?.[name]?.state ?? '0';
const stateText = (isOn: boolean): string => (isOn ? '1' : '0');

function wrongSensors(device: ShownDevice, sent: readonly Sent[]): readonly string[] {
  return watchedInputs.flatMap((name) => {
    const isOn = sent.findLast(({ inputs }) => inputs?.[name] !== undefined)?.inputs?.[name];
    if (isOn === undefined || stateOf(device, name) === stateText(isOn)) return [];
    return [`sensor ${name} ${stateOf(device, name)}; it sent ${stateText(isOn)} last`];
  });
}

function wrongFuel({ fuelLevelAverage }: ShownDevice, sent: readonly Sent[]): string | null {
  const level = sent.findLast(({ fuelLevel }) => fuelLevel !== null)?.fuelLevel ?? null;
  if (level === null || Math.abs(Number(fuelLevelAverage ?? Number.NaN) - level) <= 0.001) return null;
  return `fuel ${fuelLevelAverage}; it sent ${level} last`;
}

/** Values of the vehicle bus that are not the last ones it sent. */
function wrongBus({ vehicleBus }: ShownDevice, sent: readonly Sent[]): readonly string[] {
  const last = new Map(sent.flatMap(({ bus }) => bus?.sent ?? []));
  return [...last].flatMap(([name, wanted]) => {
    const value = vehicleBus?.[name]?.value;
    return value === wanted ? [] : [`${name} of the bus ${String(value)}; it sent ${String(wanted)} last`];
  });
}

/** Numbers of facts whose event the service does not have, which is reported as that. */
const lostFacts = ({ boots }: VehicleNotes): ReadonlySet<number> =>
  new Set(
    [...boots.values()]
      .flat()
      .flatMap((note) => (note != null && note.factNo !== null && note.shown === 0 ? [note.factNo] : [])),
  );

/**
 * Time that a vehicle ran on sound hardware from `fromMs` to its end, ms: since the last hardware fault, without stalls of the
 * generator.
 */
function soundMs(vehicle: VehicleNotes, fromMs: number, stopMs: number): number {
  const ends = vehicle.excuses.flatMap((excuse) =>
    excuse.kind === 'hardware' && excuse.fromMs <= stopMs ? [excuse.toMs] : [],
  );
  const span = { fromMs: Math.max(fromMs, ...ends), toMs: stopMs };
  return span.toMs - span.fromMs - stalledMs(vehicle, span);
}

/** The last change of an input that had time to be seen and sent; null: none, or something kept it from that. */
function settledFact(
  vehicle: VehicleNotes,
  name: WatchedInput,
  lost: ReadonlySet<number>,
): { fact: Fact; isOn: boolean } | null {
  const { on, off } = inputFacts[name];
  const kinds: readonly FactKind[] = [on, off];
  const fact = vehicle.facts.findLast(({ kind }) => kinds.includes(kind));
  const { stopMs } = vehicle;
  if (fact === undefined || stopMs === null || lost.has(fact.no)) return null;
  return soundMs(vehicle, fact.atMs, stopMs) < recoveryMs ? null : { fact, isOn: fact.kind === on };
}

/** Sensors that stand otherwise than the terminals of the board. */
function wrongWorld(vehicle: VehicleNotes, device: ShownDevice): readonly string[] {
  const lost = lostFacts(vehicle);
  return watchedInputs.flatMap((name) => {
    const settled = settledFact(vehicle, name, lost);
    if (settled === null || stateOf(device, name) === stateText(settled.isOn)) return [];
    return [
      `sensor ${name} ${stateOf(device, name)}; its terminal is ${stateText(settled.isOn)} since ${(settled.fact.atMs / 1000).toFixed(1)} s of the run`,
    ];
  });
}

/** Both are the same record, but for the envelope of a single answer. */
function wrongListed({ device, listed }: VehicleViews): string | null {
  if (listed === null) return 'the list of all devices does not have it';
  const single = device as unknown as Readonly<Record<string, unknown>>;
  const other = Object.entries(listed).find(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(single[name]),
  );
  if (other === undefined) return null;
  const [name, value] = other;
  return `list of devices: ${name} ${JSON.stringify(value)} instead of ${JSON.stringify(single[name])}`;
}

/** Earliest moment at which the service last received from a unit: its last acknowledged report, ms. */
const heartbeatMs = 5000;

function wrongHeartbeat(vehicle: VehicleNotes, { deviceLastHeartbeat }: ShownDevice): string | null {
  const { beganUtcMs, boots } = vehicle;
  if (beganUtcMs === null) return null;
  const lastMs = [...boots.values()]
    .flat()
    .reduce((latest, note) => (note?.ackedMs == null ? latest : Math.max(latest, note.sentMs ?? 0)), 0);
  const shownMs = deviceLastHeartbeat * 1000 - beganUtcMs;
  if (lastMs === 0 || shownMs >= lastMs - heartbeatMs) return null;
  return `last heard of at ${(shownMs / 1000).toFixed(1)} s of the run; it sent something at ${(lastMs / 1000).toFixed(1)} s`;
}

/** The service records a command while it is requested, and that may be asked for again on a busy machine, ms. */
const issuedMs = 30_000;

/** By whom, and when. @param beganUtcMs null: the service reads another clock. */
function wrongOrigin(
  shown: ShownCommand,
  requestedMs: number,
  of: { userID: string; beganUtcMs: number | null },
) {
  if (shown.issuer !== of.userID) return `listed under ${shown.issuer || 'no user'}`;
  const lateMs = of.beganUtcMs === null ? 0 : shown.issued * 1000 - of.beganUtcMs - requestedMs;
  return Math.abs(lateMs) <= issuedMs
    ? null
    : `listed as of ${Math.round(lateMs / 1000)} s after its request`;
}

function wrongCommands(
  ledger: Ledger,
  { deviceID, commands }: VehicleViews,
  of: { readonly userID: string; readonly beganUtcMs: number | null },
): readonly string[] {
  const listed = new Map(commands.map((command) => [command.commandID, command]));
  return [...ledger.commands.values()].flatMap((command) => {
    if (command.deviceID !== deviceID) return [];
    const { commandID, feature, state, endState, requestedMs } = command;
    const shown = listed.get(commandID);
    const is = shown && `${shown.feature} ${shown.state} ${shown.commandState}`;
    const wanted = `${feature} ${state} ${endState}`;
    if (shown === undefined || is !== wanted)
      return [`command ${commandID}: listed as ${is ?? 'nothing'} instead of ${wanted}`];
    const origin = wrongOrigin(shown, requestedMs, of);
    return origin === null ? [] : [`command ${commandID}: ${origin}`];
  });
}

/**
 * Breaches in the final state of a vehicle and in the list of its commands.
 * @param of.isSameClock the service reads the clock of this machine; @param of.userID issuer of all commands.
 */
export function judgePresent(
  ledger: Ledger,
  vehicle: VehicleNotes,
  views: VehicleViews,
  of: { readonly isSameClock: boolean; readonly userID: string },
): readonly Breach[] {
  const { deviceID } = vehicle;
  const { isSameClock, userID } = of;
  const beganUtcMs = isSameClock ? vehicle.beganUtcMs : null;
  const { device } = views;
  const sent = sentOf(vehicle);
  const present = [
    wrongPosition(device, sent),
    ...wrongSensors(device, sent),
    ...wrongWorld(vehicle, device),
    wrongFuel(device, sent),
    wrongListed(views),
    isSameClock ? wrongHeartbeat(vehicle, device) : null,
  ];
  return [
    ...present.flatMap((words) => (words === null ? [] : [vehicleBreach('presentWrong', deviceID, words)])),
    ...wrongBus(device, sent).map((words) => vehicleBreach('busWrong', deviceID, words)),
    ...wrongCommands(ledger, views, { userID, beganUtcMs }).map((words) =>
      vehicleBreach('commandsWrong', deviceID, words),
    ),
  ];
}
