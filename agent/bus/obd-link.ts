// The serial port of an adapter that asks a car. What it gives out can write a command of the allow-list and be closed, and nothing else.
import type { OpenByteLink, SerialSettings } from '../../src/ports.ts';
import { createElmLines, decodeElm, type ElmAnswer } from '../core/obd/elm-lines.ts';
import { commandBytes, type ObdCommand } from '../core/obd/obd-commands.ts';

export interface ObdLink {
  /** Writes one command; the number of its bytes. @throws Error for what is not in the allow-list. */
  write(command: ObdCommand): number;
  close(): Promise<void>;
}

export interface ObdHandlers {
  onAnswer(answer: ElmAnswer): void;
  /** Called at most once: the link is dead for good. */
  onDown(reason: string): void;
}

/** Opens the port; nothing is written. @throws AppError `serial`. */
export async function openObdLink(
  openByteLink: OpenByteLink,
  port: SerialSettings,
  handlers: ObdHandlers,
): Promise<ObdLink> {
  let lines = createElmLines();
  const link = await openByteLink(port, {
    onBytes(bytes) {
      const decoded = decodeElm(lines, bytes);
      lines = decoded.state;
      for (const answer of decoded.answers) handlers.onAnswer(answer);
    },
    onDown: handlers.onDown,
  });
  return {
    write(command) {
      const bytes = commandBytes(command);
      link.write(bytes);
      return bytes.length;
    },
    close: () => link.close(),
  };
}
