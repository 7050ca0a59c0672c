// Settings of one vehicle over those of all, what the vehicle holds since when, and why it did not take the newest version.
import { Link, useSearch } from '@tanstack/react-router';
import { settingWords } from '../../../../build/words/setting.ts';
import { zoneWords } from '../../../../build/words/zone.ts';
import type { Device } from '../../api/operations.ts';
import { Icon } from '../../components/icon.tsx';
import { Age, Notice, numberText, Time } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { View } from '../../components/view.tsx';
import { settingTables } from '../../state/device-view.ts';
import type { Configuration } from '../zones/use-zone-changes.ts';
import { Version } from '../zones/versions.tsx';
import { SettingsForm } from './form.tsx';
import { useDeviceSettings } from './use-settings.ts';

function Held({ configuration }: { readonly configuration: Configuration }) {
  const { settings: texts, common } = useWords(settingWords);
  const { state, heldVersion, heldOn, sentOn, failedVersion, failedOn } = configuration;
  return (
    <>
      <p>
        <Version configuration={configuration} />
      </p>
      {state === 'failed' || state === 'fault' ? (
        <Notice tone="look" icon="triangle-alert" title={texts.states[state]} />
      ) : (
        <p className="muted">{texts.states[state]}</p>
      )}
      <dl className="pairs">
        <dt>{texts.holds}</dt>
        <dd>{heldVersion === 0 ? texts.fileOnly : numberText(heldVersion)}</dd>
        <dt>{texts.since}</dt>
        <dd>{heldOn === 0 ? common.unknown : <Age at={heldOn} />}</dd>
        <dt>{texts.sent}</dt>
        <dd>{sentOn === 0 ? common.none : <Time at={sentOn} />}</dd>
        <dt>{texts.refused}</dt>
        <dd>
          {failedVersion === 0 ? (
            common.none
          ) : (
            <>
              {numberText(failedVersion)} · <Time at={failedOn} />
            </>
          )}
        </dd>
      </dl>
    </>
  );
}

export function DeviceSettings({ device }: { readonly device: Device }) {
  const { settings: texts, zones } = useWords(settingWords, zoneWords);
  const { table = settingTables[0] } = useSearch({ from: '/shell/devices/$deviceID' });
  const { deviceID } = device;
  const { data, error } = useDeviceSettings(deviceID);
  if (data === undefined)
    return (
      <section className="card">
        <View error={error} isLoaded={false} empty={null}>
          {null}
        </View>
      </section>
    );
  return (
    <div className="split">
      <div className="stack">
        <View error={error} isLoaded empty={null}>
          <SettingsForm
            deviceID={deviceID}
            name={device.deviceDisplayName || deviceID}
            own={data.settings}
            below={data.accountSettings}
            revision={data.revision}
            table={table}
          />
        </View>
      </div>
      <aside className="card" aria-labelledby="held-title">
        <header>
          <h2 id="held-title">{texts.held}</h2>
        </header>
        <div className="card-body stack">
          <Held configuration={data.configuration} />
          <p className="muted">{zones.heldHint}</p>
          <Link className="button secondary" to="/settings" search={{ table }}>
            <Icon name="sliders" />
            {texts.ofFleet}
          </Link>
          <p className="muted">{texts.board}</p>
          <Link
            className="button secondary"
            to="/vehicle/$deviceID"
            params={{ deviceID }}
            search={{ tab: 'health' }}
          >
            <Icon name="activity" />
            {texts.toHealth}
          </Link>
          <Link className="button secondary" to="/vehicle/$deviceID" params={{ deviceID }}>
            <Icon name="shield-check" />
            {texts.toProof}
          </Link>
        </div>
      </aside>
    </div>
  );
}
