// The page of one vehicle: its head with the live facts and restore, and its tabs. Tab, period and event stand in the address.
import { useQuery } from '@tanstack/react-query';
import { Link, useParams, useSearch } from '@tanstack/react-router';
import { type ComponentType, Suspense, useEffect } from 'react';
import type { Device } from '../../api/operations.ts';
import { failureText } from '../../components/failure.ts';
import { Icon } from '../../components/icon.tsx';
import { CopyLink } from '../../components/patterns/copy-link.tsx';
import { Position } from '../../components/places/position.tsx';
import { useZoneName } from '../../components/places/use-zones.ts';
import { Age, Badge, Empty, Fact, Loading, Notice } from '../../components/texts.tsx';
import { lazyPart, useTitle, useValue, useWords } from '../../components/use.ts';
import { call, ServiceError } from '../../service/call.ts';
import { changedDevices, vehicles } from '../../service/live.ts';
import { mayHave, type Vehicle } from '../../state/fleet.ts';
import { vehicleAlone } from '../../state/fleet-messages.ts';
import { type VehicleTab, vehicleTabs } from '../../state/vehicle/vehicle-view.ts';
import { withWords } from '../../words/word-set.ts';
import { OrderDialog } from '../cut/cut.tsx';
import { OpenOrder } from '../cut/open-order.tsx';
import { UnlockBadge } from '../cut/parts.tsx';
import { useSafeOrder } from '../cut/safe-order.tsx';
import { ShareButton, SharedBadge, VehicleShare } from '../shares/vehicle-shares.tsx';
import { VehicleAudit } from './audit.tsx';
import { AlarmMark, CutBadge, StateBadge } from './badges.tsx';
import { VehicleCommands } from './commands.tsx';
import { VehicleEvents } from './events.tsx';
import { FuelFact, SpeedFact, SwitchFacts } from './facts.tsx';
import { VehicleHealth } from './health.tsx';
import { VehicleMessages } from './messages.tsx';
import { VehicleNow } from './now.tsx';
import { VehicleTrips } from './trips.tsx';

const VehicleMap = lazyPart(async () => (await withWords(import('./vehicle-map.tsx'))).VehicleMap);
const VehicleDevice = lazyPart(async () => (await withWords(import('../devices/device.tsx'))).VehicleDevice);

function HeroFacts({ vehicle }: { readonly vehicle: Vehicle }) {
  const { vehicle: words } = useWords();
  const zoneName = useZoneName();
  const fixAge = <Age at={vehicle.fixS} />;
  return (
    <dl className="hero-facts">
      <SpeedFact vehicle={vehicle} />
      <SwitchFacts vehicle={vehicle} hasCargo />
      <Fact name={words.position} value={<Position vehicle={vehicle} />} age={fixAge} />
      <Fact name={words.zone} value={zoneName(vehicle.zone) || words.noZone} age={fixAge} />
      <FuelFact vehicle={vehicle} />
      <Fact name={words.driver} value={vehicle.driver || words.noDriver} />
    </dl>
  );
}

function TabLinks({ device, tab }: { readonly device: Device; readonly tab: VehicleTab }) {
  const words = useWords();
  const mayUpdate = device.authorities['update'] === true;
  return (
    <nav className="tabs" aria-label={words.vehicle.tabs.label}>
      {vehicleTabs
        .filter((one) => one !== 'device' || mayUpdate || tab === 'device')
        .map((one) => (
          <Link
            key={one}
            to="/vehicle/$deviceID"
            params={{ deviceID: device.deviceID }}
            search={{ tab: one }}
            {...(one === tab ? { 'aria-current': 'page' as const } : {})}
          >
            {words.vehicle.tabs[one]}
          </Link>
        ))}
    </nav>
  );
}

