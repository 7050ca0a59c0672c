// Whether the session is one of a practice fleet.
import { useValue } from '../components/use.ts';
import { isPractice, practiceAccount, session } from '../service/session.ts';

export function useIsPractice(): boolean {
  useValue(practiceAccount);
  useValue(session);
  return isPractice();
}
