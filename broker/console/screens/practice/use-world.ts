// What may be done in the world now, and what came of the last thing that was done.
import type { ReactNode } from 'react';
import { useValue } from '../../components/use.ts';
import { useFailure } from '../../components/view.tsx';
import { connection } from '../../service/live.ts';
import { type PracticeAct, usePracticeActs } from '../../service/practice.ts';
import { useRole } from '../../service/role.ts';

export interface World {
  /** The user's role allows it. */
  readonly mayAct: boolean;
  /** Nothing can be done now. */
  readonly isOff: boolean;
  /** The stream is down. */
  readonly isDown: boolean;
  /** The last thing that was done; null before the first. */
  readonly did: PracticeAct | null;
  readonly failure: ReactNode;
  act(act: PracticeAct): void;
}

/** @param failed what a failure says first. */
export function useWorld(failed: string): World {
  const role = useRole();
  const isDown = useValue(connection).state !== 'live';
  const { mutate, isPending, isSuccess, variables, error } = usePracticeActs();
  return {
    mayAct: role === 'operator' || role === 'admin',
    isOff: isDown || isPending,
    isDown,
    did: isSuccess ? variables : null,
    failure: useFailure(error, failed),
    act: (wanted) => mutate(wanted),
  };
}