function Head({ vehicle, device }: { readonly vehicle: Vehicle; readonly device: Device }) {
  const words = useWords();
  const { tab = 'now' } = useSearch({ from: '/shell/vehicle/$deviceID' });
  const restore = useSafeOrder('enginecutoff', vehicle);
  const lock = useSafeOrder('cargoaccess', vehicle);
  const mayCommand = device.authorities['command'] === true;
  const hasCargo = mayHave(vehicle, 'cargoaccess');
  return (
    <header className="card hero-card">
      <div className="hero">
        <div className="stack">
          <div className="row wrap">
            <h1>{vehicle.name}</h1>
            <AlarmMark vehicle={vehicle} />
            <StateBadge vehicle={vehicle} />
            <CutBadge state={vehicle.pendingCut ?? vehicle.ownCut} />
            {vehicle.cutoff === '1' ? (
              <Badge icon="power" tone="busy">
                {words.relays.enginecutoff.states[1]}
              </Badge>
            ) : null}
            <UnlockBadge vehicle={vehicle} />
            <SharedBadge deviceID={device.deviceID} />
          </div>
          <p className="muted">
            {[vehicle.description, device.deviceID].filter((text) => text !== '').join(' · ')}
          </p>
        </div>
        <div className="hero-orders">
          <div className="row wrap">
            {mayCommand ? restore.button : null}
            <OpenOrder
              relay="enginecutoff"
              deviceID={device.deviceID}
              pending={vehicle.pendingCut}
              mayCommand={mayCommand}
            />
            <Link className="button secondary" to="/live" search={{ vehicle: device.deviceID }}>
              <Icon name="map" />
              {words.vehicle.onMap}
            </Link>
            <CopyLink
              to={{ to: '/vehicle/$deviceID', params: { deviceID: device.deviceID } }}
              what={vehicle.name}
            />
            <ShareButton deviceID={device.deviceID} />
          </div>
          {mayCommand && hasCargo ? (
            // Apart from the buttons of the engine: one is not pressed for the other.
            <div className="row wrap">
              {lock.button}
              <OpenOrder
                relay="cargoaccess"
                deviceID={device.deviceID}
                pending={vehicle.pendingUnlock}
                mayCommand
              />
            </div>
          ) : null}
        </div>
        {restore.outcome === null ? null : <div className="hero-wide">{restore.outcome}</div>}
        {lock.outcome === null ? null : <div className="hero-wide">{lock.outcome}</div>}
        <HeroFacts vehicle={vehicle} />
        {tab === 'now' && vehicle.place !== null ? (
          <div className="hero-map">
            <Suspense fallback={null}>
              <VehicleMap key={vehicle.id} vehicle={vehicle} />
            </Suspense>
          </div>
        ) : null}
      </div>
      <TabLinks device={device} tab={tab} />
    </header>
  );
}

const screens: Readonly<Record<VehicleTab, ComponentType<{ readonly device: Device }>>> = {
  now: VehicleNow,
  events: VehicleEvents,
  trips: VehicleTrips,
  commands: VehicleCommands,
  health: VehicleHealth,
  messages: VehicleMessages,
  audit: VehicleAudit,
  device: VehicleDevice,
};

export function VehicleScreen() {
  const words = useWords();
  const { deviceID } = useParams({ from: '/shell/vehicle/$deviceID' });
  const { tab = 'now' } = useSearch({ from: '/shell/vehicle/$deviceID' });
  const Tab = screens[tab];
  const live = useValue(vehicles).get(deviceID);
  const changed = useValue(changedDevices);
  const {
    data: device,
    error,
    refetch,
  } = useQuery({
    queryKey: ['device', deviceID],
    queryFn: ({ signal }) => call('getDevice', { params: { deviceID }, signal }),
    // The live stream carries no values of the bus, which come once a minute.
    refetchInterval: ({ state }) => (state.data?.vehicleBus == null ? false : 30_000),
  });
  useEffect(() => {
    if (changed.has(deviceID)) void refetch();
  }, [changed, deviceID, refetch]);
  useTitle(live?.name ?? deviceID);
  if (device === undefined) {
    const failure = error === null ? null : failureText(error, words);
    const isMissing = error instanceof ServiceError && error.status === 404;
    return (
      <main className="page" id="main">
        <h1 className="hidden">{deviceID}</h1>
        {isMissing ? (
          <Empty icon="truck" title={words.vehicle.notFound({ id: deviceID })}>
            <p>{words.vehicle.notFoundHint}</p>
          </Empty>
        ) : failure === null ? (
          <Loading rows={6} />
        ) : (
          <Notice tone="look" icon="triangle-alert" role="alert" title={failure.title}>
            {failure.hint}
          </Notice>
        )}
      </main>
    );
  }
  return (
    <main className="page" id="main">
      <Head vehicle={live ?? vehicleAlone(device)} device={device} />
      <Suspense fallback={<Loading rows={6} />}>
        <Tab device={device} />
      </Suspense>
      <OrderDialog device={device} vehicle={live ?? vehicleAlone(device)} />
      <VehicleShare deviceID={deviceID} name={live?.name ?? deviceID} />
    </main>
  );
}
