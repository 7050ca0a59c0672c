// What the latency bench and its process of vehicles say to each other, and the clock that both read. Types and small shared
// facts only.
import type { FeatureName } from '../../src/core/events/event.ts';

export interface VehicleOrder {
  readonly deviceID: string;
  /** The agent's settings, as an installer writes them. */
  readonly file: string;
}

export interface FleetStart {
  readonly vehicles: readonly VehicleOrder[];
}

export type FleetNews =
  /** Every vehicle's link is up. */
  | { readonly kind: 'up' }
  /** A message to the vehicle that is no answer to its own has come from the socket. */
  | { readonly kind: 'message'; readonly deviceID: string; readonly atMs: number }
  /** A contact of the board has moved. */
  | {
      readonly kind: 'contact';
      readonly deviceID: string;
      readonly feature: FeatureName;
      readonly energised: boolean;
      readonly atMs: number;
    }
  | {
      readonly kind: 'truth';
      /** Engines that were cut while the vehicle moved. */
      readonly cutWhileMoving: number;
      /** Longest time in which the process had no time for anything, ms. */
      readonly lagMostMs: number;
    };

/** CLOCK_MONOTONIC, the same in every process of the machine, ms. */
export const machineMs = (): number => Number(process.hrtime.bigint()) / 1e6;
