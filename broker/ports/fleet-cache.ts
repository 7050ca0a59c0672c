// The fleet of an account as answers show it, held in memory as bytes of JSON.
import type { Scope } from '../core/accounts/scope.ts';

/** What of a device is asked for. */
export interface FleetView {
  /** Whether the devices say that the caller may update and command them. */
  readonly mayUpdate: boolean;
  /** The members of a device, besides `deviceID`; null: all. */
  readonly names: ReadonlySet<string> | null;
}

/** Who asks, and what the answer must know of at least. */
export interface FleetCaller {
  readonly scope: Scope;
  /** The account's `fleet_revision` when the request came. */
  readonly fleetRevision: number;
}

/** A part of the fleet. */
export interface FleetRange extends FleetView {
  /** Devices after this id; '' from the start. */
  readonly after: string;
  /** Devices at most; null: all. */
  readonly limit: number | null;
  /** Only devices that changed after this revision; null: all. */
  readonly since: number | null;
  /** Who asks: of held views those of the user with most of them give way. */
  readonly userID: string;
  /** Runs work that grows with the fleet when its turn has come. */
  readonly inTurn: (work: () => Promise<void>) => Promise<void>;
  /** Aborts when the answer has ended. */
  readonly until: AbortSignal;
}

export interface FleetPart {
  /** Devices as JSON values with commas between them; may be newer than `revision`. */
  readonly pieces: () => readonly Buffer[];
  /** Last device of a part that is limited; null without a limit, or when nothing follows. */
  readonly next: string | null;
  /** True: it is not only what changed, as devices came or went since, or were hidden from the caller. */
  readonly isWhole: boolean;
  /** What it shows is at least of this revision. */
  readonly revision: number;
}

export interface FleetCache {
  /**
   * A part of the fleet as the caller sees it; null: the fleet is too large to be held, and is read from the store.
   * @throws AppError `storage`.
   */
  part(caller: FleetCaller, range: FleetRange): Promise<FleetPart | null>;
  /** Every geozone of the account as members of a JSON object with commas between them; none for a caller who sees no device. */
  zones(caller: FleetCaller, mayUpdate: boolean): Promise<readonly Buffer[] | null>;
  /**
   * A short answer about one device of the caller's account that changes with the revision of the fleet only; made once while that
   * stays the same. @param make reads it; null: there is nothing to keep.
   */
  unchanged(caller: FleetCaller, key: string, make: () => Promise<Buffer | null>): Promise<Buffer | null>;
  /** One device; null when the caller sees none of this id. @throws AppError `storage`. */
  device(caller: FleetCaller, deviceID: string, mayUpdate: boolean): Promise<Buffer | null>;
}
