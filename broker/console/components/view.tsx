// The states of a view that shows an answer: loading, failed, empty, or its content. A failure never hides older content.
import type { ReactNode } from 'react';
import { Button } from 'react-aria-components';
import { failureText } from './failure.ts';
import { Known } from './known.tsx';
import { Notice } from './texts.tsx';
import { useWords } from './use.ts';

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

/** A notice of what failed; null when nothing did. @param title what was not done; the service's text alone without it. */
export function useFailure(error: Error | null, title?: string): ReactNode {
  const words = useWords();
  if (error === null) return null;
  const failure = failureText(error, words, title);
  return (
    <Notice tone="look" icon="triangle-alert" role="alert" title={failure.title}>
      {failure.hint}
    </Notice>
  );
}

interface MoreRowsProps {
  /** Rows that are shown, of all that there are. */
  readonly most: number;
  readonly all: number;
  readonly texts: { readonly showMore: string; shown(shown: number, all: number): string };
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
      <span className="muted">{texts.shown(most, all)}</span>
    </div>
  );
}
