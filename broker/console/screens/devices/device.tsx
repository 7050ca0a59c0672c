// The page of one device: what it is, the enrolment of its unit, its settings. Tab and dialog stand in the address.
import { useQuery } from '@tanstack/react-query';
import { Link, useParams, useSearch } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import { deviceWords } from '../../../../build/words/device.ts';
import type { Device } from '../../api/operations.ts';
import { Icon } from '../../components/icon.tsx';
import { Empty } from '../../components/texts.tsx';
import { useTitle, useValue, useWords } from '../../components/use.ts';
import { View } from '../../components/view.tsx';
import { call, ServiceError } from '../../service/call.ts';
import { changedDevices, vehicles } from '../../service/live.ts';
import { type DeviceTab, deviceTabs } from '../../state/device-view.ts';
import { DeviceSettings } from '../settings/vehicle.tsx';
import { DeviceDetails } from './details.tsx';
import { Enrolment } from './enrolment.tsx';
import { LinkBadge } from './table.tsx';
import { Unreadable } from './unreadable.tsx';

function Head({ device }: { readonly device: Device }) {
  const { devices: texts, pages } = useWords(deviceWords);
  const { part = 'details' } = useSearch({ from: '/shell/devices/$deviceID' });
  const { deviceID, deviceDescription, deviceDisplayName, deviceLastHeartbeat } = device;
  const live = useValue(vehicles).get(deviceID);
  const row = {
    id: deviceID,
    name: deviceDisplayName,
    description: deviceDescription,
    driver: '',
    unique: '',
    isOnline: live?.isOnline ?? null,
    heartbeatS: Math.max(live?.heartbeatS ?? 0, deviceLastHeartbeat),
  };
  return (
    <header className="card hero-card">
      <div className="hero">
        <div className="stack">
          <div className="row wrap">
            <h1>{deviceDisplayName || deviceID}</h1>
            <LinkBadge row={row} />
          </div>
          <p className="muted">{[deviceDescription, deviceID].filter((text) => text !== '').join(' · ')}</p>
        </div>
        <div className="row wrap">
          <Link className="button secondary" to="/vehicle/$deviceID" params={{ deviceID }}>
            <Icon name="truck" />
            {texts.openVehicle}
          </Link>
          <Link className="button" to="/devices">
            {pages.devices.title}
          </Link>
        </div>
      </div>
      <nav className="tabs" aria-label={texts.tabs.label}>
        {deviceTabs.map((one) => (
          <Link
            key={one}
            to="/devices/$deviceID"
            params={{ deviceID }}
            search={{ part: one }}
            {...(one === part ? { 'aria-current': 'page' as const } : {})}
          >
            {texts.tabs[one]}
          </Link>
        ))}
      </nav>
    </header>
  );
}

const screens: Readonly<Record<DeviceTab, (props: { readonly device: Device }) => ReactNode>> = {
  details: DeviceDetails,
  enrol: Enrolment,
  settings: DeviceSettings,
  unreadable: Unreadable,
};

export function DeviceScreen() {
  const words = useWords(deviceWords);
  const { deviceID } = useParams({ from: '/shell/devices/$deviceID' });
  const { part = 'details' } = useSearch({ from: '/shell/devices/$deviceID' });
  const changed = useValue(changedDevices);
  const { data, error, errorUpdatedAt, refetch } = useQuery({
    queryKey: ['device', deviceID],
    queryFn: ({ signal }) => call('getDevice', { params: { deviceID }, signal }),
  });
  useEffect(() => {
    if (changed.has(deviceID)) void refetch();
  }, [changed, deviceID, refetch]);
  const name = data?.deviceDisplayName || deviceID;
  useTitle(`${name} · ${words.pages.devices.title}`);
  const isMissing = error instanceof ServiceError && error.code === 'not_found';
  if (data === undefined || isMissing)
    return (
      <main className="page" id="main">
        <h1 className="hidden">{deviceID}</h1>
        <View
          error={isMissing ? null : error}
          readMs={isMissing ? errorUpdatedAt : 0}
          empty={
            <Empty icon="hard-drive" title={words.devices.notFound({ id: deviceID })}>
              <p>{words.vehicle.notFoundHint}</p>
              <Link className="button secondary" to="/devices">
                {words.pages.devices.title}
              </Link>
            </Empty>
          }
        >
          {null}
        </View>
      </main>
    );
  const Tab = screens[part];
  return (
    <main className="page" id="main">
      <Head device={data} />
      <Tab key={deviceID} device={data} />
    </main>
  );
}
