// The I/O board of the road world: inputs, supply voltage and relays over Modbus RTU, with wiring faults that a test
// selects. Records every relay order together with the true speed at that moment; no order may go unrecorded.
import type { SeededEntropy } from '../../../simulator/core/random.ts';
import { answer, type ModbusUnit, modbusUnit } from '../serial/modbus-unit.ts';

/** `open`: unwired or broken, reads 0. `sparse`: shows the truth for 1 s in 25, else 0. */
export type Wire = 'sound' | 'open' | 'stuck' | 'inverted' | 'chatter' | 'sparse';

export type WireName = 'ignition' | 'motion' | 'cargoDoor' | 'externalPower';

export interface BoardTruth {
  readonly speedKmh: number;
  readonly isIgnitionOn: boolean;
  readonly isCargoDoorOpen: boolean;
  readonly supplyV: number;
}

export interface RelayOrder {
  readonly atMs: number;
  readonly relay: 'enginecutoff' | 'cargoaccess';
  /** Engine cut, or cargo unlocked. */
  readonly isEnergising: boolean;
  readonly trueSpeedKmh: number;
}

export interface RoadBoard {
  readonly wires: Record<WireName, Wire>;
  /** False: the shared return of all inputs is broken, so every input reads 0. */
  hasInputCommon: boolean;
  readonly orders: readonly RelayOrder[];
  receive(bytes: Uint8Array): void;
  /** Off: does not answer, and every relay falls off. */
  setPower(isOn: boolean): void;
  isEnergised(relay: RelayOrder['relay']): boolean;
}

export interface RoadBoardOptions {
  readonly entropy: SeededEntropy;
  readonly truth: () => BoardTruth;
  readonly send: (bytes: Uint8Array) => void;
}

/** Input addresses of the shipped profiles `waveshare-relay-d` and `generic`. */
const inputAddresses: Readonly<Record<WireName, number>> = {
  ignition: 0,
  cargoDoor: 3,
  externalPower: 5,
  motion: 6,
};
const relayAddresses = { enginecutoff: 0, cargoaccess: 1 } as const;
/** `waveshare-relay-d`: closes the cargo relay for a time given in 100 ms. */
const cargoFlashAddress = 0x0201;
const motionFromKmh = 2;
const supplyVoltsPerCount = 0.003;
/** Every request that the board serves has this length. */
const requestBytes = 8;
/** A pause this long ends an incomplete request. */
const frameGapMs = 50;

function createUnit(): ModbusUnit {
  const unit = modbusUnit(1);
  for (let at = 0; at < 8; at += 1) {
    unit.coils.set(at, false);
    unit.inputs.set(at, false);
    unit.holding.set(0x1000 + at, 0);
  }
  unit.coils.set(cargoFlashAddress, false);
  unit.registers.set(0, 2500);
  unit.registers.set(1, 0);
  return unit;
}

/** What the input shows of a true level. */
function createWireReader(entropy: SeededEntropy): (name: WireName, wire: Wire, level: boolean) => boolean {
  const held = new Map<WireName, boolean>();
  return (name, wire, level) => {
    if (wire === 'stuck') return held.get(name) ?? level;
    held.set(name, level);
    if (wire === 'open') return false;
    if (wire === 'inverted') return !level;
    if (wire === 'chatter') return entropy.chance(0.5);
    if (wire === 'sparse') return level && performance.now() % 25_000 < 1000;
    return level;
  };
}

/** Collects request frames and passes each on whole. */
function createFraming(onRequest: (request: Uint8Array) => void): (bytes: Uint8Array) => void {
  let held: number[] = [];
  let lastMs = 0;
  return (bytes) => {
    const nowMs = performance.now();
    if (nowMs - lastMs > frameGapMs) held = [];
    lastMs = nowMs;
    held.push(...bytes);
    while (held.length >= requestBytes) onRequest(Uint8Array.from(held.splice(0, requestBytes)));
  };
}

export function createRoadBoard({ entropy, truth, send }: RoadBoardOptions): RoadBoard {
  const unit = createUnit();
  const orders: RelayOrder[] = [];
  const shown = createWireReader(entropy);
  let isPowered = true;
  const refresh = (): void => {
    const now = truth();
    const levels: Readonly<Record<WireName, boolean>> = {
      ignition: now.isIgnitionOn,
      motion: now.speedKmh >= motionFromKmh,
      cargoDoor: now.isCargoDoorOpen,
      externalPower: true,
    };
    for (const name of Object.keys(levels) as WireName[]) {
      const isHigh = shown(name, board.wires[name], levels[name]) && board.hasInputCommon;
      unit.inputs.set(inputAddresses[name], isHigh);
    }
    unit.registers.set(1, Math.round((now.supplyV + entropy.normal() * 0.03) / supplyVoltsPerCount));
  };
  unit.onWrite = (address, value) => {
    const relay = address === relayAddresses.enginecutoff ? 'enginecutoff' : 'cargoaccess';
    orders.push({
      atMs: performance.now(),
      relay,
      isEnergising: value > 0,
      trueSpeedKmh: truth().speedKmh,
    });
    if (address !== cargoFlashAddress) return;
    unit.coils.set(relayAddresses.cargoaccess, value > 0);
    setTimeout(() => unit.coils.set(relayAddresses.cargoaccess, false), value * 100).unref();
  };
  const board: RoadBoard = {
    wires: { ignition: 'sound', motion: 'sound', cargoDoor: 'sound', externalPower: 'sound' },
    hasInputCommon: true,
    orders,
    receive: createFraming((request) => {
      if (!isPowered) return;
      refresh();
      const bytes = answer(unit, request);
      if (bytes !== null) send(bytes);
    }),
    setPower(isOn) {
      isPowered = isOn;
      for (const address of Object.values(relayAddresses)) unit.coils.set(address, false);
    },
    isEnergised: (relay) => unit.coils.get(relayAddresses[relay]) === true,
  };
  return board;
}
