// The first screen of an account without a vehicle: what this is, and the one thing to do.
import { Link } from '@tanstack/react-router';
import { findWords } from '../../../../build/words/find.ts';
import { Empty } from '../../components/texts.tsx';
import { useTitle, useWords } from '../../components/use.ts';
import { useUser } from '../../service/role.ts';
import { session } from '../../service/session.ts';
import { useIsPractice } from '../../shell/pages.tsx';
import { mayAddDevices, seesEveryDevice } from '../../state/people-view.ts';

export function FirstVehicle() {
  const words = useWords(findWords);
  const { first: texts } = words.find;
  const user = useUser();
  const hasPractice = useIsPractice();
  const account = session.get()?.accountID ?? '';
  useTitle(words.pages.live.title);
  return (
    <main className="page" id="main">
      <h1 className="hidden">{words.pages.live.title}</h1>
      <section className="card">
        <Empty icon="truck" title={texts.title}>
          <p>{texts.what}</p>
          {user === undefined ? null : mayAddDevices(user) ? (
            <Link className="button primary" to="/devices" search={{ open: 'create' }}>
              {texts.add}
            </Link>
          ) : (
            <p>{seesEveryDevice(user) ? texts.ask({ account }) : texts.groups({ account })}</p>
          )}
          {hasPractice ? <Link to="/practice">{texts.practice}</Link> : null}
        </Empty>
      </section>
    </main>
  );
}
