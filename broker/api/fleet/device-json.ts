// A device as bytes of JSON, and the same for a caller with fewer rights or a choice of members.
import type { FleetView } from '../../ports/fleet-cache.ts';
import { type DeviceDetails, narrowDevice, viewDevice } from '../answers/views.ts';
import type { DeviceView } from '../base/shapes.ts';

/** A device with all members, as a caller with the right to update it sees it. */
export function deviceJson(details: DeviceDetails): Buffer {
  return Buffer.from(JSON.stringify(viewDevice(details, { role: 'operator' })));
}

const withRights = (device: DeviceView, mayUpdate: boolean): DeviceView => ({
  ...device,
  authorities: { read: true, update: mayUpdate, command: mayUpdate && !device.isForeign },
  hasUpdateDevicePrivileges: mayUpdate,
});

/** @param json as `deviceJson` made it. */
export function deviceOfView(json: Buffer, { mayUpdate, names }: FleetView): Buffer {
  if (mayUpdate && names === null) return json;
  const view = withRights(JSON.parse(json.toString()) as DeviceView, mayUpdate);
  return Buffer.from(JSON.stringify(names === null ? view : narrowDevice(view, names)));
}
