// The last tab of a vehicle's page: its device, the enrolment of its unit, its settings. Part and dialog stand in the address.
import { useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { deviceWords } from '../../../../build/words/device.ts';
import type { Device } from '../../api/operations.ts';
import { Tabs } from '../../components/patterns/address.tsx';
import { useWords } from '../../components/use.ts';
import { type DeviceTab, deviceTabs } from '../../state/device-view.ts';
import { DeviceSettings } from '../settings/vehicle.tsx';
import { DeviceDetails } from './details.tsx';
import { Enrolment } from './enrolment.tsx';
import { Unreadable } from './unreadable.tsx';

const parts: Readonly<Record<DeviceTab, (props: { readonly device: Device }) => ReactNode>> = {
  details: DeviceDetails,
  enrol: Enrolment,
  settings: DeviceSettings,
  unreadable: Unreadable,
};

export function VehicleDevice({ device }: { readonly device: Device }) {
  const { tabs } = useWords(deviceWords).devices;
  const { part = 'details' } = useSearch({ from: '/shell/vehicle/$deviceID' });
  const Part = parts[part];
  return (
    <>
      <Tabs
        label={tabs.label}
        values={deviceTabs}
        chosen={part}
        content={(one) => tabs[one]}
        search={(one) => ({ tab: 'device', part: one })}
      />
      <Part key={device.deviceID} device={device} />
    </>
  );
}
