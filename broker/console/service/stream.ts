// One live stream, read with fetch: opens it, and opens it again with the last id when it ends, so that nothing is missed or comes twice.
import { readMessages, type StreamMessage } from '../state/event-stream.ts';
import { failureOf, pathOf } from './call.ts';
import { handleRefusal, isEnded, sessionToken, whenSessionBack } from './session.ts';
import { lookAtStreams, watchSilence } from './silence.ts';

// After a sleep the timers are late, and the page is shown first.
document.addEventListener('visibilitychange', lookAtStreams);

export interface StreamOptions {
  /** Of the messages, in their order. */
  onMessages(messages: readonly StreamMessage[]): void;
  /** Something came, if only a sign of life. */
  onAlive(): void;
  /** It is silent, or has ended. */
  onDown(): void;
}

const retryMs = { first: 500, most: 8000 } as const;
const template = '/events/stream/authorization';

/** Reads until the stream ends. @returns the resume point. */
async function readStream(
  { onMessages, onAlive, onDown }: StreamOptions,
  lastID: string | null,
  signal: AbortSignal,
): Promise<string | null> {
  const token = sessionToken();
  if (token === null) return lastID;
  const stop = new AbortController();
  const signals = AbortSignal.any([signal, stop.signal]);
  const silence = watchSilence({ onSilent: onDown, onDead: () => stop.abort() });
  let resume = lastID;
  const unsubscribe = isEnded.subscribe(() => stop.abort());
  try {
    const query = { kinds: 'event,device,command,presence,alarm,zone,approval' };
    const answer = await fetch(pathOf(template, { query }), {
      headers: { authorization: token, ...(lastID === null ? {} : { 'last-event-id': lastID }) },
      signal: signals,
      credentials: 'omit',
      cache: 'no-store',
    });
    if (answer.status === 401) handleRefusal(token);
    if (!answer.ok || answer.body === null) throw await failureOf(answer);
    for await (const messages of readMessages(answer.body)) {
      if (!silence.renew()) break;
      onAlive();
      resume = messages.findLast(({ id }) => id !== null)?.id ?? resume;
      onMessages(messages.filter(({ data }) => data !== ''));
    }
    return resume;
  } catch {
    return resume;
  } finally {
    unsubscribe();
    silence.stop();
    stop.abort();
  }
}

/** Keeps a stream open until the returned function is called. */
export function openStream(options: StreamOptions): () => void {
  const leave = new AbortController();
  let lastID: string | null = null;
  let waitMs: number = retryMs.first;
  const alive = (): void => {
    waitMs = retryMs.first;
    options.onAlive();
  };
  const keepOpen = async (): Promise<void> => {
    while (!leave.signal.aborted) {
      lastID = await readStream({ ...options, onAlive: alive }, lastID, leave.signal);
      if (leave.signal.aborted) return;
      options.onDown();
      if (isEnded.get()) await whenSessionBack(leave.signal);
      else await new Promise((done) => setTimeout(done, waitMs));
      waitMs = Math.min(waitMs * 2, retryMs.most);
    }
  };
  void keepOpen();
  return () => leave.abort();
}
