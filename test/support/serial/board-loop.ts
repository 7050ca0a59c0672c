// The board machine in real time on a serial port, as the agent runs it: one timer, bytes in, bytes out, re-open for
// ever. It must never touch the machine from two places at once.
import { openSerialPort } from '../../../agent/adapters/serial-port.ts';
import { createBoard, stepBoard } from '../../../agent/core/board/board.ts';
import type { BoardProfile } from '../../../agent/core/board/board-profile.ts';
import type { BoardInput, BoardOutput, BoardState } from '../../../agent/core/board/board-types.ts';
import type { RtuMasterOptions } from '../../../agent/core/board/rtu-types.ts';
import type { FeatureName } from '../../../src/core/events/event.ts';
import type { ByteLink } from '../../../src/ports.ts';
import { permitAny } from '../guard/permit-any.ts';
import { hangMs } from '../machine/wait-until.ts';

type OutputOf<Kind extends BoardOutput['kind']> = Extract<BoardOutput, { kind: Kind }>;

export interface BoardLoop {
  readonly outputs: BoardOutput[];
  readonly faults: string[];
  of<Kind extends BoardOutput['kind']>(kind: Kind): OutputOf<Kind>[];
  last<Kind extends BoardOutput['kind']>(kind: Kind): OutputOf<Kind> | undefined;
  /** Called with each output. */
  onOutput: (output: BoardOutput) => void;
  setRelay(relay: FeatureName, energised: boolean, withinMs?: number): Promise<OutputOf<'relayResult'>>;
  state(): BoardState;
  close(): Promise<void>;
}

const reopenMs = 100;

/** @param options of the master: how long it waits for answers. */
export function runBoard(
  profile: BoardProfile,
  path: string,
  options: Partial<RtuMasterOptions> = {},
): BoardLoop {
  let state = createBoard(profile, options);
  let link: ByteLink | null = null;
  let timer: NodeJS.Timeout | undefined;
  let reopen: NodeJS.Timeout | undefined;
  let isClosed = false;
  let tokens = 0;
  const now = () => performance.now();
  const waiting = new Map<string, (result: OutputOf<'relayResult'>) => void>();

  const feed = (input: BoardInput): void => {
    const stepped = stepBoard(state, input, permitAny);
    state = stepped.state;
    for (const output of stepped.outputs) {
      if (output.kind === 'write') {
        link?.write(output.bytes);
        continue;
      }
      loop.outputs.push(output);
      loop.onOutput(output);
      if (output.kind === 'relayResult') waiting.get(output.token)?.(output);
    }
    clearTimeout(timer);
    if (isClosed || state.wakeAtMs === null) return;
    timer = setTimeout(
      () => {
        feed({ kind: 'time', atMs: now() });
      },
      Math.max(0, state.wakeAtMs - now()),
    );
  };
  const open = async (): Promise<void> => {
    try {
      link = await openSerialPort(
        { ...profile.serial, path },
        {
          onBytes: (bytes) => {
            feed({ kind: 'bytes', bytes, atMs: now() });
          },
          onDown: (reason) => {
            link = null;
            feed({ kind: 'down', atMs: now(), reason });
            again(reason);
          },
        },
      );
      feed({ kind: 'up', atMs: now() });
    } catch (fault) {
      again(String(fault));
    }
  };
  const again = (reason: string): void => {
    loop.faults.push(reason);
    if (!isClosed) reopen = setTimeout(() => void open(), reopenMs);
  };
  const loop: BoardLoop = {
    outputs: [],
    faults: [],
    onOutput: () => {},
    of: <Kind extends BoardOutput['kind']>(kind: Kind) =>
      loop.outputs.filter((output): output is OutputOf<Kind> => output.kind === kind),
    last: (kind) => loop.of(kind).at(-1),
    setRelay: (relay, energised, withinMs = hangMs) =>
      new Promise((resolve) => {
        tokens += 1;
        const token = `order-${tokens}`;
        waiting.set(token, resolve);
        const atMs = now();
        feed({ kind: 'setRelay', relay, energised, token, deadlineMs: atMs + withinMs, atMs });
      }),
    state: () => state,
    async close() {
      isClosed = true;
      clearTimeout(timer);
      clearTimeout(reopen);
      await link?.close();
    },
  };
  void open();
  return loop;
}
