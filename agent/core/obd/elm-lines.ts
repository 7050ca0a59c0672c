// Cuts the bytes of an ELM327 into answers: lines up to its prompt. An answer is complete only at the prompt, so that nothing is written while
// the adapter is at work: a byte that comes then ends its work, and what is left of the command could be another one.

/** One answer, without the prompt. */
export interface ElmAnswer {
  readonly lines: readonly string[];
  /** Lines or characters were left out: noise, a wrong speed, a flood. */
  readonly isCut: boolean;
}

export interface ElmLines {
  readonly state: ElmLineState;
  readonly answers: readonly ElmAnswer[];
}

export interface ElmLineState {
  readonly line: string;
  readonly lines: readonly string[];
  readonly isCut: boolean;
}

export const elmLimits = { lineCharacters: 128, lines: 64 } as const;

const emptyState: ElmLineState = { line: '', lines: [], isCut: false };
export const createElmLines = (): ElmLineState => emptyState;

const prompt = 0x3e;

/** Decodes the next bytes, however they were cut. Clones add NUL and 0xFC; what is not printable is dropped. */
export function decodeElm(state: ElmLineState, bytes: Uint8Array): ElmLines {
  const answers: ElmAnswer[] = [];
  let { line, isCut } = state;
  let lines = [...state.lines];
  const endLine = (): void => {
    const text = line.trim();
    line = '';
    if (text === '') return;
    if (lines.length < elmLimits.lines) lines.push(text);
    else isCut = true;
  };
  for (const byte of bytes) {
    if (byte === prompt) {
      endLine();
      answers.push({ lines, isCut });
      lines = [];
      isCut = false;
    } else if (byte === 0x0d || byte === 0x0a) endLine();
    else if (byte >= 0x20 && byte <= 0x7e) {
      if (line.length < elmLimits.lineCharacters) line += String.fromCharCode(byte);
      else isCut = true;
    }
  }
  return { state: { line, lines, isCut }, answers };
}
