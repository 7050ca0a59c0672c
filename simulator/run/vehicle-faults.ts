// What a fault does to the vehicles of one part of a fleet, and the excuse that it puts on record for each vehicle that it strikes.
// It is done at the far end of a wire, to the disk, or to the process as a whole; no fault reaches into the agent.
import type { Cancel, Clock, MqttLink } from '../../src/ports.ts';
import type { Ledger } from '../core/ledger.ts';
import type { Fault, FaultKind } from '../core/scenario-schema.ts';
import type { FleetDevice, FleetMember } from './fleet.ts';
import type { FleetVehicle } from './fleet-vehicle.ts';
import { isLinkKind } from './link-kinds.ts';
import type { Network } from './network.ts';
import type { RunPorts } from './ports.ts';

export interface VehicleFaultOptions {
  readonly clock: Clock;
  readonly ports: RunPorts;
  readonly ledger: Ledger;
  readonly network: Network;
  /** How many vehicles the whole fleet has, whether they run yet or not. */
  readonly fleetSize: number;
  /** Those of this part. */
  readonly devices: readonly FleetDevice[];
  vehicle(index: number): FleetMember | undefined;
  say(text: string): void;
}

/** Hardware, disk or process of a vehicle cannot do their part: what happens meanwhile may go unseen. */
const hardwareKinds: readonly FaultKind[] = [
  'board-silent',
  'board-unplugged',
  'board-noise',
  'agent-kill',
  'disk-full',
];
/** A unit whose clock has jumped, or that was thrown out, needs a while too. */
const excusedLinks: readonly FaultKind[] = ['reconnect-storm', 'duplicate-id'];

const intruderMs = 1000;

/** Somebody else who logs in as the vehicle again and again. Gives the way to end it. */
function intrude({ ports, clock }: VehicleFaultOptions, { config }: FleetVehicle): Cancel {
  const user = `${config.accountID}/${config.deviceID}`;
  let link: MqttLink | null = null;
  let isOver = false;
  const connect = (): void => {
    if (isOver) return;
    link = ports.openMqttLink(
      {
        url: config.broker.url,
        clientId: user,
        username: user,
        password: config.broker.secret,
        keepaliveS: 60,
        connectTimeoutMs: 10_000,
        will: { topic: `fleet/v1/${user}/presence`, payload: new TextEncoder().encode('offline'), qos: 1 },
        ...(config.broker.ca === undefined ? {} : { ca: config.broker.ca }),
      },
      {
        onUp: () => undefined,
        onMessage: () => undefined,
        onDown: () => void clock.after(intruderMs, connect),
      },
    );
  };
  connect();
  return () => {
    isOver = true;
    link?.destroy('the intruder leaves');
  };
}

/** Ends the agent's process as `kill -9` does; the way back starts it anew from its disk. */
function killAgent({ say }: VehicleFaultOptions, target: FleetVehicle): Cancel {
  target.kill();
  return () => {
    target.restart().catch((thrown: unknown) => {
      say(`${target.deviceID}: the agent did not start again: ${String(thrown)}`);
    });
  };
}

function strikeAgent(options: VehicleFaultOptions, fault: Fault, target: FleetVehicle): Cancel {
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

/** Begins a fault on one vehicle; gives the way to end it. */
function strike(options: VehicleFaultOptions, fault: Fault, member: FleetMember): Cancel {
  const { agent } = member;
  if (fault.kind === 'reconnect-storm') member.cutLink('the network broke off');
  return agent === null ? () => undefined : strikeAgent(options, fault, agent);
}

function struckOf({ devices, fleetSize }: VehicleFaultOptions, { share }: Fault): readonly FleetDevice[] {
  const count = Math.round(share * fleetSize);
  return devices.filter(({ index }) => index < count);
}

/** Puts on record what the fault will excuse. To be called before it begins. */
export function excuse(options: VehicleFaultOptions, fault: Fault): void {
  const isLink = isLinkKind(fault.kind) || excusedLinks.includes(fault.kind);
  const kind = hardwareKinds.includes(fault.kind) ? 'hardware' : isLink ? 'link' : null;
  if (kind === null) return;
  const span = { kind, fromMs: fault.atS * 1000, toMs: (fault.atS + fault.forS) * 1000 } as const;
  for (const { deviceID } of struckOf(options, fault)) options.ledger.excuse(deviceID, span);
}

/** Begins a fault on all vehicles of this part that it strikes; gives the way to end it. */
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
