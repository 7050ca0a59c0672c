// Searches for an I/O board on a serial line: speed, framing and address of an answer, and the shipped profile that
// its registers match. It only reads; a GNSS receiver on the line is recognised as such.
import type { SerialSettings } from '../../src/ports.ts';
import { type BoardProfile, pollRequest } from '../core/board/board-profile.ts';
import { formatException, formatRequest, type ModbusRequest } from '../core/board/modbus-frame.ts';
import type { RtuResult } from '../core/board/rtu-types.ts';
import { createNmeaState, decodeNmea } from '../core/gnss/nmea.ts';
import { type Bus, openBus } from './bus.ts';
import type { DoctorPorts } from './ports.ts';

export const usualBauds: readonly number[] = [9600, 19_200, 38_400, 57_600, 115_200, 4800, 2400];
const usualParities = ['none', 'even'] as const;
const usualUnits: readonly number[] = [1, 2, 3];

/** `8N1` and the like. */
export function formatFraming({
  dataBits,
  parity,
  stopBits,
}: Omit<SerialSettings, 'path' | 'baudRate'>): string {
  return `${dataBits}${(parity[0] ?? 'n').toUpperCase()}${stopBits}`;
}

export const hasAnswered = (result: RtuResult): boolean =>
  result.kind === 'ok' || result.kind === 'exception';

/** True when the line carries NMEA sentences: a receiver is at the other end. */
export function isNmea(bytes: Uint8Array): boolean {
  const { sentences, sky, ignored } = decodeNmea(createNmeaState(), bytes);
  return sentences.length + sky.length + ignored > 0;
}

export interface ProfileFit {
  readonly profile: BoardProfile;
  /** Ranges of the profile that were read well, of all. */
  readonly read: number;
  readonly ranges: number;
  /** Mismatches, as text. */
  readonly faults: readonly string[];
}

export const fits = ({ read, ranges }: ProfileFit): boolean => read === ranges;

function words(request: ModbusRequest, result: RtuResult): string {
  const where = formatRequest(request);
  if (result.kind === 'exception') return `${where}: ${formatException(result.code)}`;
  return result.kind === 'invalid' ? `${where}: bad answer (${result.reason})` : `${where}: no answer`;
}

/** Reads every range that a profile polls, and compares its set-up registers. Twice where nothing came: a line is not perfect. */
export async function fitProfile(bus: Bus, profile: BoardProfile): Promise<ProfileFit> {
  let read = 0;
  const faults: string[] = [];
  const requests = Object.values(profile.polls).flatMap((poll) => pollRequest(profile, poll) ?? []);
  for (const request of requests) {
    let result = await bus.ask(request);
    if (!hasAnswered(result)) result = await bus.ask(request);
    if (result.kind === 'ok') read += 1;
    else faults.push(words(request, result));
  }
  return { profile, read, ranges: requests.length, faults };
}

export interface Found {
  readonly settings: SerialSettings;
  readonly units: readonly number[];
  /** Of the profiles that fit, those with the most ranges first. */
  readonly fitting: readonly ProfileFit[];
}

export type Search =
  | { readonly kind: 'found'; readonly found: Found }
  /** A receiver talks on this port: the two are swapped. */
  | { readonly kind: 'nmea' }
  /** `noise`: bytes came that make no answer at any speed. */
  | { readonly kind: 'nothing'; readonly noiseBytes: number; readonly tried: number };

interface SearchOptions {
  readonly ports: Pick<DoctorPorts, 'clock' | 'openByteLink'>;
  readonly path: string;
  readonly configured: BoardProfile;
  readonly shipped: readonly BoardProfile[];
  isStopped(): boolean;
}

/** One small read for each address: of the profile where it knows the unit, else a coil, which every board answers or refuses. */
function probesOf({ configured, shipped }: SearchOptions): readonly ModbusRequest[] {
  const probes = new Map<number, ModbusRequest>();
  for (const profile of [configured, ...shipped])
    for (const poll of Object.values(profile.polls)) {
      const request = pollRequest(profile, poll);
      if (request !== null && !probes.has(request.unit)) probes.set(request.unit, request);
    }
  for (const unit of usualUnits)
    if (!probes.has(unit)) probes.set(unit, { kind: 'readBits', unit, function: 1, first: 0, count: 1 });
  return [...probes.values()];
}

async function answering(bus: Bus, probes: readonly ModbusRequest[]): Promise<readonly number[]> {
  const units: number[] = [];
  for (const probe of probes) if (hasAnswered(await bus.ask(probe))) units.push(probe.unit);
  return units;
}

async function fittingProfiles(
  bus: Bus,
  units: readonly number[],
  { configured, shipped }: SearchOptions,
): Promise<readonly ProfileFit[]> {
  const others = shipped.filter(({ name }) => name !== configured.name);
  const possible = [configured, ...others].filter((profile) =>
    Object.values(profile.units).every(({ address }) => units.includes(address)),
  );
  const found: ProfileFit[] = [];
  for (const profile of possible) {
    const fit = await fitProfile(bus, profile);
    if (fits(fit)) found.push(fit);
  }
  return found.sort((one, two) => two.ranges - one.ranges);
}

/** Tries every usual speed and framing, that of the profile first, until something answers. @throws AppError `serial`. */
export async function searchBoard(options: SearchOptions): Promise<Search> {
  const { configured, path, ports } = options;
  const { dataBits, stopBits, parity, baudRate } = configured.serial;
  const probes = probesOf(options);
  const bauds = [baudRate, ...usualBauds.filter((baud) => baud !== baudRate)];
  const parities = [parity, ...usualParities.filter((one) => one !== parity)];
  let noiseBytes = 0;
  let tried = 0;
  for (const oneParity of parities)
    for (const baud of bauds) {
      if (options.isStopped()) return { kind: 'nothing', noiseBytes, tried };
      const settings: SerialSettings = { path, baudRate: baud, dataBits, stopBits, parity: oneParity };
      const bus = await openBus(settings, ports);
      tried += 1;
      try {
        const units = await answering(bus, probes);
        if (units.length > 0) {
          const fitting = await fittingProfiles(bus, units, options);
          return { kind: 'found', found: { settings, units, fitting } };
        }
        const received = bus.received();
        if (isNmea(received)) return { kind: 'nmea' };
        noiseBytes += received.length;
      } finally {
        await bus.close();
      }
    }
  return { kind: 'nothing', noiseBytes, tried };
}
