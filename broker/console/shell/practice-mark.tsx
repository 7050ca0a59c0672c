// The mark of a practice fleet: in the bar, and on narrow screens as a strip below it.
import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import { practiceWords } from '../../../build/words/practice.ts';
import { Icon } from '../components/icon.tsx';
import { useValue, useWords } from '../components/use.ts';
import { alarms, vehicles } from '../service/live.ts';
import { useRequests } from '../service/orders.ts';
import { practiceDone, usePracticeFleet } from '../service/practice.ts';
import { keptSteps, keptText, stepsSeen } from '../state/practice/guide.ts';

// Which steps of the guided start of a practice fleet have happened.

const key = 'fleetward.practice';
const everyMs = 3000;

/** Follows what happens, on every screen: a step is done wherever the user sees it happen. */
function useFollowedPractice(): void {
  const { data: fleet } = usePracticeFleet(everyMs);
  const { data: requests } = useRequests('all');
  const open = useValue(alarms);
  const shown = useValue(vehicles);
  useEffect(() => {
    if (fleet === undefined) return;
    const seen = stepsSeen({
      fleet,
      alarms: open.values(),
      vehicles: shown.values(),
      requests: requests ?? [],
    });
    const before = keptSteps(sessionStorage.getItem(key), fleet.startedS);
    const done = [...new Set([...before, ...seen])];
    sessionStorage.setItem(key, keptText(fleet.startedS, done));
    if (done.join() !== practiceDone.get().join()) practiceDone.set(done);
  }, [fleet, requests, open, shown]);
}

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
