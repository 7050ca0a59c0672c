// Reads one analog signal of the I/O board through the ordinary board machine, for interactive commands. It must
// never order a relay: the machine gets bytes and time only.
import type { ByteLink, Cancel, Clock, OpenByteLink, SerialSettings } from '../../src/ports.ts';
import { createBoard, stepBoard } from '../core/board/board.ts';
import type { AnalogName, BoardProfile } from '../core/board/board-profile.ts';
import type { BoardInput } from '../core/board/board-types.ts';
import { readingPermit } from '../core/kernel/vehicle-guard.ts';

export interface BoardReading {
  close(): Promise<void>;
}

interface ReadingOptions {
  readonly profile: BoardProfile;
  readonly port: SerialSettings;
  readonly clock: Clock;
  readonly openByteLink: OpenByteLink;
  readonly analog: AnalogName;
  /** The signal's measure, before any table; null: outside of its range, or the board does not answer. */
  onMeasure(measure: number | null, atMs: number): void;
  /** The port is gone and is not opened again. */
  onDown(reason: string): void;
}

/** The profile with the signal as it is measured: no table. */
function withoutTable(profile: BoardProfile, analog: AnalogName): BoardProfile {
  const signal = profile.analogs[analog];
  if (signal === undefined) return profile;
  const { table: _, ...measured } = signal;
  return { ...profile, analogs: { ...profile.analogs, [analog]: measured } };
}

/** Opens the port and polls. @throws AppError `serial` when the port cannot be opened. */
export async function openBoardReading(options: ReadingOptions): Promise<BoardReading> {
  const { clock, analog } = options;
  let state = createBoard(withoutTable(options.profile, analog));
  const permit = readingPermit(options.profile);
  let link: ByteLink | null = null;
  let cancel: Cancel = () => {};
  let isClosed = false;
  const feed = (input: BoardInput): void => {
    if (isClosed) return;
    const stepped = stepBoard(state, input, permit);
    state = stepped.state;
    for (const output of stepped.outputs) {
      if (output.kind === 'write') link?.write(output.bytes);
      if (output.kind !== 'analogs') continue;
      const measure = output.values[analog];
      if (measure !== undefined) options.onMeasure(measure, output.atMs);
    }
    cancel();
    if (state.wakeAtMs === null) return;
    cancel = clock.after(Math.max(0, state.wakeAtMs - clock.monoMs()), () => {
      feed({ kind: 'time', atMs: clock.monoMs() });
    });
  };
  link = await options.openByteLink(options.port, {
    onBytes: (bytes) => feed({ kind: 'bytes', bytes, atMs: clock.monoMs() }),
    onDown(reason) {
      if (isClosed) return;
      isClosed = true;
      cancel();
      options.onDown(reason);
    },
  });
  feed({ kind: 'up', atMs: clock.monoMs() });
  return {
    async close() {
      isClosed = true;
      cancel();
      await link?.close();
    },
  };
}
