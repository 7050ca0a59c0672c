// The live stream of the account, read as an open console does: it measures the time from an event's storing on the vehicle to
// its visibility. It counts each event over interruptions and resumptions.
import { messageOf } from '../../../src/core/errors.ts';
import type { Cancel, Clock } from '../../../src/ports.ts';
import type { StreamSight } from '../../core/judgement/judgement-alerts.ts';
import type { ShownEvent, Sighting } from '../../core/ledger/ledger-types.ts';
import type { StreamedDevice } from '../../core/ledger/shown-views.ts';
import { type RunTime } from '../shared/run-ports.ts';
import type { Service } from './service.ts';

export interface LiveStream {
  /** Events of the run that were seen, and why the last stream ended. */
  state(): { readonly seen: number; readonly reason: string };
  /** Resolves when nothing new has come for a moment; later than some seconds in any case. */
  settle(): Promise<void>;
  /** Sightings of each event; null: the service omitted some, or they were too many to count. */
  sight(): StreamSight | null;
  close(): void;
}

interface LiveStreamOptions {
  readonly service: Service;
  readonly clock: Clock;
  readonly time: RunTime;
  /** Asks for the places of devices too, as a map does. */
  readonly hasDevices: boolean;
  /** It is broken off after so long, and resumed; absent: it is read to its end. */
  readonly readMs?: number;
  /** Whether a device belongs to the run. */
  isOwn(deviceID: string): boolean;
  onSeen?(sighting: Sighting): void;
}

const reopenMs = 1000;
const lineMost = 65_536;
/** Events that are counted one by one: some 100 bytes each. */
const countedMost = 500_000;
/** Events whose members are kept: some 500 bytes each. */
const keptMost = 20_000;
const settledMs = 1500;
const settleMostMs = 15_000;

/** What came of each event. */
function createSightBook(hasDevices: boolean) {
  const devices = new Map<string, StreamedDevice>();
  const counts = new Map<string, number>();
  const messages = new Map<string, Partial<ShownEvent>>();
  let isWhole = true;
  return {
    add(key: string, message: Partial<ShownEvent>): void {
      if (counts.size < countedMost) counts.set(key, (counts.get(key) ?? 0) + 1);
      else isWhole = false;
      if (messages.size < keptMost && !messages.has(key)) messages.set(key, message);
    },
    /** A message without a position does not say where the device is. */
    addDevice(deviceID: string, message: Partial<StreamedDevice>): void {
      if (message.deviceLastValidTimestamp !== undefined) devices.set(deviceID, message as StreamedDevice);
    },
    /** The service left some out. */
    break(): void {
      isWhole = false;
    },
    sight: (): StreamSight | null =>
      isWhole
        ? {
            times: (deviceID, eventID) => counts.get(`${deviceID} ${eventID}`) ?? 0,
            said: (deviceID, eventID) => messages.get(`${deviceID} ${eventID}`),
            devices: hasDevices ? devices : null,
          }
        : null,
  };
}

/** Opens the stream, and reopens it whenever it ends. */
export function watchLiveStream(options: LiveStreamOptions): LiveStream {
  const { service, clock, time, isOwn, hasDevices, readMs } = options;
  const abort = new AbortController();
  const kept = { seen: 0, reason: '' };
  const book = createSightBook(hasDevices);
  let isOpen = false;
  let isSettling = false;
  let cancelRead: Cancel = () => undefined;
  let lastID: string | null = null;
  /** Of the message whose lines are being read. */
  let id: string | null = null;
  let lastMs = clock.monoMs();
  const handleEvent = (text: string): void => {
    const message = JSON.parse(text) as Partial<ShownEvent & StreamedDevice>;
    const { deviceID, eventID } = message;
    if (deviceID === undefined || !isOwn(deviceID)) return;
    if (eventID === undefined) return book.addDevice(deviceID, message);
    kept.seen += 1;
    lastMs = clock.monoMs();
    book.add(`${deviceID} ${eventID}`, message);
    options.onSeen?.({ deviceID, eventID, atMs: time.nowMs() });
  };
  const handleLine = (line: string): void => {
    if (line === '') {
      // Only a whole message moves the resume point.
      lastID = id ?? lastID;
      id = null;
    } else if (line.startsWith('id: ')) id = line.slice(4);
    else if (line.startsWith('event: reset')) book.break();
    else if (line.startsWith('data: {"deviceID"')) handleEvent(line.slice(6));
  };
  const read = async (): Promise<void> => {
    id = null;
    const headers = lastID === null ? {} : { 'last-event-id': lastID };
    const reading = new AbortController();
    if (readMs !== undefined) cancelRead = clock.after(readMs, () => isSettling || reading.abort());
    const signal = AbortSignal.any([abort.signal, reading.signal]);
    const path = `/events/stream/authorization?kinds=${hasDevices ? 'event,device' : 'event'}`;
    const chunks = await service.stream(path, { signal, headers });
    isOpen = true;
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of chunks) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = (lines.pop() ?? '').slice(-lineMost);
      for (const line of lines) handleLine(line);
    }
    kept.reason = 'ended by the service';
  };
  const go = (): void => {
    read()
      .catch((thrown: unknown) => {
        kept.reason = messageOf(thrown);
      })
      .finally(() => {
        isOpen = false;
        cancelRead();
        if (!abort.signal.aborted) clock.after(reopenMs, go);
      });
  };
  go();
  return {
    state: () => ({ ...kept }),
    async settle() {
      isSettling = true;
      const untilMs = clock.monoMs() + settleMostMs;
      lastMs = clock.monoMs();
      while (clock.monoMs() < Math.min(untilMs, lastMs + settledMs)) {
        await new Promise<void>((done) => void clock.after(100, done));
        // Missed messages come when it is open again.
        if (!isOpen) lastMs = clock.monoMs();
      }
    },
    sight: book.sight,
    close: () => abort.abort(),
  };
}
