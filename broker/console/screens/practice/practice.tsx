// The practice fleet: three things to try, and the world of its vehicles, each of which is chosen in the address.
import { Link, useSearch } from '@tanstack/react-router';
import { practiceWords } from '../../../../build/words/practice.ts';
import type { PracticeFleet, PracticeVehicle } from '../../../../src/core/practice.ts';
import { Icon } from '../../components/icon.tsx';
import { Empty, Notice, numberText } from '../../components/texts.tsx';
import { useTitle, useValue, useWords } from '../../components/use.ts';
import { View } from '../../components/view.tsx';
import { vehicles } from '../../service/live.ts';
import { usePracticeFleet } from '../../service/practice.ts';
import { useUser } from '../../service/role.ts';
import { isPractice, practiceAccount } from '../../service/session.ts';
import { offersOf } from '../../state/practice/guide.ts';
import { Guide } from './guide.tsx';
import { useWorld } from './use-world.ts';
import { VehicleCard } from './vehicle.tsx';

const everyMs = 1000;

function VehicleLink({
  vehicle,
  isChosen,
}: {
  readonly vehicle: PracticeVehicle;
  readonly isChosen: boolean;
}) {
  const { practice: texts, units } = useWords(practiceWords);
  const { deviceID, speedKmh, engine, isConnected } = vehicle;
  return (
    <li>
      <Link
        className="practice-vehicle"
        to="/practice"
        search={{ vehicle: deviceID }}
        replace
        resetScroll={false}
        {...(isChosen ? { 'aria-current': true as const } : {})}
      >
        <Icon name={isConnected ? 'truck' : 'wifi-off'} />
        <bdi>{deviceID}</bdi>
        <span className="push muted">
          {engine === 'running' ? (
            <bdi>
              {numberText(speedKmh)} {units.kmh}
            </bdi>
          ) : (
            texts.engines[engine]
          )}
        </span>
      </Link>
    </li>
  );
}

function Fleet({ fleet }: { readonly fleet: PracticeFleet }) {
  const { practice: texts } = useWords(practiceWords);
  const { vehicle: chosen } = useSearch({ from: '/shell/practice' });
  const shown = useValue(vehicles);
  const world = useWorld(texts.failed);
  const hasCut = (deviceID: string): boolean => {
    const vehicle = shown.get(deviceID);
    return vehicle !== undefined && (vehicle.pendingCut !== null || vehicle.cutoff === '1');
  };
  const own = fleet.vehicles.find(({ deviceID }) => deviceID === chosen) ?? fleet.vehicles[0];
  const { did } = world;
  return (
    <div className="split">
      <div className="stack">
        {world.isDown ? <Notice tone="look" icon="wifi-off" title={texts.off} /> : null}
        {world.failure}
        <Guide world={world} offers={offersOf(fleet, hasCut)} />
        {own === undefined ? null : <VehicleCard vehicle={own} world={world} />}
        <p className="muted" role="status">
          {did === null ? '' : texts.did({ what: texts.actions[did.action], vehicle: did.deviceID })}
        </p>
      </div>
      <aside className="card" aria-labelledby="practice-vehicles">
        <header>
          <h2 id="practice-vehicles">{texts.vehicles}</h2>
        </header>
        <ul className="practice-list" aria-label={texts.list}>
          {fleet.vehicles.map((vehicle) => (
            <VehicleLink
              key={vehicle.deviceID}
              vehicle={vehicle}
              isChosen={vehicle.deviceID === own?.deviceID}
            />
          ))}
        </ul>
      </aside>
    </div>
  );
}

export function PracticeScreen() {
  const words = useWords(practiceWords);
  const { practice: texts } = words;
  // Known once the service has answered anything.
  const isKnown = useUser() !== undefined;
  useValue(practiceAccount);
  const { data, error } = usePracticeFleet(everyMs, isPractice());
  useTitle(words.pages.practice.title);
  return (
    <main className="page" id="main">
      <header className="page-head">
        <h1>{words.pages.practice.title}</h1>
        <p>{texts.lead}</p>
      </header>
      {isKnown && !isPractice() ? (
        <section className="card">
          <Empty icon="flask-conical" title={texts.none}>
            <p>{texts.noneHint}</p>
          </Empty>
        </section>
      ) : (
        <View error={error} isLoaded={data !== undefined} empty={null}>
          {data === undefined ? null : <Fleet fleet={data} />}
        </View>
      )}
    </main>
  );
}
