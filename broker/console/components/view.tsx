// The states of a view that shows an answer: loading, failed, empty, or its content. A failure never hides older content.
import type { ReactNode } from 'react';
import { failureText } from './failure.ts';
import { Loading, Notice } from './texts.tsx';
import { useWords } from './use.ts';

interface ViewProps {
  readonly error: Error | null;
  readonly isLoaded: boolean;
  /** What an empty view says; null when it is not empty. */
  readonly empty: ReactNode;
  readonly children: ReactNode;
}

export function View({ error, isLoaded, empty, children }: ViewProps) {
  const failure = useFailure(error);
  return (
    <>
      {failure}
      {isLoaded ? (empty ?? children) : error === null ? <Loading rows={5} /> : null}
    </>
  );
}

/** A notice of what failed; null when nothing did. @param title what was not done; the service's text alone without it. */
export function useFailure(error: Error | null, title?: string): ReactNode {
  const words = useWords();
  if (error === null) return null;
  const failure = failureText(error, words);
  return (
    <Notice
      tone="look"
      icon="triangle-alert"
      role="alert"
      title={title === undefined ? failure.title : `${title}: ${failure.title}`}
    >
      {failure.hint}
    </Notice>
  );
}
