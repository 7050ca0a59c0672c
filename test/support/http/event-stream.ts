// A reader of server-sent events over a real socket, as an integrator would write one: it parses by the letter of the
// standard, remembers the last id, and can stop reading.
import { type ClientRequest, get, type IncomingMessage } from 'node:http';
import { hangMs } from '../machine/wait-until.ts';

export interface StreamMessage {
  readonly event: string;
  readonly id: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Parses a text of whole messages. */
export function parseMessages(text: string): readonly StreamMessage[] {
  let id = '';
  const found: StreamMessage[] = [];
  for (const block of text.split('\n\n')) {
    const fields = block.split('\n').map((line) => /^([a-z]*): ?(.*)$/.exec(line));
    const field = (name: string) => fields.find((match) => match?.[1] === name)?.[2];
    id = field('id') ?? id;
    const data = field('data');
    if (data === undefined) continue;
    found.push({ event: field('event') ?? 'message', id, data: JSON.parse(data) as StreamMessage['data'] });
  }
  return found;
}

export interface StreamReader {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** Everything that came so far. */
  text(): string;
  /** Messages so far; an unfinished one is left out. */
  messages(): readonly StreamMessage[];
  /** The last id seen, as it would be sent again. */
  lastId(): string;
  /** Resolves when a message fits; rejects after 10 s. */
  until(fits: (message: StreamMessage) => boolean): Promise<StreamMessage>;
  pause(): void;
  resume(): void;
  /** Resolves when the stream has ended, from whichever side. */
  readonly ended: Promise<void>;
  close(): void;
}

export interface StreamRequest {
  readonly port: number;
  readonly token: string;
  readonly query?: string;
  readonly lastEventID?: string;
}

/** Opens a stream; resolves with its head. */
export function readStream({ port, token, query = '', lastEventID }: StreamRequest): Promise<StreamReader> {
  const path = `/api/v1/events/stream/authorization${query}`;
  const resume = lastEventID === undefined ? {} : { 'last-event-id': lastEventID };
  return new Promise((resolve, reject) => {
    const request = get({
      port,
      host: '127.0.0.1',
      path,
      agent: false,
      headers: { authorization: token, ...resume },
    });
    request.on('error', reject);
    request.on('response', (response) => resolve(readerOf(request, response)));
  });
}

function readerOf(request: ClientRequest, response: IncomingMessage): StreamReader {
  let text = '';
  const looks = new Set<() => void>();
  response.setEncoding('utf8').on('data', (part: string) => {
    text += part;
    for (const look of looks) look();
  });
  const ended = new Promise<void>((resolve) => {
    response.on('close', resolve);
    response.on('error', () => resolve());
  });
  // What the server cuts is an end like any other here.
  request.on('error', () => undefined);
  const whole = () => text.slice(0, text.lastIndexOf('\n\n') + 2);
  const messages = () => parseMessages(whole());
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text: () => text,
    messages,
    lastId: () => [...whole().matchAll(/^id: (\d+)$/gm)].at(-1)?.[1] ?? '',
    until: (fits) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          looks.delete(look);
          reject(new Error(`nothing like it in: ${text.slice(-2000)}`));
        }, hangMs);
        const look = () => {
          const found = messages().find(fits);
          if (found === undefined) return;
          clearTimeout(timer);
          looks.delete(look);
          resolve(found);
        };
        looks.add(look);
        look();
      }),
    pause: () => void response.pause(),
    resume: () => void response.resume(),
    ended,
    close: () => void request.destroy(),
  };
}
