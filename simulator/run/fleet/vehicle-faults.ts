// Effects of a fault on the vehicles of one worker, and its excuse in the ledger for each struck vehicle. Faults act on simulated
// hardware, disk, link or the whole process, never inside the agent.
import type { Cancel, Clock, MqttLink } from '../../../src/ports.ts';
import type { Ledger } from '../../core/ledger/ledger.ts';
import { isBusFault } from '../../core/scenario/scenario.ts';
import type { Fault, FaultKind } from '../../core/scenario/scenario-schema.ts';
import type { BusHardware } from '../../hardware/bus-hardware.ts';
import type { TruckFaults } from '../../hardware/truck-nodes.ts';
import { deviceLink } from '../link/device-link.ts';
import { isLinkKind } from '../link/link-kinds.ts';
import type { Network } from '../link/network.ts';
import type { RunPorts } from '../shared/run-ports.ts';
import type { AgentVehicle } from './agent-vehicle.ts';
import type { FleetDevice, FleetMember } from './fleet.ts';

export interface VehicleFaultOptions {
  readonly clock: Clock;
  readonly ports: RunPorts;
  readonly ledger: Ledger;
  readonly network: Network;
  /** Size of the whole fleet, vehicles that have not started included. */
  readonly fleetSize: number;
  /** Devices of this worker. */
  readonly devices: readonly FleetDevice[];
  vehicle(index: number): FleetMember | undefined;
  say(text: string): void;
}

/** Faults of hardware, disk or process: facts may go undetected meanwhile. */
const hardwareKinds: readonly FaultKind[] = [
  'board-silent',
  'board-unplugged',
  'board-noise',
  'agent-kill',
  'disk-full',
];
/** Faults of the receiver or of the clock: what a vehicle says of place and time may be wrong meanwhile. */
const positionKinds: readonly FaultKind[] = ['gnss-tunnel', 'gnss-jam', 'gnss-spoof', 'clock-jump'];
/** Faults of a truck's control units: [from its beginning, from its end]. */
function busFaultsOf(
  kind: FaultKind,
  speedScale: number,
): readonly [Partial<TruckFaults>, Partial<TruckFaults>] {
  switch (kind) {
    case 'bus-engine-silent':
      return [{ isEngineSilent: true }, { isEngineSilent: false }];
    case 'bus-engine-alone':
      return [{ isEngineAlone: true }, { isEngineAlone: false }];
    case 'bus-speed-stuck':
      return [{ isSpeedStuck: true }, { isSpeedStuck: false }];
    case 'bus-odometer-stuck':
      return [{ isOdometerStuck: true }, { isOdometerStuck: false }];
    case 'bus-odometer-silent':
      return [{ isOdometerSilent: true }, { isOdometerSilent: false }];
    case 'bus-wrong-vin':
      return [{ isVinWrong: true }, { isVinWrong: false }];
    case 'bus-scale':
      return [{ speedScale }, { speedScale: 1 }];
    case 'bus-codes':
      return [{ hasCodes: true }, { hasCodes: false }];
    case 'bus-repeats':
      return [{ isRepeating: true }, { isRepeating: false }];
    default:
      return [{}, {}];
  }
}

/** Further kinds that excuse delays of the link. */
const excusedLinks: readonly FaultKind[] = ['reconnect-storm', 'duplicate-id'];

const intruderMs = 1000;

/** A second client that logs in as the vehicle again and again. @returns the way to end it. */
function intrude({ ports, clock }: VehicleFaultOptions, { config }: AgentVehicle): Cancel {
  const { accountID, deviceID, broker } = config;
  const options = deviceLink({ accountID, deviceID, url: broker.url, secret: broker.secret, ca: broker.ca });
  let link: MqttLink | null = null;
  let isOver = false;
  const connect = (): void => {
    if (isOver) return;
    link = ports.openMqttLink(options, {
      onUp: () => undefined,
      onMessage: () => undefined,
      onDown: () => void clock.after(intruderMs, connect),
    });
  };
  connect();
  return () => {
    isOver = true;
    link?.destroy('intruder_stopped');
  };
}

/** Ends the agent as `kill -9` does. @returns what starts it again from its disk. */
function killAgent({ say }: VehicleFaultOptions, target: AgentVehicle): Cancel {
  target.kill();
  return () => {
    target.restart().catch((thrown: unknown) => {
      say(`${target.deviceID}: The agent did not start again: ${String(thrown)}`);
    });
  };
}

