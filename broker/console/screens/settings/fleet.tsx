// Settings of all vehicles of the account, and which vehicle has which version of them.
import { useSearch } from '@tanstack/react-router';
import { settingWords } from '../../../../build/words/setting.ts';
import { useTitle, useWords } from '../../components/use.ts';
import { View } from '../../components/view.tsx';
import { settingTables } from '../../state/device-view.ts';
import { Versions } from '../zones/versions.tsx';
import { SettingsForm } from './form.tsx';
import { useAccountSettings } from './use-settings.ts';

export function SettingsScreen() {
  const words = useWords(settingWords);
  const { settings: texts } = words;
  const { table = settingTables[0] } = useSearch({ from: '/shell/settings' });
  const { data, error } = useAccountSettings();
  useTitle(words.pages.settings.title);
  return (
    <main className="page" id="main">
      <header className="page-head">
        <h1>{words.pages.settings.title}</h1>
        <p>{texts.interlock}</p>
      </header>
      {data === undefined ? (
        <section className="card">
          <View error={error} isLoaded={false} empty={null}>
            {null}
          </View>
        </section>
      ) : (
        <div className="split">
          <div className="stack">
            <View error={error} isLoaded empty={null}>
              <SettingsForm
                deviceID={null}
                name=""
                own={data.settings}
                below={null}
                revision={data.revision}
                table={table}
              />
            </View>
          </div>
          <aside className="card">
            <Versions key={words.locale} />
          </aside>
        </div>
      )}
    </main>
  );
}
