// Which steps of the guided start of a practice fleet have happened.
import { useEffect } from 'react';
import { useValue } from '../components/use.ts';
import { alarms, vehicles } from '../service/live.ts';
import { useRequests } from '../service/orders.ts';
import { practiceDone, usePracticeFleet } from '../service/practice.ts';
import { keptSteps, keptText, stepsSeen } from '../state/practice/guide.ts';

const key = 'fleetward.practice';
const everyMs = 3000;

/** Follows what happens, on every screen: a step is done wherever the user sees it happen. */
export function useFollowedPractice(): void {
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