/** Begins a fault of the bus of a truck, or of its adapter. @returns the way to end it; other vehicles have none. */
function strikeBus({ kind, scale }: Fault, bus: BusHardware | null): Cancel {
  if (bus === null) return () => undefined;
  if (kind === 'bus-unplugged') {
    bus.unplug();
    return bus.plug;
  }
  const [begun, ended] = busFaultsOf(kind, scale);
  bus.truck.setFaults(begun);
  return () => bus.truck.setFaults(ended);
}

function strikeAgent(options: VehicleFaultOptions, fault: Fault, target: AgentVehicle): Cancel {
  const { vehicle } = target;
  const nothing = (): void => undefined;
  switch (fault.kind) {
    case 'duplicate-id':
      return intrude(options, target);
    case 'agent-kill':
      return killAgent(options, target);
    case 'disk-full':
      target.setDiskFull(true);
      return () => target.setDiskFull(false);
    case 'clock-jump':
      vehicle.clock.step(fault.jumpS * 1000);
      return nothing;
    case 'gnss-tunnel':
      vehicle.gnss.setTunnel(true);
      return () => vehicle.gnss.setTunnel(false);
    case 'gnss-jam':
      vehicle.gnss.setJammed(true);
      return () => vehicle.gnss.setJammed(false);
    case 'gnss-spoof':
      vehicle.gnss.setSpoof({ northMps: 12, eastMps: 5 });
      return () => vehicle.gnss.setSpoof(null);
    case 'bus-unplugged':
    case 'bus-engine-silent':
    case 'bus-engine-alone':
    case 'bus-speed-stuck':
    case 'bus-odometer-stuck':
    case 'bus-odometer-silent':
    case 'bus-wrong-vin':
    case 'bus-scale':
    case 'bus-codes':
    case 'bus-repeats':
      return strikeBus(fault, vehicle.bus);
    case 'board-silent':
      vehicle.board.setFaults({ silent: true });
      return () => vehicle.board.setFaults({ silent: false });
    case 'board-noise':
      vehicle.board.setFaults({ garbled: fault.loss, lost: fault.loss, cut: fault.loss });
      return () => vehicle.board.setFaults({ garbled: 0, lost: 0, cut: 0 });
    case 'board-unplugged':
      vehicle.boardCable.unplug();
      return () => vehicle.boardCable.plug();
    case 'reconnect-storm':
    case 'link-outage':
    case 'link-half-open':
    case 'link-delay':
    case 'link-loss':
    case 'slow-consumer':
    case 'broker-kill':
      return nothing;
  }
}

/** Begins a fault on one vehicle. @returns the way to end it. */
function strike(options: VehicleFaultOptions, fault: Fault, member: FleetMember): Cancel {
  const { agent } = member;
  if (fault.kind === 'reconnect-storm') member.cutLink('network_lost');
  return agent === null ? () => undefined : strikeAgent(options, fault, agent);
}

function struckOf({ devices, fleetSize }: VehicleFaultOptions, { share }: Fault): readonly FleetDevice[] {
  const count = Math.round(share * fleetSize);
  return devices.filter(({ index }) => index < count);
}

/** Records in the ledger what the fault excuses. To be called before it begins. */
export function excuse(options: VehicleFaultOptions, fault: Fault): void {
  const isLink = isLinkKind(fault.kind) || excusedLinks.includes(fault.kind);
  const isPosition = positionKinds.includes(fault.kind);
  const kind = hardwareKinds.includes(fault.kind)
    ? 'hardware'
    : isLink
      ? 'link'
      : isPosition
        ? 'position'
        : isBusFault(fault)
          ? 'bus'
          : null;
  if (kind === null) return;
  const span = { kind, fromMs: fault.atS * 1000, toMs: (fault.atS + fault.forS) * 1000 } as const;
  for (const { deviceID } of struckOf(options, fault)) options.ledger.excuse(deviceID, span);
}

/** Begins a fault on all vehicles of this worker that it strikes. @returns the way to end it. */
export function begin(options: VehicleFaultOptions, fault: Fault): Cancel {
  if (isLinkKind(fault.kind)) return options.network.strike(fault);
  const ends = struckOf(options, fault).flatMap(({ index }) => {
    const target = options.vehicle(index);
    return target === undefined ? [] : [strike(options, fault, target)];
  });
  return () => {
    for (const end of ends) end();
  };
}
