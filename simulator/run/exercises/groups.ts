// A user who is limited to one group: lists show all of its devices and no other device, and reads of another device are refused.
import { AppError } from '../../../src/core/errors.ts';
import type { FleetDevice } from '../fleet/fleet.ts';
import { openService, type Service } from '../service/service.ts';
import { createFindings, createUser, type Exercise, type Findings, post, read } from './exercise.ts';

const groupID = 'sim-group';
const userID = 'sim-viewer';
const groupMost = 100;

interface Devices {
  readonly devices: readonly { readonly deviceID: string }[];
}
interface Records {
  readonly eventdata: Devices;
}
interface Health {
  readonly diagnostics: Devices['devices'];
}

/** Whether the service refuses a read. */
async function isRefused(ask: Promise<unknown>): Promise<boolean> {
  try {
    await ask;
    return false;
  } catch (thrown) {
    if (thrown instanceof AppError && ['not_found', 'forbidden'].includes(thrown.code)) return true;
    throw thrown;
  }
}

/** Compares the devices that a list is about with those of the group. */
function lookAtList(
  findings: Findings,
  what: string,
  of: { readonly shown: readonly string[]; readonly group: readonly string[]; readonly isWhole: boolean },
): void {
  const { shown, group, isWhole } = of;
  const outsider = shown.find((id) => !group.includes(id));
  const missing = isWhole ? group.find((id) => !shown.includes(id)) : undefined;
  const words =
    outsider === undefined
      ? `${what} leaves out a vehicle of the user's group`
      : `${what} shows a vehicle outside of the user's group`;
  const concerned = outsider ?? missing;
  findings.look(concerned ?? group[0] ?? '', concerned === undefined ? null : words);
}

async function lookAtAll(viewer: Service, findings: Findings, group: readonly string[]): Promise<void> {
  const idsOf = ({ devices }: Devices): readonly string[] => devices.map(({ deviceID }) => deviceID);
  const list = await read<Devices>(viewer, '/device/getalldevices');
  lookAtList(findings, 'the list of devices', { shown: idsOf(list), group, isWhole: true });
  const { eventdata } = await read<Records>(viewer, '/eventdata/fleetdata/0/0');
  lookAtList(findings, 'the listing of the fleet', { shown: idsOf(eventdata), group, isWhole: false });
  const alerts = await read<Records>(viewer, '/events/activations');
  lookAtList(findings, 'the list of alerts', { shown: idsOf(alerts.eventdata), group, isWhole: false });
  const { diagnostics } = await read<Health>(viewer, '/diagnostic/diagnosticall');
  lookAtList(findings, 'the health of units', {
    shown: idsOf({ devices: diagnostics }),
    group,
    isWhole: true,
  });
}

async function lookOutside(viewer: Service, findings: Findings, { deviceID }: FleetDevice): Promise<void> {
  for (const path of [
    `/device/getdevice/${deviceID}`,
    `/eventdata/devicedata/${deviceID}/0/0`,
    `/command/list/${deviceID}`,
    `/report/trips/${deviceID}/0/0`,
    `/export/csv/${deviceID}/0/0`,
  ]) {
    const hides = await isRefused(
      path.startsWith('/export') ? viewer.text(`${path}/authorization`) : read(viewer, path),
    );
    findings.look(deviceID, hides ? null : `${path} is readable for a user of another group`);
  }
  const body = { deviceID, feature: 'enginecutoff', state: '0' };
  const mayNot = await isRefused(post(viewer, '/command/feature', body));
  findings.look(deviceID, mayNot ? null : 'a viewer of another group may command it');
}

export const exerciseGroups: Exercise = async (context) => {
  const { access, vehicles, changes } = context;
  const { service, target } = access;
  const findings = createFindings('accessWrong');
  const group = vehicles
    .filter((_, at) => at % 2 === 0)
    .slice(0, groupMost)
    .map(({ deviceID }) => deviceID);
  const outside = vehicles.find(({ deviceID }) => !group.includes(deviceID));
  await post(service, '/group/updategroup', { groupID, devices: group });
  changes.push({ userID: target.login.userID, action: 'group.update', object: groupID });
  const login = await createUser(context, { userID, roleID: 'viewer', groups: [groupID] });
  return async () => {
    const viewer = await openService(target.http, login, target.ca ?? null);
    try {
      await lookAtAll(viewer, findings, group);
      if (outside !== undefined) await lookOutside(viewer, findings, outside);
      // A device that leaves the group is out of sight at once.
      const [leaving = '', ...staying] = group;
      if (staying.length > 0) {
        await post(service, '/group/changedevices', { groupID, remove: [leaving] });
        await lookAtAll(viewer, findings, staying);
      }
    } finally {
      await viewer.close();
    }
    return findings.outcome();
  };
};
