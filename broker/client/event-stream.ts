// Server-sent events: text in pieces as it arrives, messages out. Pure.

export interface StreamMessage {
  /** Null without one. */
  readonly id: string | null;
  readonly event: string;
  readonly data: string;
}

/** A longer line is no message of ours; the stream is then broken. */
const lineMost = 1024 * 1024;

interface Draft {
  id: string | null;
  event: string;
  data: string[];
}

const empty = (): Draft => ({ id: null, event: 'message', data: [] });

function take(draft: Draft, line: string): void {
  const at = line.indexOf(':');
  const field = at < 0 ? line : line.slice(0, at);
  const value = at < 0 ? '' : line.slice(at + 1).replace(/^ /, '');
  if (field === 'data') draft.data.push(value);
  else if (field === 'event') draft.event = value;
  else if (field === 'id') draft.id = value;
}

/**
 * @returns a function that takes the next piece of text and gives the messages that it completes. A message without data moves only
 *   the resume point: its `data` is empty.
 * @throws Error on a line of more than 1 MiB.
 */
export function createStreamParser(): (piece: string) => readonly StreamMessage[] {
  let rest = '';
  let draft = empty();
  return (piece) => {
    const lines = (rest + piece).split(/\r\n|\n|\r/);
    rest = lines.pop() ?? '';
    if (rest.length > lineMost) throw new Error(`A line of the stream is longer than ${lineMost} characters`);
    const messages: StreamMessage[] = [];
    for (const line of lines) {
      if (line !== '') take(draft, line);
      else {
        if (draft.data.length > 0 || draft.id !== null)
          messages.push({ id: draft.id, event: draft.event, data: draft.data.join('\n') });
        draft = empty();
      }
    }
    return messages;
  };
}

/**
 * Reads the body of an answer: for each piece that arrives the messages that it completes, none for a sign of life.
 * @throws Error as the parser, and as the body does.
 */
export async function* readMessages(
  body: NonNullable<Response['body']>,
): AsyncGenerator<readonly StreamMessage[], void, undefined> {
  const parse = createStreamParser();
  const decoder = new TextDecoder();
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield parse(decoder.decode(value as Uint8Array, { stream: true }));
  }
}
