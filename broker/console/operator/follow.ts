// Asks for the state of the service again and again. The token stays in the memory of the page and travels in a header only.

import { momentNow } from '../../client/silence.ts';
import type { StatusView } from '../api/operations.ts';
import {
  firstOperatorState,
  type OperatorFault,
  type OperatorState,
  withOperatorFault,
  withStatus,
} from '../state/operator/operator-state.ts';
import { createValue, type Value } from '../state/value.ts';

const path = '/api/v1/admin/status/authorization';
/** From an answer to the next question. */
const periodMs = 10_000;
/** Without an answer for this long the question counts as lost. */
const lostMs = 10_000;

interface Answer {
  readonly view: StatusView | null;
  readonly fault: OperatorFault;
  /** The service names a time before which it answers nothing. */
  readonly waitMs: number;
}

const refused = (fault: OperatorFault, waitMs = 0): Answer => ({ view: null, fault, waitMs });

/** Never rejects. */
async function ask(token: string): Promise<Answer> {
  let answer: Response;
  try {
    answer = await fetch(path, {
      headers: { authorization: token },
      signal: AbortSignal.timeout(lostMs),
      credentials: 'omit',
      cache: 'no-store',
      referrerPolicy: 'no-referrer',
    });
  } catch {
    return refused('unreachable');
  }
  if (answer.status === 401) return refused('unauthorized');
  if (!answer.ok) return refused('busy', Number(answer.headers.get('retry-after') ?? 0) * 1000);
  try {
    const view = (await answer.json()) as StatusView;
    return Array.isArray(view.findings) ? { view, fault: 'unreadable', waitMs: 0 } : refused('unreadable');
  } catch {
    // Broken off, or no JSON.
    return refused('unreachable');
  }
}

export interface FollowedStatus {
  readonly state: Value<OperatorState>;
  /** Begins with this token; with another one anew. */
  enter(token: string): void;
  /** Asks now. */
  refresh(): void;
  /** Forgets the token and what was read. */
  lock(): void;
}

export function followStatus(): FollowedStatus {
  const state = createValue(firstOperatorState);
  let token: string | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Of the token that is in use: an answer to an earlier one is dropped. */
  let round = 0;
  let isAsking = false;
  const run = async (): Promise<void> => {
    clearTimeout(timer);
    if (token === null || isAsking) return;
    isAsking = true;
    const [mine, asked] = [round, momentNow()];
    const { view, fault, waitMs } = await ask(token);
    isAsking = false;
    if (mine !== round) return run();
    if (fault === 'unauthorized') token = null;
    state.set(view === null ? withOperatorFault(state.get(), fault) : withStatus(view, asked));
    timer = setTimeout(() => void run(), Math.max(periodMs, waitMs));
  };
  return {
    state,
    enter(next) {
      token = next;
      round += 1;
      state.set(firstOperatorState);
      void run();
    },
    refresh: () => void run(),
    lock() {
      token = null;
      round += 1;
      clearTimeout(timer);
      state.set(firstOperatorState);
    },
  };
}
