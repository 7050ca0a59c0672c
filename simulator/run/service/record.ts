// Records the traffic of an account from its HTTP service into a file without personal data. The hash key is lost with the
// process unless a file keeps it. The recording gets its name only when it is complete.
import { createHmac } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { AppError } from '../../../src/core/errors.ts';
import type { ShownEvent } from '../../core/ledger/ledger-types.ts';
import {
  formatEnd,
  formatEvent,
  formatHead,
  type RecordedEvent,
  recordingLimits,
  type Shift,
  shiftPlace,
} from '../../core/traffic/recording.ts';
import type { Service } from './service.ts';

export interface RecordOptions {
  readonly service: Service;
  /** Epoch seconds, both included; `toS` 0: up to now. */
  readonly fromS: number;
  readonly toS: number;
  /** Only these devices; null: all that the user may see. */
  readonly deviceIDs: readonly string[] | null;
  readonly key: Uint8Array;
  readonly isShifted: boolean;
  readonly file: string;
}

interface RecordingSummary {
  readonly events: number;
  readonly devices: number;
  readonly spanS: number;
}

interface Page {
  readonly eventdata: { readonly devices: readonly ShownEvent[] };
  readonly more?: boolean;
  readonly next?: string | null;
}

const fields = 'deviceID,statusCode,timestamp,latitude,longitude,isPositionValid,speed,heading';
const pageSize = 5000;

async function* pages({ service, fromS, toS }: RecordOptions): AsyncGenerator<readonly ShownEvent[]> {
  let cursor: string | null = '';
  while (cursor !== null) {
    const place: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const path = `/eventdata/fleetdata/${fromS}/${toS}/authorization?limit=${pageSize}&fields=${fields}${place}`;
    const page: Page = await service.call<Page>({ path });
    yield page.eventdata.devices;
    cursor = page.more === true ? (page.next ?? null) : null;
  }
}

const hashOf = (key: Uint8Array, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** 0.5 to 3 degrees north or south and any longitude; the same for the whole recording. */
function shiftOf(key: Uint8Array): Shift {
  const digest = hashOf(key, 'shift');
  const fraction = (at: number): number => digest.readUInt32BE(at) / 2 ** 32;
  const north = 0.5 + fraction(0) * 2.5;
  return { latitude: fraction(4) < 0.5 ? north : -north, longitude: fraction(8) * 360 - 180 };
}

function createAnonymiser({ key, isShifted }: RecordOptions) {
  const shift = isShifted ? shiftOf(key) : { latitude: 0, longitude: 0 };
  const names = new Map<string, string>();
  let firstS: number | null = null;
  const nameOf = (deviceID: string): string => {
    const known = names.get(deviceID) ?? hashOf(key, `device ${deviceID}`).toString('hex').slice(0, 16);
    names.set(deviceID, known);
    return known;
  };
  return {
    devices: () => names.size,
    anonymise(event: ShownEvent): RecordedEvent {
      firstS ??= event.timestamp;
      const place = event.isPositionValid ? shiftPlace(event, shift) : { latitude: null, longitude: null };
      return {
        device: nameOf(event.deviceID),
        atS: Math.max(0, event.timestamp - firstS),
        statusCode: event.statusCode,
        ...place,
        speedKmh: event.speed,
        headingDeg: event.heading % 360,
      };
    },
  };
}

/** @throws AppError `invalid_content` for an empty range or more than a recording may hold, or the error of the service. */
export async function record(options: RecordOptions): Promise<RecordingSummary> {
  const { file, deviceIDs, isShifted } = options;
  const wanted = deviceIDs === null ? null : new Set(deviceIDs);
  const anonymiser = createAnonymiser(options);
  const unfinished = `${file}.part`;
  const out = await open(unfinished, 'wx', 0o600).catch((thrown: NodeJS.ErrnoException) => {
    throw new AppError('usage', `${unfinished} cannot be written: ${thrown.message}`);
  });
  let events = 0;
  let bytes = 0;
  let spanS = 0;
  const write = async (text: string): Promise<void> => {
    bytes += Buffer.byteLength(text);
    if (events > recordingLimits.events || bytes > recordingLimits.bytes)
      throw new AppError(
        'invalid_content',
        `More than ${recordingLimits.events} events or ${recordingLimits.bytes} bytes`,
        {
          hint: 'Choose a shorter range, or some of the devices.',
        },
      );
    await out.write(text);
  };
  try {
    await write(formatHead({ isShifted }));
    for await (const page of pages(options)) {
      const chosen = wanted === null ? page : page.filter(({ deviceID }) => wanted.has(deviceID));
      const found = chosen.map(anonymiser.anonymise);
      events += found.length;
      spanS = Math.max(spanS, found.at(-1)?.atS ?? 0);
      await write(found.map(formatEvent).join(''));
    }
    if (events === 0)
      throw new AppError('invalid_content', 'There is no event in that range: nothing was recorded');
    await write(formatEnd(events));
    await out.sync();
    await out.close();
    await rename(unfinished, file);
    return { events, devices: anonymiser.devices(), spanS };
  } catch (thrown) {
    await out.close().catch(() => undefined);
    await rm(unfinished, { force: true });
    throw thrown;
  }
}
