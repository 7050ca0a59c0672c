// The faults of a scenario, each begun and ended at its time and put on record as the excuse of the vehicles that it strikes. What
// a fault does is done at the far end of a wire; no fault reaches into the agent.
import type { Cancel, Clock, MqttLink } from '../../src/ports.ts';
import type { Ledger } from '../core/ledger.ts';
import type { Fault, FaultKind } from '../core/scenario-schema.ts';
import type { FleetMember } from './fleet.ts';
import type { FleetVehicle } from './fleet-vehicle.ts';
import { isLinkKind } from './link-kinds.ts';
import type { Network } from './network.ts';
import type { RunPorts } from './ports.ts';

export interface FaultOptions {
  readonly clock: Clock;
  readonly ports: RunPorts;
  readonly ledger: Ledger;
  readonly network: Network;
  /** How many of the fleet's vehicles there are, whether they run yet or not. */
  readonly devices: number;
  vehicle(index: number): FleetMember | undefined;
  deviceIDOf(index: number): string;
  /** Kills the broker and starts it again after `forMs`; null: it is not ours. */
  readonly killBroker: ((forMs: number) => void) | null;
  say(text: string): void;
}

export interface FaultSchedule {
  /** What goes wrong now. */
  active(): readonly string[];
  /** Ends all that goes on, and begins nothing further. */
  close(): void;
}

const hardwareKinds: readonly FaultKind[] = ['board-silent', 'board-unplugged'];
/** A unit whose clock has jumped, or that was thrown out, needs a while too. */
const excusedLinks: readonly FaultKind[] = ['reconnect-storm', 'duplicate-id'];

const intruderMs = 1000;

/** Somebody else who logs in as the vehicle again and again. Gives the way to end it. */
function intrude(options: FaultOptions, target: FleetVehicle): Cancel {
  const { config } = target;
  const user = `${config.accountID}/${config.deviceID}`;
  let link: MqttLink | null = null;
  let isOver = false;
  const connect = (): void => {
    if (isOver) return;
    link = options.ports.openMqttLink(
      {
        url: config.broker.url,
        clientId: user,
        username: user,
        password: config.broker.secret,
        keepaliveS: 60,
        connectTimeoutMs: 10_000,
        will: { topic: `fleet/v1/${user}/presence`, payload: new TextEncoder().encode('offline'), qos: 1 },
      },
      {
        onUp: () => undefined,
        onMessage: () => undefined,
        onDown: () => void options.clock.after(intruderMs, connect),
      },
    );
  };
  connect();
  return () => {
    isOver = true;
    link?.destroy('the intruder leaves');
  };
}

/** Begins a fault on one vehicle; gives the way to end it. */
function strike(options: FaultOptions, fault: Fault, member: FleetMember): Cancel {
  const { agent } = member;
  if (fault.kind === 'reconnect-storm') member.cutLink('the network broke off');
  return agent === null ? () => undefined : strikeAgent(options, fault, agent);
}

function strikeAgent(options: FaultOptions, fault: Fault, target: FleetVehicle): Cancel {
  const { vehicle } = target;
  const nothing = (): void => undefined;
  switch (fault.kind) {
    case 'duplicate-id':
      return intrude(options, target);
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

function excuse(options: FaultOptions, fault: Fault): void {
  const isLink = isLinkKind(fault.kind) || excusedLinks.includes(fault.kind);
  const kind = hardwareKinds.includes(fault.kind) ? 'hardware' : isLink ? 'link' : null;
  if (kind === null) return;
  const span = { kind, fromMs: fault.atS * 1000, toMs: (fault.atS + fault.forS) * 1000 } as const;
  const struck = Math.round(fault.share * options.devices);
  for (let index = 0; index < struck; index += 1) options.ledger.excuse(options.deviceIDOf(index), span);
}

function begin(options: FaultOptions, fault: Fault): Cancel {
  if (fault.kind === 'broker-kill') {
    options.killBroker?.(fault.forS * 1000);
    return () => undefined;
  }
  if (isLinkKind(fault.kind)) return options.network.strike(fault);
  const struck = Math.round(fault.share * options.devices);
  const ends = Array.from({ length: struck }, (_, index) => options.vehicle(index)).flatMap((target) =>
    target === undefined ? [] : [strike(options, fault, target)],
  );
  return () => {
    for (const end of ends) end();
  };
}

/** Every fault has its timers from now, the start of the run. */
export function scheduleFaults(options: FaultOptions, faults: readonly Fault[]): FaultSchedule {
  const { clock, say } = options;
  const timers = new Set<Cancel>();
  const running = new Map<Fault, Cancel>();
  const end = (fault: Fault): void => {
    const stop = running.get(fault);
    if (stop === undefined) return;
    running.delete(fault);
    stop();
    say(`fault over: ${fault.kind}`);
  };
  for (const fault of faults) {
    excuse(options, fault);
    const start = (): void => {
      say(`fault: ${fault.kind} for ${fault.forS} s, ${Math.round(fault.share * 100)} % of the fleet`);
      running.set(fault, begin(options, fault));
      timers.add(clock.after(fault.forS * 1000, () => end(fault)));
    };
    timers.add(clock.after(fault.atS * 1000, start));
  }
  return {
    active: () => [...running.keys()].map(({ kind }) => kind),
    close() {
      for (const cancel of timers) cancel();
      for (const fault of running.keys()) end(fault);
    },
  };
}
