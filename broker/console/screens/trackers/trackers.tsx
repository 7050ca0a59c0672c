// How trackers of other makers are connected through a Traccar server, and phones by themselves: whether new ones are added, the lines
// for the server with a token, and the address of a phone. Token and address are shown once.
import { useQuery } from '@tanstack/react-query';
import { trackerWords } from '../../../../build/words/tracker.ts';
import { Actions, Pairs } from '../../components/patterns/detail.tsx';
import { ActionDialog, Fields, ShownOnce, useFields } from '../../components/patterns/form.tsx';
import { Card, Gate, isOneOf, Page } from '../../components/patterns/page.tsx';
import { ShownSecret } from '../../components/shown-secret.tsx';
import { useWords } from '../../components/use.ts';
import { View } from '../../components/view.tsx';
import { call } from '../../service/call.ts';
import { readFleetAgain } from '../../service/live.ts';
import { useRole } from '../../service/role.ts';
import { isID } from '../../state/device-view.ts';

const useTexts = () => useWords(trackerWords).trackers;
const queryKey = ['trackers'];
const yearS = 365 * 86_400;

/** What stands in `conf/traccar.xml`. */
function linesOf(token: string): string {
  const url = `${window.location.origin}/api/v1/tracker/traccar/authorization`;
  const header = `Authorization: Bearer ${token}`;
  const entries = {
    'forward.type': 'json',
    'forward.url': url,
    'forward.header': header,
    'forward.retry.enable': 'true',
    'event.forward.url': url,
    'event.forward.header': header,
  };
  return Object.entries(entries)
    .map(([key, value]) => `<entry key='${key}'>${value}</entry>`)
    .join('\n');
}

function Adding({ adds }: { readonly adds: boolean }) {
  const texts = useTexts();
  return (
    <ActionDialog
      icon="hard-drive"
      title={adds ? texts.turnOff : texts.turnOn}
      action={adds ? texts.turnOff : texts.turnOn}
      changes={queryKey}
      run={() => call('setTrackerSettings', { body: { addsTrackers: !adds } })}
    >
      <p>{adds ? texts.turnOffText : texts.turnOnText}</p>
    </ActionDialog>
  );
}

function TrackToken() {
  const texts = useTexts();
  const create = () =>
    call('token', {
      body: {
        description: texts.tokenDescription,
        expires: Math.floor(Date.now() / 1000) + yearS,
        scopes: ['track'],
      },
    });
  return (
    <ActionDialog
      icon="key-round"
      title={texts.token}
      action={texts.token}
      changes={['people']}
      run={create}
      shown={({ token }) => <ShownOnce secrets={[[texts.lines, linesOf(token)]]} />}
    >
      <p>{texts.tokenText}</p>
    </ActionDialog>
  );
}

function PhoneKey() {
  const texts = useTexts();
  const [draft, put] = useFields({ id: '', name: '' });
  const create = () =>
    call('createPhoneKey', { body: { deviceID: draft.id, displayName: draft.name } }).finally(readFleetAgain);
  const addresses = (path: string): readonly (readonly [string, string])[] => {
    const address = `${window.location.origin}${path}`;
    return [
      [texts.address, address],
      [texts.osmand, `${address}?lat={0}&lon={1}&timestamp={2}&hdop={3}&altitude={4}&bearing={6}`],
      [
        texts.gpslogger,
        `${address}?lat=%LAT&lon=%LON&timestamp=%TIMESTAMP&altitude=%ALT&accuracy=%ACC&bearing=%DIR&batt=%BATT`,
      ],
    ];
  };
  return (
    <ActionDialog
      icon="key-round"
      title={texts.phone}
      action={texts.phone}
      isOff={!isID(draft.id)}
      beginsInField
      changes={['devices']}
      run={create}
      shown={({ path }) => <ShownOnce secrets={addresses(path)} />}
    >
      <p>{texts.phoneText}</p>
      <Fields
        of={[
          { name: 'id', label: texts.id, hint: texts.idHint, most: 64, isRequired: true, hasFocus: true },
          { name: 'name', label: texts.name, most: 128 },
        ]}
        draft={draft}
        onChange={put}
      />
    </ActionDialog>
  );
}

function Server() {
  const texts = useTexts();
  const { data, error } = useQuery({
    queryKey,
    queryFn: ({ signal }) => call('trackerSettings', { signal }),
  });
  return (
    <Card title={texts.server}>
      <View error={error} isLoaded={data !== undefined} empty={null}>
        {data === undefined ? null : (
          <>
            <Pairs
              rows={[
                [texts.adds, data.addsTrackers ? texts.addsOn : texts.addsOff],
                [texts.lost, data.fetchesLost ? texts.lostFetched : texts.lostMissing],
              ]}
            />
            <ShownSecret label={texts.lines} value={linesOf('TOKEN')} />
            <p className="muted">{texts.linesHint}</p>
            <Actions
              of={[
                {
                  name: 'trackers-add',
                  text: data.addsTrackers ? texts.turnOff : texts.turnOn,
                  dialog: <Adding adds={data.addsTrackers} />,
                },
                { name: 'track-token', text: texts.token, icon: 'key-round', dialog: <TrackToken /> },
              ]}
            />
          </>
        )}
      </View>
    </Card>
  );
}

export function TrackersScreen() {
  const texts = useTexts();
  const isAdmin = isOneOf(useRole(), 'admin');
  return (
    <Page title={texts.title} lead={texts.lead}>
      <Gate isOpen={isAdmin} title={texts.admins}>
        <div className="split">
          <Server />
          <Card title={texts.phones} isAside>
            <p>{texts.phonesHint}</p>
            <Actions
              of={[{ name: 'phone-key', text: texts.phone, icon: 'key-round', dialog: <PhoneKey /> }]}
            />
          </Card>
        </div>
      </Gate>
    </Page>
  );
}
