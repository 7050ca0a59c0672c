// The state of the test bench, as data and as text: the truth of the simulated hardware, from which the agent's view may differ.
import type { Board, BoardFaults } from '../hardware/board.ts';
import type { BoardName } from '../hardware/board-maps.ts';
import type { RelayChange } from '../hardware/contacts.ts';
import type { GnssState } from '../hardware/gnss.ts';
import type { DriverMoment } from '../world/driver.ts';

export type Device = 'board' | 'gnss';

/** The plugs of the two serial ports. */
export interface Cables {
  plug(device: Device): Promise<void>;
  unplug(device: Device): Promise<void>;
  isPlugged(device: Device): boolean;
}

export interface BenchState {
  readonly board: BoardName;
  readonly plugged: Readonly<Record<Device, boolean>>;
  readonly vehicle: DriverMoment;
  readonly inputs: Readonly<Record<string, boolean>>;
  /** Contacts as they are: true = energised. */
  readonly relays: Readonly<Record<string, boolean>>;
  readonly fuel: number;
  readonly gnss: GnssState;
  readonly faults: BoardFaults;
  readonly counts: ReturnType<Board['counts']>;
  /** Times that the engine cut-off was energised while the vehicle moved. It must stay 0. */
  readonly cutWhileMoving: number;
}

export function formatChange(change: RelayChange): string {
  const name = change.feature ?? `relay ${change.relay}`;
  return `${(change.atMs / 1000).toFixed(3)} s  ${name} ${change.energised ? 'energised' : 'released'}  (${change.cause})`;
}

/** The bench at a glance. */
export function formatState(state: BenchState): string {
  const { vehicle } = state;
  const place = `${vehicle.latitude.toFixed(5)},${vehicle.longitude.toFixed(5)}`;
  const active = Object.entries(state.inputs).flatMap(([name, isActive]) => (isActive ? [name] : []));
  const energised = Object.entries(state.relays).flatMap(([name, isOn]) => (isOn ? [name] : []));
  return [
    `vehicle  ${vehicle.speedKmh.toFixed(1)} km/h at ${place}, engine ${vehicle.engine}, fuel ${state.fuel}`,
    `inputs   ${active.join(' ') || 'none active'}`,
    `relays   ${energised.join(' ') || 'none energised'}; cut while moving: ${state.cutWhileMoving}`,
    `gnss     ${state.gnss.fix}${state.gnss.isSpoofed ? ', spoofed' : ''}${state.gnss.quirks.map((quirk) => `, ${quirk}`).join('')}; ${state.plugged.gnss ? 'plugged' : 'pulled'}`,
    `board    ${state.plugged.board ? 'plugged' : 'pulled'}; ${state.counts.requests} requests, ${state.counts.answers} answers, ${state.counts.faulted} of them spoilt by a fault, ${state.counts.unsound} unsound requests`,
  ].join('\n');
}
