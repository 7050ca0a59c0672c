// Opens an SLCAN adapter in listen-only mode. What it returns can be closed and nothing else: the writer of the port is out of reach from
// the end of the opening on, so that no byte can be sent to a bus that works the brakes.
import type { ByteLink, Cancel, Clock, OpenByteLink } from '../../src/ports.ts';
import type { BusConfig } from '../core/bus/bus-config.ts';
import { createSlcanState, decodeSlcan, type SlcanAnswer, type SlcanLines } from '../core/bus/slcan-line.ts';
import {
  type BitRate,
  beginOpening,
  type OpeningInput,
  type OpeningState,
  type OpeningStep,
  openingWakeMs,
  stepOpening,
} from '../core/bus/slcan-opening.ts';

/** An adapter that listens. */
export interface ListeningLink {
  close(): Promise<void>;
}

export interface ListeningHandlers {
  /** What came in since the last call; also during the opening. */
  onLines(lines: SlcanLines): void;
  /** Called at most once, after the link was opened: it is dead for good. */
  onDown(reason: string): void;
  /** Bytes that were written to set the adapter up. */
  onWritten(bytes: number): void;
}

export type ListeningOutcome =
  | { readonly kind: 'listening'; readonly link: ListeningLink; readonly opening: OpeningState }
  | { readonly kind: 'refused'; readonly opening: OpeningState }
  | { readonly kind: 'lost'; readonly reason: string };

/** An adapter passes each frame by itself, hundreds a second; its port holds what comes in this time many times over. */
const gatherMs = 20;

interface Dialogue {
  answer(answer: SlcanAnswer): void;
  lose(reason: string): void;
  /** The end of the opening, or why the port was lost. */
  readonly ended: Promise<OpeningState | string>;
}

interface OpeningDeps {
  readonly clock: Clock;
  readonly openByteLink: OpenByteLink;
  readonly config: BusConfig;
  readonly bitRate: BitRate;
}

/** Runs the commands of the opening, and waits for the answers. */
function openDialogue(
  write: (command: string) => void,
  { clock, bitRate }: Pick<OpeningDeps, 'clock' | 'bitRate'>,
): Dialogue {
  const options = { bitRate };
  let state: OpeningState | null = null;
  let cancel: Cancel = () => undefined;
  let end: (result: OpeningState | string) => void = () => undefined;
  const ended = new Promise<OpeningState | string>((resolve) => {
    end = resolve;
  });
  const apply = (step: OpeningStep): void => {
    state = step.state;
    for (const command of step.commands) write(command);
    cancel();
    const wakeMs = openingWakeMs(state);
    if (wakeMs === Number.POSITIVE_INFINITY) return end(state);
    cancel = clock.after(Math.max(1, Math.ceil(wakeMs - clock.monoMs())), () => advance({ kind: 'time' }));
  };
  const advance = (input: OpeningInput): void => {
    if (state !== null) apply(stepOpening(state, input, { options, nowMs: clock.monoMs() }));
  };
  apply(beginOpening(clock.monoMs()));
  return {
    answer: (answer) => advance({ kind: 'answer', answer }),
    lose(reason) {
      cancel();
      state = null;
      end(reason);
    },
    ended,
  };
}

/**
 * Opens the port and sets the adapter up.
 * @throws AppError `serial` when the port cannot be opened.
 */
export async function openListening(
  deps: OpeningDeps,
  handlers: ListeningHandlers,
): Promise<ListeningOutcome> {
  let lines = createSlcanState();
  let dialogue: Dialogue | null = null;
  let lostReason: string | null = null;
  let isListening = false;
  const link: ByteLink = await deps.openByteLink(
    { ...deps.config.port, gatherMs },
    {
      onBytes(bytes) {
        const decoded = decodeSlcan(lines, bytes);
        lines = decoded.state;
        handlers.onLines(decoded);
        for (const answer of decoded.answers) dialogue?.answer(answer);
      },
      onDown(reason) {
        lostReason = reason;
        if (isListening) handlers.onDown(reason);
        else dialogue?.lose(reason);
      },
    },
  );
  dialogue = openDialogue((command) => {
    const bytes = Uint8Array.from(`${command}\r`, (letter) => letter.charCodeAt(0));
    handlers.onWritten(bytes.length);
    link.write(bytes);
  }, deps);
  const end = await dialogue.ended;
  dialogue = null;
  if (lostReason !== null) return { kind: 'lost', reason: lostReason };
  if (typeof end === 'string') return { kind: 'lost', reason: end };
  if (end.stage === 'refused') {
    await link.close();
    return { kind: 'refused', opening: end };
  }
  isListening = true;
  return { kind: 'listening', link: { close: () => link.close() }, opening: end };
}
