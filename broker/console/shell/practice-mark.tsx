// The mark of a practice fleet: in the bar, and on narrow screens as a strip below it.
import { Link } from '@tanstack/react-router';
import { Icon } from '../components/icon.tsx';
import { useWords } from '../components/use.ts';
import { useFollowedPractice } from './use-followed-practice.ts';

function MarkLink({ place }: { readonly place: 'bar' | 'strip' }) {
  const { practice } = useWords();
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
  const { practice } = useWords();
  return (
    <aside aria-label={practice.mark}>
      <MarkLink place="strip" />
    </aside>
  );
}
