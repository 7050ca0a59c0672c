// Says that there is nothing only while a fresh answer says so: what is not known must not look like an empty, calm list.
import type { ReactNode } from 'react';
import { lostMs } from '../service/knowledge.ts';
import { connection } from '../service/live.ts';
import { type Knowledge, knowledgeOf } from '../state/knowledge.ts';
import { Empty, Loading, numberText, timeText } from './texts.tsx';
import { useValue, useWords } from './use.ts';

/** @param readMs when the answer came, ms since 1970; null or 0: none yet. */
export function useKnowledge(readMs: number | null, hasFailed = false): Knowledge {
  const { state } = useValue(connection);
  return knowledgeOf({ state, lostMs: useValue(lostMs) }, { readMs, hasFailed });
}

/** A number of things; zero only where that is known. */
export const countText = (count: number, knowledge: Knowledge): string =>
  count === 0 && knowledge !== 'known' ? '?' : numberText(count);

interface KnownProps {
  readonly readMs: number | null;
  /** Of the last try to read. */
  readonly error?: Error | null;
  /** Its content says of which time it is: it stays an answer after the connection was lost. */
  readonly isDated?: boolean;
  /** One line, in a part of a screen. */
  readonly isSmall?: boolean;
  /** What is said where there is nothing. */
  readonly children: ReactNode;
}

export function Known({ readMs, error = null, isDated = false, isSmall = false, children }: KnownProps) {
  const { stream } = useWords();
  const { state, aliveMs } = useValue(connection);
  const knowledge = useKnowledge(readMs, error !== null);
  if (knowledge === 'known' || (isDated && knowledge === 'waiting' && readMs)) return children;
  if (knowledge === 'waiting') return <Loading rows={isSmall ? 1 : 5} />;
  const why =
    state !== 'down'
      ? stream.notRead
      : aliveMs === 0
        ? stream.noConnectionYet
        : stream.noConnection(timeText(aliveMs / 1000));
  if (isSmall)
    return (
      <p className="muted">
        {stream.notKnown} · {why}
      </p>
    );
  return (
    <Empty icon={state === 'down' ? 'wifi-off' : 'circle-help'} title={stream.notKnown}>
      <p>{why}</p>
      {readMs ? <p>{stream.lastState(timeText(readMs / 1000))}</p> : null}
    </Empty>
  );
}
