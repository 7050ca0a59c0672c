// Settings of one vehicle over those of all, what the vehicle holds since when, and why it did not take the newest version.
import { Link, useSearch } from '@tanstack/react-router';
import { settingWords } from '../../../../build/words/setting.ts';
import { zoneWords } from '../../../../build/words/zone.ts';
import type { Device } from '../../api/operations.ts';
import { Icon } from '../../components/icon.tsx';
import { Pairs } from '../../components/patterns/detail.tsx';
import { Card } from '../../components/patterns/page.tsx';
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
      <Pairs
        rows={[
          [texts.holds, heldVersion === 0 ? texts.fileOnly : numberText(heldVersion)],
          [texts.since, heldOn === 0 ? common.unknown : <Age at={heldOn} />],
          [texts.sent, sentOn === 0 ? common.none : <Time at={sentOn} />],
          [
            texts.refused,
            failedVersion === 0 ? (
              common.none
            ) : (
              <>
                {numberText(failedVersion)} · <Time at={failedOn} />
              </>
            ),
          ],
        ]}
      />
    </>
  );
}

export function DeviceSettings({ device }: { readonly device: Device }) {
  const { settings: texts, zones } = useWords(settingWords, zoneWords);
  const { table = settingTables[0] } = useSearch({ from: '/shell/vehicle/$deviceID' });
  const { deviceID } = device;
  const { data, error } = useDeviceSettings(deviceID);
  return (
    <View error={error} isLoaded={data !== undefined} empty={null}>
      {data === undefined ? null : (
        <div className="split">
          <SettingsForm
            deviceID={deviceID}
            name={device.deviceDisplayName || deviceID}
            own={data.settings}
            below={data.accountSettings}
            revision={data.revision}
            table={table}
          />
          <Card title={texts.held} isAside>
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
          </Card>
        </div>
      )}
    </View>
  );
}
