// The pages that the navigation offers to this user, with their texts, and what waits on each.
import { numberText } from '../components/texts.tsx';
import { useValue, useWords } from '../components/use.ts';
import { useRole } from '../service/role.ts';
import { isPractice, practiceAccount, session } from '../service/session.ts';
import type { ScreenLink } from './screen.ts';

export interface Page extends ScreenLink {
  readonly title: string;
  /** In the rail. */
  readonly short: string;
  /** As an action. */
  readonly go: string;
}

/** Whether the session is one of a practice fleet. */
export function useIsPractice(): boolean {
  useValue(practiceAccount);
  useValue(session);
  return isPractice();
}

export function usePages(links: readonly ScreenLink[]): readonly Page[] {
  const { pages } = useWords();
  const conditions = { admin: useRole() === 'admin', practice: useIsPractice() };
  return links
    .filter(({ condition }) => condition === undefined || conditions[condition])
    .map((link) => {
      const texts: { go: string; title?: string; short?: string } =
        pages[link.to.slice(1) as keyof typeof pages];
      const { go, title = go, short = title } = texts;
      return { ...link, go, title, short };
    });
}

const useNone = (): null => null;

/** The number, and the same in words for a screen reader. */
export function PageBadge({ useBadge = useNone }: Pick<ScreenLink, 'useBadge'>) {
  const { count, text, isQuiet } = useBadge() ?? { count: 0 };
  if (count === 0) return null;
  return (
    <>
      <span className="hidden">{text}</span>
      <span className={isQuiet ? 'count quiet' : 'count'} aria-hidden="true">
        {count > 99 ? '99+' : numberText(count)}
      </span>
    </>
  );
}
