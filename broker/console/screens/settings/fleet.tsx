// Settings of all vehicles of the account, and which vehicle has which version of them.
import { useSearch } from '@tanstack/react-router';
import { settingWords } from '../../../../build/words/setting.ts';
import { Page } from '../../components/patterns/page.tsx';
import { useWords } from '../../components/use.ts';
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
  return (
    <Page title={words.pages.settings.title} lead={texts.interlock}>
      <View error={error} isLoaded={data !== undefined} empty={null}>
        {data === undefined ? null : (
          <div className="split">
            <SettingsForm
              deviceID={null}
              name=""
              own={data.settings}
              below={null}
              revision={data.revision}
              table={table}
            />
            <aside className="card">
              <Versions key={words.locale} />
            </aside>
          </div>
        )}
      </View>
    </Page>
  );
}
