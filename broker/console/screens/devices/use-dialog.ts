// The dialog of a device's page that the address names.
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { DeviceDialog } from '../../state/device-view.ts';
import { without } from '../../state/search.ts';

export function useDeviceDialog(name: DeviceDialog) {
  const navigate = useNavigate({ from: '/devices/$deviceID' });
  const { open } = useSearch({ from: '/shell/devices/$deviceID' });
  return {
    isOpen: open === name,
    open: () => void navigate({ search: (before) => ({ ...before, open: name }), replace: true }),
    close: () => void navigate({ search: (before) => without(before, 'open'), replace: true }),
  };
}
