// The check of the chain, part after part, until the service has compared all of it. The browser keeps the signed head of the last good
// check, so that a log that was put back to an older state as a whole shows too.
import { useEffect, useRef, useState } from 'react';
import type { Result } from '../../api/operations.ts';
import { call, ServiceError } from '../../service/call.ts';
import { session } from '../../service/session.ts';

type Part = Result<'checkAudit'>;

/** What all parts of a check say together. */
export interface Finding {
  readonly entries: number;
  readonly erased: number;
  readonly unsealed: number;
  readonly from: Part['from'];
  readonly until: Part['until'];
  readonly fault: Part['fault'];
  readonly isProven: boolean;
  readonly head: Part['head'];
  /** Place of the head that this browser kept and the chain was compared with; null: with none. */
  readonly comparedWith: number | null;
  /** The service has not signed the head that this browser kept. */
  readonly isForeign: boolean;
  /** Epoch seconds of this computer. */
  readonly atS: number;
}

export type CheckState =
  | { readonly step: 'none' | 'stopped' }
  | { readonly step: 'running'; readonly entries: number; readonly length: number; readonly waits: boolean }
  | { readonly step: 'failed'; readonly error: Error }
  | { readonly step: 'done'; readonly finding: Finding };

interface KeptHead {
  readonly chainNumber: number;
  readonly signed: string;
}

const keyOf = (): string => `fleetward.audit.${session.get()?.accountID ?? ''}`;

function keptHead(): KeptHead | null {
  try {
    const { chainNumber, signed } = JSON.parse(localStorage.getItem(keyOf()) ?? '{}') as Partial<KeptHead>;
    return typeof chainNumber === 'number' && typeof signed === 'string' ? { chainNumber, signed } : null;
  } catch {
    return null;
  }
}

const pause = (seconds: number): Promise<void> =>
  new Promise((resolve) => void setTimeout(resolve, seconds * 1000));

/** Tries while another check of the account runs. */
const triesMost = 60;

interface Run {
  readonly signal: AbortSignal;
  readonly head: string | null;
  onPart(entries: number, length: number): void;
  onWait(): void;
}

async function readPart(checked: string | null, { signal, head, onWait }: Run): Promise<Part> {
  for (let tries = 1; ; tries++) {
    try {
      const query = { ...(checked === null ? {} : { checked }), ...(head === null ? {} : { head }) };
      return await call('checkAudit', { query, signal });
    } catch (thrown) {
      if (!(thrown instanceof ServiceError) || thrown.code !== 'throttled' || tries === triesMost)
        throw thrown;
      onWait();
      await pause(thrown.retryAfterS ?? 1);
      signal.throwIfAborted();
    }
  }
}

type Compared = Omit<Finding, 'atS' | 'comparedWith' | 'isForeign'>;

async function readAll(run: Run): Promise<Compared> {
  let part = await readPart(null, run);
  let sums = { entries: part.entries, erased: part.erased };
  const { from } = part;
  let { until } = part;
  while (part.more) {
    run.onPart(sums.entries, part.length);
    part = await readPart(part.next, run);
    sums = { entries: sums.entries + part.entries, erased: sums.erased + part.erased };
    until = part.until ?? until;
  }
  const { unsealed, fault, proven: isProven, head } = part;
  return { ...sums, unsealed, from, until, fault, isProven, head };
}

/** Compares with the kept head, or without it when this service has not signed it. */
async function checkChain(run: Omit<Run, 'head'>): Promise<Finding> {
  const kept = keptHead();
  const atS = (): number => Math.floor(Date.now() / 1000);
  try {
    const compared = await readAll({ ...run, head: kept?.signed ?? null });
    return { ...compared, comparedWith: kept?.chainNumber ?? null, isForeign: false, atS: atS() };
  } catch (thrown) {
    if (kept === null || !(thrown instanceof ServiceError) || thrown.code !== 'invalid_content') throw thrown;
    const compared = await readAll({ ...run, head: null });
    return { ...compared, comparedWith: null, isForeign: true, atS: atS() };
  }
}

export function useCheck() {
  const [state, setState] = useState<CheckState>({ step: 'none' });
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const start = async (): Promise<void> => {
    if (running.current !== null) return;
    const control = new AbortController();
    running.current = control;
    const { signal } = control;
    let shown = { entries: 0, length: 0 };
    const show = (waits: boolean): void => {
      if (!signal.aborted) setState({ step: 'running', ...shown, waits });
    };
    show(false);
    try {
      const finding = await checkChain({
        signal,
        onPart(entries, length) {
          shown = { entries, length };
          show(false);
        },
        onWait: () => show(true),
      });
      if (signal.aborted) return;
      const { head } = finding;
      if (head !== null) {
        const { chainNumber, signed } = head;
        localStorage.setItem(keyOf(), JSON.stringify({ chainNumber, signed } satisfies KeptHead));
      }
      setState({ step: 'done', finding });
    } catch (thrown) {
      if (!signal.aborted) setState({ step: 'failed', error: thrown as Error });
    } finally {
      if (running.current === control) running.current = null;
    }
  };
  return {
    state,
    start: (): void => void start(),
    stop(): void {
      running.current?.abort();
      running.current = null;
      setState({ step: 'stopped' });
    },
  };
}
