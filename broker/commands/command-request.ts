// Requests to the command ledger: their form and limits, and whether the device supports the feature. Rights are checked before; the vehicle decides
// whether it acts.
import { AppError } from '../../src/core/errors.ts';
import type { FeatureName, FeatureState } from '../../src/core/events/event.ts';
import type { Database, Statement } from '../../src/ports.ts';
import { type DeviceRow, findDevice } from '../store/devices/devices.ts';

/** Content of an audit entry, and the condition under which it is written. */
export interface RecordedAction {
  /** `<resource>.<verb>`. */
  readonly action: string;
  readonly object: string;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly onlyIf: Statement;
}

/** Makes the statement of an audit entry for the batch of the action. */
export type RecordAction = (action: RecordedAction) => Statement;

export interface CommandRequest {
  readonly accountID: string;
  readonly deviceID: string;
  readonly feature: FeatureName;
  readonly state: FeatureState;
  /** The requesting user, for the device's record; at most 200 characters. */
  readonly issuer: string;
  /** Reason given by the user; at most 500 characters. */
  readonly reason: string;
  /** Lifetime of the command in seconds, 10 to 86,400; default: 24 h for enginecutoff and 60 s for cargoaccess. */
  readonly ttlS?: number;
  /** Time of arrival of the request, see `CommandLedger.arrived`; absent: no order check against later restores. */
  readonly arrivedUs?: number;
  readonly record?: RecordAction;
}

const defaultTtlS: Readonly<Record<FeatureName, number>> = { enginecutoff: 86_400, cargoaccess: 60 };
export const ttlRangeS = { low: 10, high: 86_400 } as const;

/** Lifetime of a command in ms. @throws AppError `invalid_content`. */
export function lifeMs({ feature, ttlS = defaultTtlS[feature] }: CommandRequest): number {
  if (!Number.isFinite(ttlS) || ttlS < ttlRangeS.low || ttlS > ttlRangeS.high) {
    const message = `must be ${ttlRangeS.low} to ${ttlRangeS.high} seconds`;
    throw new AppError('invalid_content', `ttlS ${message}`, { details: [{ pointer: '/ttlS', message }] });
  }
  return Math.round(ttlS * 1000);
}

function textFault(request: CommandRequest): AppError | null {
  for (const [name, most] of [['reason', 500] as const, ['issuer', 200] as const]) {
    if (request[name].length <= most) continue;
    const message = `must have at most ${most} characters`;
    return new AppError('invalid_content', `${name} ${message}`, {
      details: [{ pointer: `/${name}`, message }],
    });
  }
  return null;
}

/** @throws AppError `unsupported` for a tracker of another maker. */
export function needOwnUnit({ deviceID, isForeign }: Pick<DeviceRow, 'deviceID' | 'isForeign'>): void {
  if (!isForeign) return;
  throw new AppError(
    'unsupported',
    `${deviceID} is a tracker of another maker: it takes no command and no secret`,
    {
      hint: 'Only a unit of Fleetward proves that its vehicle stands. To cut this vehicle fit one, as a device of its own.',
    },
  );
}

/**
 * Device for which the request may be recorded.
 * @throws AppError `not_found`, `unsupported`, `invalid_content`.
 */
export async function deviceFor(db: Database, request: CommandRequest): Promise<DeviceRow> {
  const fault = textFault(request);
  if (fault !== null) throw fault;
  lifeMs(request);
  const device = await findDevice(db, request);
  if (device === null) throw new AppError('not_found', `There is no device ${request.deviceID}`);
  needOwnUnit(device);
  if (device.helloMs > 0 && !device.features.includes(request.feature)) {
    throw new AppError('unsupported', `The device has no ${request.feature}`, {
      hint: 'Fit the relay and name it in the configuration of the agent, which then reports it to the broker on connect.',
    });
  }
  return device;
}
