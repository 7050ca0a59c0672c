// The live stream of the account, with the token of the session.
import type { StreamMessage } from '../../client/event-stream.ts';
import { followStream } from '../../client/follow.ts';
import { ServiceError } from '../../client/service-error.ts';
import { lookAtStreams } from '../../client/silence.ts';
import { open } from './call.ts';
import { isEnded, sessionToken, whenSessionBack } from './session.ts';

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

const query = { kinds: 'event,device,command,presence,alarm,zone,approval' };
const noSession = { code: 'unauthorized', detail: 'The session has ended', hint: null };

async function openOnce(lastEventID: string | null, signal: AbortSignal): Promise<Response> {
  if (sessionToken() === null) throw new ServiceError(noSession, 401);
  // A session that ends closes its stream.
  const ended = new AbortController();
  const unsubscribe = isEnded.subscribe(() => ended.abort());
  signal.addEventListener('abort', unsubscribe, { once: true });
  return open('streamEvents', {
    query: lastEventID === null ? query : { ...query, lastEventId: lastEventID },
    signal: AbortSignal.any([signal, ended.signal]),
  });
}

/** Keeps a stream open until the returned function is called. */
export function openStream({ onMessages, onAlive, onDown }: StreamOptions): () => void {
  const leave = new AbortController();
  const { signal } = leave;
  const afterRefusal = (): Promise<void> => whenSessionBack(signal);
  const keepOpen = async (): Promise<void> => {
    for await (const messages of followStream({ open: openOnce, signal, onAlive, onDown, afterRefusal }))
      onMessages(messages);
  };
  void keepOpen();
  return () => leave.abort();
}
