// Reads the track of a vehicle for replay: the export in GeoJSON has, of all answers, fuel, ignition and both times of each record.
import { type ReplayTrack, replayTrackOf, type TrackRecord } from '../state/replay.ts';
import { open, readInSession, ServiceError } from './call.ts';
import { saveFile } from './save-file.ts';

/** Most records of a track; the service keeps stops, gaps and every event that is no plain position. */
const pointsMost = '5000';

export const exportFormats = ['gpx', 'csv', 'geojson'] as const;
export type ExportFormat = (typeof exportFormats)[number];

export interface TrackPeriod {
  readonly deviceID: string;
  /** Epoch seconds; `toS` 0: now. */
  readonly fromS: number;
  readonly toS: number;
}

interface Asked {
  readonly format: ExportFormat;
  readonly points?: string;
  readonly signal?: AbortSignal;
}

const exportIDs = { gpx: 'exportGpx', csv: 'exportCsv', geojson: 'exportGeojson' } as const;

function readOnce({ deviceID, fromS, toS }: TrackPeriod, asked: Asked): Promise<Response> {
  const { format, points, signal } = asked;
  return open(exportIDs[format], {
    params: { deviceID, startTime: String(Math.floor(fromS)), endTime: String(Math.ceil(toS)) },
    query: points === undefined ? {} : { points },
    ...(signal === undefined ? {} : { signal }),
  });
}

const readExport = (period: TrackPeriod, asked: Asked): Promise<Response> =>
  readInSession(() => readOnce(period, asked), asked.signal);

/** The period in at most 5,000 records and those that must be kept. @throws ServiceError */
export async function readTrack(period: TrackPeriod, signal?: AbortSignal): Promise<ReplayTrack> {
  const answer = await readExport(period, {
    format: 'geojson',
    points: pointsMost,
    ...(signal === undefined ? {} : { signal }),
  });
  return replayTrackOf(await answer.json());
}

/** Bytes of the largest file: a page holds it whole before the browser saves it. */
export const fileMost = 512 * 1024 * 1024;

interface Saving {
  readonly signal?: AbortSignal;
  /** Reports how many bytes have come. */
  onReceived?(bytes: number): void;
}

/** The whole body, piece by piece. @throws ServiceError `too_large` beyond 512 MiB, `unreachable` when it breaks off. */
async function readBody(answer: Response, { signal, onReceived }: Saving): Promise<Blob> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  const type = answer.headers.get('content-type') ?? '';
  if (answer.body === null) return new Blob([], { type });
  const reader = answer.body.getReader();
  for (let bytes = 0; ; ) {
    const { done, value } = await reader.read().catch((thrown: unknown) => {
      if (signal?.aborted === true) throw thrown;
      throw new ServiceError({ code: 'unreachable', detail: String(thrown), hint: null }, 0);
    });
    if (done) return new Blob(pieces, { type });
    pieces.push(value);
    bytes += value.length;
    if (bytes > fileMost) {
      void reader.cancel();
      throw new ServiceError({ code: 'too_large', detail: `more than ${fileMost} bytes`, hint: null }, 0);
    }
    onReceived?.(bytes);
  }
}

/**
 * Saves every record of the period as a file, under the name that the service gives it.
 * @throws ServiceError, as `readBody`; the reason of the signal when it aborts.
 */
export async function saveTrack(
  period: TrackPeriod,
  format: ExportFormat,
  saving: Saving = {},
): Promise<void> {
  const { signal } = saving;
  const answer = await readExport(period, { format, ...(signal === undefined ? {} : { signal }) });
  const [, name] = /filename="?([\w.-]+)"?/.exec(answer.headers.get('content-disposition') ?? '') ?? [];
  saveFile(name ?? `${period.deviceID}.${format}`, await readBody(answer, saving));
}

interface RecordKey {
  readonly deviceID: string;
  readonly eventID: string;
  /** Vehicle time, epoch seconds. */
  readonly timestamp: number;
}

/** One record with what the receiver said; null when it is not there. @throws ServiceError */
export async function readRecord(
  { deviceID, eventID, timestamp }: RecordKey,
  signal?: AbortSignal,
): Promise<TrackRecord | null> {
  const period = { deviceID, fromS: timestamp, toS: timestamp + 1 };
  const answer = await readExport(period, {
    format: 'geojson',
    ...(signal === undefined ? {} : { signal }),
  });
  const { records } = replayTrackOf(await answer.json());
  return records.find((record) => record.eventID === eventID) ?? null;
}
