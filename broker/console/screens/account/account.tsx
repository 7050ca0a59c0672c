// The account: its state and limits for every user, its settings and the rules for cuts for administrators; and the user's own preferences.

import { accountWords } from '../../../../build/words/account.ts';
import { Badge, Empty, Fact, Loading, Time } from '../../components/texts.tsx';
import { useTitle, useValue, useWords } from '../../components/use.ts';
import { View } from '../../components/view.tsx';
import { useRole } from '../../service/role.ts';
import { session } from '../../service/session.ts';
import { CutRules } from './cut-rules.tsx';
import { PreferencesForm } from './preferences-form.tsx';
import { AccountForm } from './settings-form.tsx';
import { useAccount, useFigures } from './use-account.ts';

function Figures() {
  const { account: texts } = useWords(accountWords);
  const accountID = useValue(session)?.accountID ?? '';
  const { data, error } = useFigures();
  return (
    <section className="card" aria-labelledby="account-title">
      <header>
        <h2 id="account-title">{texts.of({ account: accountID })}</h2>
      </header>
      <div className="card-body">
        <View error={error} isLoaded={data !== undefined} empty={null}>
          {data === undefined ? null : (
            <dl className="facts">
              <Fact
                name={texts.state}
                value={
                  data.isActive ? (
                    <Badge icon="circle-check" tone="ok">
                      {texts.active}
                    </Badge>
                  ) : (
                    <Badge icon="ban" tone="look">
                      {texts.inactive}
                    </Badge>
                  )
                }
              />
              <Fact
                name={texts.ends}
                value={data.expirationTime === 0 ? texts.endsNever : <Time at={data.expirationTime} />}
              />
              <Fact
                name={texts.devices}
                value={
                  data.maximumDevices === 0
                    ? texts.devicesFree({ count: data.deviceCount })
                    : texts.devicesOf({ count: data.deviceCount, most: data.maximumDevices })
                }
              />
            </dl>
          )}
        </View>
      </div>
    </section>
  );
}

/** Settings and rules, as an administrator sees them. */
function Administration() {
  const { data, error } = useAccount();
  if (data === undefined)
    return (
      <section className="card">
        <View error={error} isLoaded={false} empty={null}>
          {null}
        </View>
      </section>
    );
  return (
    <>
      <View error={error} isLoaded empty={null}>
        <AccountForm account={data} />
      </View>
      <CutRules account={data} />
    </>
  );
}

export function AccountScreen() {
  const words = useWords(accountWords);
  const { account: texts } = words;
  const role = useRole();
  useTitle(words.pages.account.title);
  return (
    <main className="page" id="main">
      <header className="page-head">
        <h1>{words.pages.account.title}</h1>
      </header>
      <div className="split">
        <div className="stack">
          <Figures />
          {role === 'admin' ? (
            <Administration />
          ) : (
            <section className="card">
              {role === '' ? <Loading rows={3} /> : <Empty icon="lock" title={texts.adminsOnly} />}
            </section>
          )}
        </div>
        <aside className="stack">
          <PreferencesForm />
        </aside>
      </div>
    </main>
  );
}
