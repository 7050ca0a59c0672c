// Follows one share link: what it shows, then its track or its stream, opened again until the share ends. The token travels in a header only.

import { readMessages, type StreamMessage } from '../../client/event-stream.ts';
import { lookAtStreams, watchSilence } from '../../client/silence.ts';
import type { SharedView } from '../api/operations.ts';
import { skewOf } from '../state/age.ts';
import {
  alive,
  down,
  ended,
  failed,
  firstState,
  type SharedPosition,
  type ShareState,
  withPosition,
  withTrack,
  withView,
} from '../state/shares/shared-view.ts';
import { createValue, type Value } from '../state/value.ts';

// After a sleep the timers are late, and the page is shown first.
document.addEventListener('visibilitychange', lookAtStreams);

const base = '/api/v1';
const retryMs = { first: 500, most: 8000 } as const;

interface Followed {
  readonly token: string;
  readonly state: Value<ShareState>;
  readonly signal: AbortSignal;
}

/** What has to be tried again. `fault` null: a stream that had begun has ended; `waitMs`: the time that the service names. */
class Failure extends Error {
  readonly fault: 'busy' | 'unreachable' | null;
  readonly waitMs: number;
  constructor(fault: 'busy' | 'unreachable' | null, waitMs = 0) {
    super(fault ?? 'ended');
    this.fault = fault;
    this.waitMs = waitMs;
  }
}

/** @returns null when the share has ended. @throws Failure */
async function ask({ token, state, signal }: Followed, path: string): Promise<Response | null> {
  const answer = await fetch(`${base}${path}`, {
    headers: { authorization: token },
    signal,
    credentials: 'omit',
    cache: 'no-store',
    referrerPolicy: 'no-referrer',
  }).catch(() => {
    throw new Failure('unreachable');
  });
  if (answer.ok) return answer;
  if (answer.status === 401) {
    state.set(ended(state.get(), Date.now()));
    return null;
  }
  const waitMs = Number(answer.headers.get('retry-after') ?? 0) * 1000;
  const isBusy = answer.status === 429 || answer.status === 503;
  throw new Failure(isBusy ? 'busy' : 'unreachable', waitMs);
}

async function readView(followed: Followed): Promise<void> {
  const answer = await ask(followed, '/share/view/authorization');
  if (answer === null) return;
  const view = (await answer.json()) as SharedView;
  const skewS = skewOf(answer.headers.get('date'), Date.now());
  followed.state.set(withView(followed.state.get(), view, skewS));
}

async function readTrack(followed: Followed): Promise<void> {
  const answer = await ask(followed, '/share/track/authorization');
  if (answer === null) return;
  const { points } = (await answer.json()) as { readonly points: readonly SharedPosition[] };
  followed.state.set(withTrack(followed.state.get(), points));
}

function apply({ state }: Followed, messages: readonly StreamMessage[]): void {
  for (const { event, data } of messages) {
    if (event === 'position') state.set(withPosition(state.get(), JSON.parse(data) as SharedPosition));
    else if (event === 'end') state.set(ended(state.get(), Date.now()));
  }
}

/** Reads until the stream ends, however it does. @throws Failure when it does not begin. */
async function readStream(followed: Followed): Promise<void> {
  const { state } = followed;
  const stop = new AbortController();
  const silence = watchSilence({ onSilent: () => state.set(down(state.get())), onDead: () => stop.abort() });
  try {
    const signal = AbortSignal.any([followed.signal, stop.signal]);
    const answer = await ask({ ...followed, signal }, '/share/stream/authorization');
    if (answer === null || answer.body === null) return;
    for await (const messages of readMessages(answer.body)) {
      if (!silence.renew()) break;
      state.set(alive(state.get(), Date.now()));
      apply(followed, messages);
    }
  } catch (thrown) {
    if (thrown instanceof Failure) throw thrown;
  } finally {
    silence.stop();
    stop.abort();
    if (state.get().end === null) state.set(down(state.get()));
  }
}

/** One step. @returns false when nothing is left to read. @throws Error when it has to be tried again. */
async function step(followed: Followed): Promise<boolean> {
  const { view } = followed.state.get();
  if (view === null) await readView(followed);
  else if (view.kind === 'live') {
    await readStream(followed);
    if (followed.state.get().end === null) throw new Failure(null);
  } else {
    await readTrack(followed);
    return false;
  }
  return followed.state.get().end === null;
}

/** Follows until the share ends or the returned function is called. */
export function followShare(token: string): {
  readonly state: Value<ShareState>;
  readonly leave: () => void;
} {
  const state = createValue(firstState);
  const leaving = new AbortController();
  const followed = { token, state, signal: leaving.signal };
  const run = async (): Promise<void> => {
    let waitMs: number = retryMs.first;
    while (!leaving.signal.aborted) {
      const aliveMs = state.get().aliveMs;
      try {
        if (!(await step(followed))) return;
      } catch (thrown) {
        if (leaving.signal.aborted) return;
        const failure = thrown instanceof Failure ? thrown : new Failure('unreachable');
        if (failure.fault !== null) state.set(failed(state.get(), failure.fault));
        if (state.get().aliveMs !== aliveMs) waitMs = retryMs.first;
        const pauseMs = Math.max(waitMs, failure.waitMs);
        await new Promise((done) => setTimeout(done, pauseMs));
        waitMs = Math.min(waitMs * 2, retryMs.most);
      }
    }
  };
  void run();
  return { state, leave: () => leaving.abort() };
}
