// The account: its state and limits for every user, its settings and the rules for cuts for administrators; and the user's own preferences.
import { accountWords } from '../../../../build/words/account.ts';
import { Card, Gate, isOneOf, Page } from '../../components/patterns/page.tsx';
import { Badge, Fact, Time } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { View } from '../../components/view.tsx';
import { useRole } from '../../service/role.ts';
import { session } from '../../service/session.ts';
import { CutRules } from './cut-rules.tsx';
import { Owner } from './owner.tsx';
import { Passkeys } from './passkeys.tsx';
import { PreferencesForm } from './preferences-form.tsx';
import { AccountForm } from './settings-form.tsx';
import { Totp } from './totp.tsx';
import { useAccount, useFigures } from './use-account.ts';

function Figures() {
  const { account: texts } = useWords(accountWords);
  const accountID = useValue(session)?.accountID ?? '';
  const { data, error } = useFigures();
  return (
    <Card title={texts.of({ account: accountID })}>
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
    </Card>
  );
}

/** Settings and rules, as an administrator sees them. */
function Administration() {
  const { data, error } = useAccount();
  return (
    <View error={error} isLoaded={data !== undefined} empty={null}>
      {data === undefined ? null : (
        <>
          <AccountForm account={data} />
          <CutRules account={data} />
          <Owner />
        </>
      )}
    </View>
  );
}

export function AccountScreen() {
  const { account: texts, pages } = useWords(accountWords);
  return (
    <Page title={pages.account.title}>
      <div className="split">
        <div className="stack">
          <Figures />
          <Gate isOpen={isOneOf(useRole(), 'admin')} title={texts.adminsOnly}>
            <Administration />
          </Gate>
        </div>
        <aside className="stack">
          <PreferencesForm />
          <Passkeys />
          <Totp />
        </aside>
      </div>
    </Page>
  );
}
