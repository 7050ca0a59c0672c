// The states of a view that shows an answer: loading, failed, empty, not known, or its content. A failure never hides older content, and
// nothing looks empty but what a fresh answer says is empty: what is not known must not look like a calm list.

import type { ReactNode } from 'react';
import { Button } from 'react-aria-components';
import { alarmsReadMs, connection, fleetReadMs, lostMs, readFailure } from '../service/live.ts';
import { type Knowledge, knowledgeOf } from '../state/knowledge.ts';
import { type Failure, failureText } from './failure.ts';
import { Empty, Loading, Notice, numberText, timeText } from './texts.tsx';
import { useValue, useWords } from './use.ts';

/** @param readMs when the answer came, ms since 1970; null or 0: none yet. */
export function useKnowledge(readMs: number | null, hasFailed = false): Knowledge {
  const { state } = useValue(connection);
  return knowledgeOf({ state, lostMs: useValue(lostMs) }, { readMs, hasFailed });
}

/** The live picture of the vehicles or of the open alarms: when it was read, and whether it holds now. */
export function usePicture(of: 'vehicles' | 'alarms') {
  const readMs = useValue(of === 'alarms' ? alarmsReadMs : fleetReadMs);
  const error = useValue(readFailure);
  return { readMs, error, knowledge: useKnowledge(readMs, error !== null) };
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
        : stream.noConnection({ time: timeText(aliveMs / 1000) });
  if (isSmall)
    return (
      <p className="muted">
        {stream.notKnown} · {why}
      </p>
    );
  return (
    <Empty icon={state === 'down' ? 'wifi-off' : 'circle-help'} title={stream.notKnown}>
      <p>{why}</p>
      {readMs ? <p>{stream.lastState({ time: timeText(readMs / 1000) })}</p> : null}
    </Empty>
  );
}

type ViewProps = { readonly error: Error | null; readonly children: ReactNode } & (
  | {
      readonly isLoaded: boolean;
      /** It cannot be empty. */
      readonly empty: null;
    }
  | {
      /** When the answer came, ms since 1970; 0: not yet. */
      readonly readMs: number;
      /** What an empty view says; null when it is not empty. */
      readonly empty: ReactNode;
    }
);

export function View({ error, empty, children, ...of }: ViewProps) {
  const failure = useFailure(error);
  const readMs = 'readMs' in of ? of.readMs : of.isLoaded ? 1 : 0;
  const isShown = readMs > 0 && (empty === null || empty === undefined);
  return (
    <>
      {failure}
      {isShown ? (
        children
      ) : error !== null && readMs === 0 ? null : (
        <Known readMs={readMs} error={error}>
          {empty}
        </Known>
      )}
    </>
  );
}

export function FailureNotice({ failure }: { readonly failure: Failure | null }) {
  return failure === null ? null : (
    <Notice tone="look" icon="triangle-alert" role="alert" title={failure.title}>
      {failure.hint}
    </Notice>
  );
}

/** A notice of what failed; null when nothing did. @param title what was not done; the service's text alone without it. */
export function useFailure(error: Error | null, title?: string): ReactNode {
  const words = useWords();
  return error === null ? null : <FailureNotice failure={failureText(error, words, title)} />;
}

interface MoreRowsProps {
  /** Rows that are shown, of all that there are. */
  readonly most: number;
  readonly all: number;
  readonly texts: {
    readonly showMore: string;
    shown(a: { readonly shown: number; readonly all: number }): string;
  };
  onMore(): void;
}

/** Below a table: how many rows are shown, and the button for more; nothing where all are. */
export function MoreRows({ most, all, texts, onMore }: MoreRowsProps) {
  if (all <= most) return null;
  return (
    <div className="card-body row wrap">
      <Button className="button secondary" onPress={onMore}>
        {texts.showMore}
      </Button>
      <span className="muted">{texts.shown({ shown: most, all })}</span>
    </div>
  );
}
