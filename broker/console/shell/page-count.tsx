// A page that is needed less often, and what waits on it.
import type { IconName } from '../components/icon.tsx';
import { numberText } from '../components/texts.tsx';
import { useWords } from '../components/use.ts';

export interface FurtherPage {
  readonly to:
    | '/practice'
    | '/inbox'
    | '/zones'
    | '/routes'
    | '/reports'
    | '/devices'
    | '/people'
    | '/settings'
    | '/rules'
    | '/releases'
    | '/audit'
    | '/shares';
  readonly icon: IconName;
  readonly text: string;
  readonly count?: { readonly count: number; readonly hasMore: boolean } | null;
}

/** The number, and the same in words for a screen reader. */
export function PageCount({ count, hasMore }: { readonly count: number; readonly hasMore: boolean }) {
  const { pages } = useWords();
  if (count === 0) return null;
  return (
    <>
      <span className="hidden">{pages.inbox.count({ count, hasMore })}</span>
      <span className="count quiet" aria-hidden="true">
        {count > 99 ? '99+' : numberText(count)}
      </span>
    </>
  );
}
