// The live stream of the account, read as an open console does: measures the time from an event's storing on the vehicle until it is
// visible, and counts how often each event came, over interruptions and resumptions.
import { messageOf } from '../../../src/core/errors.ts';
import type { Clock } from '../../../src/ports.ts';
import type { StreamSight } from '../../core/judgement/judgement-alerts.ts';
import { type Sighting } from '../../core/ledger/ledger-types.ts';
import { type RunTime } from '../shared/run-ports.ts';
import type { Service } from './service.ts';

export interface LiveStream {
  /** Events of the run that were seen, and why the last stream ended. */
  state(): { readonly seen: number; readonly reason: string };
  /** Resolves when nothing new has come for a moment; later than some seconds in any case. */
  settle(): Promise<void>;
  /** How often each event came; null: the service said that it left some out, or they were too many to be counted. */
  sight(): StreamSight | null;
  close(): void;
}

interface LiveStreamOptions {
  readonly service: Service;
  readonly clock: Clock;
  readonly time: RunTime;
  /** Whether a device belongs to the run. */
  isOwn(deviceID: string): boolean;
  onSeen(sighting: Sighting): void;
}

const reopenMs = 1000;
const lineMost = 65_536;
/** Events that are counted one by one: some 100 bytes each. */
const countedMost = 500_000;
const settledMs = 1500;
const settleMostMs = 15_000;

/** Opens the stream, and reopens it whenever it ends. */
export function watchLiveStream({ service, clock, time, isOwn, onSeen }: LiveStreamOptions): LiveStream {
  const abort = new AbortController();
  const kept = { seen: 0, reason: '' };
  const counts = new Map<string, number>();
  let isWhole = true;
  let lastID: string | null = null;
  /** Of the message whose lines are being read. */
  let id: string | null = null;
  let lastMs = clock.monoMs();
  const handleEvent = (text: string): void => {
    const { deviceID, eventID } = JSON.parse(text) as { deviceID?: string; eventID?: string };
    if (deviceID === undefined || eventID === undefined || !isOwn(deviceID)) return;
    kept.seen += 1;
    lastMs = clock.monoMs();
    const key = `${deviceID} ${eventID}`;
    if (counts.size < countedMost) counts.set(key, (counts.get(key) ?? 0) + 1);
    else isWhole = false;
    onSeen({ deviceID, eventID, atMs: time.nowMs() });
  };
  const handleLine = (line: string): void => {
    if (line === '') {
      // Only a whole message moves the resume point.
      lastID = id ?? lastID;
      id = null;
    } else if (line.startsWith('id: ')) id = line.slice(4);
    else if (line.startsWith('event: reset')) isWhole = false;
    else if (line.startsWith('data: {"deviceID"')) handleEvent(line.slice(6));
  };
  const read = async (): Promise<void> => {
    id = null;
    const headers = lastID === null ? {} : { 'last-event-id': lastID };
    const chunks = await service.stream('/events/stream/authorization?kinds=event', {
      signal: abort.signal,
      headers,
    });
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
        if (!abort.signal.aborted) clock.after(reopenMs, go);
      });
  };
  go();
  return {
    state: () => ({ ...kept }),
    async settle() {
      const untilMs = clock.monoMs() + settleMostMs;
      lastMs = clock.monoMs();
      while (clock.monoMs() < Math.min(untilMs, lastMs + settledMs))
        await new Promise<void>((done) => void clock.after(100, done));
    },
    sight: () => (isWhole ? (deviceID, eventID) => counts.get(`${deviceID} ${eventID}`) ?? 0 : null),
    close: () => abort.abort(),
  };
}
