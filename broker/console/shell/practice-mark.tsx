// The mark of a practice fleet: in the bar, and on narrow screens as a strip below it.
import { Link } from '@tanstack/react-router';
import { practiceWords } from '../../../build/words/practice.ts';
import { Icon } from '../components/icon.tsx';
import { useWords } from '../components/use.ts';
import { useFollowedPractice } from './use-followed-practice.ts';

function MarkLink({ place }: { readonly place: 'bar' | 'strip' }) {
  const { practice } = useWords(practiceWords);
  return (
    <Link className={`practice-mark in-${place}`} to="/practice">
      <Icon name="flask-conical" />
      {practice.mark}
    </Link>
  );
}

export function PracticeMark() {
  useFollowedPractice();
  return <MarkLink place="bar" />;
}

export function PracticeStrip() {
  const { practice } = useWords(practiceWords);
  return (
    <aside aria-label={practice.mark}>
      <MarkLink place="strip" />
    </aside>
  );
}
