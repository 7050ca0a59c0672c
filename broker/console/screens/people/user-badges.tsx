// The state of a user, with icon and word.

import { peopleWords } from '../../../../build/words/people.ts';
import { Badge } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import type { User } from '../../state/people-view.ts';

export function UserBadges({ user }: { readonly user: User }) {
  const { states } = useWords(peopleWords).people;
  return (
    <span className="row wrap">
      {user.isActive ? (
        <Badge icon="circle-check" tone="ok">
          {states.active}
        </Badge>
      ) : (
        <Badge icon="ban" tone="look">
          {states.suspended}
        </Badge>
      )}
      {user.isConfirmed || user.roleID === 'viewer' ? null : (
        <Badge icon="hourglass" tone="look">
          {states.unconfirmed}
        </Badge>
      )}
      {user.hasPassword ? null : <Badge icon="link">{states.provider}</Badge>}
    </span>
  );
}
