// States of devices for a feed: all after a connection, then what has changed. They are newest values, so a state that was passed over is
// no loss; the events are the history.

import { busValueFrom } from '../../../src/core/events/bus-values.ts';
import type { Statement } from '../../../src/ports.ts';
import type { DeviceDetails } from '../../api/answers/views.ts';
import type { Kernel } from '../../api/base/api-services.ts';
import { findDetails, listDetails } from '../../api/devices/device-details.ts';
import { busStateName } from '../../core/events/projection.ts';
import { createChangeFollower } from '../../live/changes.ts';
import type { FeedTarget } from '../../ports/feed-targets.ts';
import { wholeAccount } from '../../store/base/scope.ts';
import { fleetRevisions, needsWholeList } from '../../store/devices/fleet.ts';
import {
  type FeedDevice,
  type FeedFormat,
  type Publication,
  type ShownInput,
  shownInputNames,
} from './core/feed-format.ts';
import { addKnownDevice, dropKnownDevice, knownDevices, openAlarmsOf } from './feed-statements.ts';

/** Devices whose states are sent at once. */
const devicesAtOnce = 100;

function inputOf({ states }: DeviceDetails, name: ShownInput): boolean | null {
  const known = states.get(name);
  return known?.isReported === true ? known.state === '1' : null;
}

function toFeedDevice(details: DeviceDetails, openAlarms: number): FeedDevice {
  const { row, states } = details;
  const volts = states.get(busStateName('vehicleVolts'));
  const batteryVolts = volts === undefined ? null : busValueFrom('vehicleVolts', volts.state);
  const { fixMs, latitude, longitude, speed, heading, geozoneID, address } = row;
  return {
    deviceID: row.deviceID,
    name: row.displayName === '' ? row.description : row.displayName,
    model: row.equipmentTypeDesc,
    version: row.agentVersion,
    isOnline: row.isOnline,
    heartbeatMs: row.heartbeatMs,
    position: fixMs === 0 ? null : { ms: fixMs, latitude, longitude, speed, heading, geozoneID, address },
    fuelLevel: row.fuelLevel,
    odometer: row.odometer,
    batteryVolts: typeof batteryVolts === 'number' ? batteryVolts : null,
    inputs: Object.fromEntries(
      shownInputNames.map((name) => [name, inputOf(details, name)]),
    ) as FeedDevice['inputs'],
    openAlarms,
  };
}

type Send = (publications: readonly Publication[]) => Promise<void>;

/** The states of one connection. */
export interface FeedStates {
  /** Sends what has changed since the last call, at first all. @throws AppError `storage`, `unavailable`. */
  sendChanged(send: Send): Promise<void>;
}

export function createFeedStates(kernel: Kernel, target: FeedTarget, format: FeedFormat): FeedStates {
  const { archive, db, clock } = kernel;
  const { accountID } = target;
  const scope = wholeAccount(accountID);
  const changes = createChangeFollower(archive, clock);
  /** What was last sent of a device's config, by device. */
  const configs = new Map<string, string>();
  let known: Set<string> | null = null;
  let since: number | null = null;

  const sendPage = async (page: readonly DeviceDetails[], send: Send): Promise<void> => {
    const alarms = await openAlarmsOf(
      archive,
      page.map(({ row }) => row.deviceNo),
    );
    const fresh: Statement[] = [];
    const publications = page.flatMap((details): readonly Publication[] => {
      const device = toFeedDevice(details, alarms.get(details.row.deviceNo) ?? 0);
      const { deviceID } = device;
      if (known?.has(deviceID) === false) fresh.push(addKnownDevice(target, deviceID));
      known?.add(deviceID);
      const config = format.config(device);
      const isKnown = config === null || configs.get(deviceID) === config.payload;
      if (config !== null) configs.set(deviceID, config.payload);
      return isKnown || config === null ? format.state(device) : [config, ...format.state(device)];
    });
    // Before the target keeps anything of a device: after a crash it must be known what to take back.
    if (fresh.length > 0) await db.write(fresh);
    await send(publications);
  };
  const takeBack = async (there: ReadonlySet<string>, send: Send): Promise<void> => {
    for (const deviceID of [...(known ?? [])].filter((one) => !there.has(one))) {
      await send(format.removed(deviceID));
      await db.write([dropKnownDevice(target, deviceID)]);
      known?.delete(deviceID);
      configs.delete(deviceID);
    }
  };
  const changedOnes = async (): Promise<ReadonlySet<string>> => {
    const found = new Set<string>();
    await changes.read(
      (kind) => kind === 'presence' || kind === 'alarm',
      ({ accountID: of, deviceID }) => {
        if (of === accountID && deviceID !== null) found.add(deviceID);
      },
    );
    return found;
  };
  return {
    async sendChanged(send) {
      known ??= new Set(await knownDevices(db, target));
      const others = new Set(await changedOnes());
      const now = await fleetRevisions(archive, accountID);
      if (now === null) return;
      const isWhole = needsWholeList(now, since);
      if (isWhole || now.fleet !== since) {
        const there = new Set<string>();
        for await (const page of listDetails(archive, scope, { after: '', since: isWhole ? null : since })) {
          await sendPage(page, send);
          for (const { row } of page) {
            there.add(row.deviceID);
            others.delete(row.deviceID);
          }
        }
        if (isWhole) await takeBack(there, send);
        since = now.fleet;
      }
      for (let left = [...others]; left.length > 0; left = left.slice(devicesAtOnce)) {
        const found = await Promise.all(
          left.slice(0, devicesAtOnce).map((deviceID) => findDetails(archive, scope, deviceID)),
        );
        const page = found.filter((one) => one !== null);
        if (page.length > 0) await sendPage(page, send);
      }
    },
  };
}
