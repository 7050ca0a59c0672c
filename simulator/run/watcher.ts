// What people see: the live stream of the account, read like an open page does, for the time from an event's storing on the vehicle
// until it shows. It is a look and no proof: what the stream misses is found when the records are read at the end.
import { messageOf } from '../../src/core/errors.ts';
import type { Clock } from '../../src/ports.ts';
import type { RunTime } from './fleet-vehicle.ts';
import type { Sighting } from './part.ts';
import type { Service } from './service.ts';

export interface Watcher {
  /** Events seen, and why the last stream ended. */
  state(): { readonly seen: number; readonly reason: string };
  close(): void;
}

interface WatcherOptions {
  readonly service: Service;
  readonly clock: Clock;
  readonly time: RunTime;
  onSeen(sighting: Sighting): void;
}

const againMs = 1000;
const lineMost = 65_536;

/** Opens the stream, and again whenever it ends. */
export function createWatcher({ service, clock, time, onSeen }: WatcherOptions): Watcher {
  const abort = new AbortController();
  const kept = { seen: 0, reason: '' };
  const take = (line: string): void => {
    if (!line.startsWith('data: {"deviceID"')) return;
    const { deviceID, eventID } = JSON.parse(line.slice(6)) as { deviceID?: string; eventID?: string };
    if (deviceID === undefined || eventID === undefined) return;
    kept.seen += 1;
    onSeen({ deviceID, eventID, atMs: time.nowMs() });
  };
  const read = async (): Promise<void> => {
    const chunks = await service.stream('/events/stream/authorization?positions=off', abort.signal);
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of chunks) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = (lines.pop() ?? '').slice(-lineMost);
      for (const line of lines) take(line);
    }
    kept.reason = 'ended by the service';
  };
  const go = (): void => {
    read()
      .catch((thrown: unknown) => {
        kept.reason = messageOf(thrown);
      })
      .finally(() => {
        if (!abort.signal.aborted) clock.after(againMs, go);
      });
  };
  go();
  return { state: () => ({ ...kept }), close: () => abort.abort() };
}
