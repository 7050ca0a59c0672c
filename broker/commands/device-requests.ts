// Requests for a report of a unit: recorded, signed, and sent when the unit is connected, otherwise kept for its next hello until they expire.
// Separate from the command ledger: nothing here can move a relay. There are never two open requests where one is allowed, and one that has ended is
// never sent.
import { AppError, messageOf } from '../../src/core/errors.ts';
import { hexId } from '../../src/core/ids.ts';
import type { RequestBody, RequestKind } from '../../src/core/wire/device-request.ts';
import { encodeJsonMessage, type Hello, signedTypes } from '../../src/core/wire/wire.ts';
import type { DeviceRef } from '../core/device-key.ts';
import { createPeriodicTask } from '../scheduling/periodic-task.ts';
import { createQueues } from '../scheduling/queues.ts';
import { textOf } from '../store/base/row.ts';
import { wholeAccount } from '../store/base/scope.ts';
import {
  expireRequests,
  findRequest,
  forgetRequests,
  insertRequest,
  isAskedFor,
  openRequest,
  type RequestRow,
  recordRequestSent,
  trimRequests,
  unansweredOf,
  unsentRequests,
} from '../store/devices/device-requests.ts';
import { presentBoot } from '../store/devices/devices.ts';
import type { RecordAction } from './command-request.ts';
import type { LedgerOptions } from './ledger-options.ts';

/** Seconds for which a request waits for the unit. */
export const requestLifeS = {
  standard: {
    position: 3600,
    diagnostic: 86_400,
    log: 86_400,
    interlock: 300,
    interlock_cargo: 300,
  } satisfies Record<RequestKind, number>,
  low: 60,
  high: 7 * 86_400,
} as const;

export interface DeviceRequest {
  readonly device: DeviceRef;
  readonly kind: RequestKind;
  readonly issuer: string;
  /** 60 to 604,800; default: `requestLifeS.standard`. */
  readonly ttlS?: number;
  readonly record: RecordAction;
}

const expiryPeriodMs = 5000;

/**
 * Sends one request, bound to a boot, unless it has ended in the meantime.
 * @param envelope `isFirst`: only if no other process has sent it.
 */
async function send(
  options: LedgerOptions,
  row: RequestRow,
  { boot, isFirst }: { readonly boot: string; readonly isFirst: boolean },
): Promise<void> {
  const { db, clock, signer, log, publish } = options;
  const { accountID, deviceID, requestID, requestNo, kind, issuedMs, expiresMs } = row;
  const [noted] = await db.write([recordRequestSent({ requestNo, boot, isFirst, atMs: clock.utcMs() })]);
  if (noted?.changes !== 1) return;
  const body: RequestBody = { accountID, deviceID, requestID, boot, kind, issuedMs, expiresMs };
  const payload = new TextEncoder().encode(signer.sign(encodeJsonMessage(body), signedTypes.request));
  const left = await publish(row, { verb: 'commands', payload, qos: 1 });
  log.info('request_sent', { accountID, deviceID, requestID, kind, left });
}

async function ask(options: LedgerOptions, request: DeviceRequest): Promise<RequestRow> {
  const { db, clock, entropy, log } = options;
  const { device, kind, issuer, ttlS = requestLifeS.standard[kind] } = request;
  const { accountID, deviceID, deviceNo } = device;
  const requestID = hexId(entropy.bytes(16));
  const issuedMs = Math.round(clock.utcMs());
  const expiresMs = issuedMs + ttlS * 1000;
  await db.write([
    expireRequests(issuedMs),
    insertRequest({ requestID, deviceNo, kind, issuer, issuedMs, expiresMs }),
    request.record({
      action: 'device.request',
      object: deviceID,
      detail: { requestID, kind, ttlS },
      onlyIf: isAskedFor(requestID),
    }),
    trimRequests(deviceNo),
  ]);
  const scope = wholeAccount(accountID);
  const row = await findRequest(db, scope, requestID);
  if (row === null) {
    const open = await openRequest(db, { deviceNo, kind });
    if (open === null)
      throw new AppError('not_found', `There is no device ${JSON.stringify(deviceID)} any more`);
    if (open.kind === kind) return open;
    throw new AppError('conflict', `The unit is asked for its ${open.kind} already`, {
      hint: `Wait for request ${open.requestID} to end; at the latest it does when it expires.`,
    });
  }
  log.info('request_recorded', { accountID, deviceID, requestID, kind, issuer });
  const boot = await presentBoot(db, deviceNo);
  if (boot === null) return row;
  await send(options, row, { boot, isFirst: true });
  return (await findRequest(db, scope, requestID)) ?? row;
}

async function handleHello(options: LedgerOptions, device: DeviceRef, boot: string): Promise<void> {
  const { db, clock } = options;
  for (const row of await unansweredOf(db, device.deviceNo, clock.utcMs()))
    await send(options, row, { boot, isFirst: false });
}

/** Sends requests that were recorded but not sent: their process ended, or the store failed in between. */
async function sendUnsent(options: LedgerOptions): Promise<void> {
  const { db, clock } = options;
  for (const row of await unsentRequests(db, clock.utcMs())) {
    const boot = await presentBoot(db, row.deviceNo);
    if (boot !== null) await send(options, row, { boot, isFirst: true });
  }
}

async function expire({ db, clock, log }: LedgerOptions): Promise<void> {
  const nowMs = Math.round(clock.utcMs());
  const [ended] = await db.write([expireRequests(nowMs), forgetRequests(nowMs)]);
  for (const row of ended?.rows ?? []) log.info('request_expired', { requestID: textOf(row, 'request_id') });
}

/** Its background task runs until `close`. */
export function createDeviceRequests(options: LedgerOptions) {
  const { clock, log } = options;
  const queues = createQueues();
  const task = createPeriodicTask({
    clock,
    firstMs: expiryPeriodMs,
    async run() {
      const failed = (what: string) => (thrown: unknown) => {
        log.error(what, { reason: messageOf(thrown) });
      };
      await expire(options).catch(failed('request_expiry_failed'));
      await sendUnsent(options).catch(failed('requests_not_sent'));
      return expiryPeriodMs;
    },
  });
  return {
    /**
     * Records a request and sends it at once when the unit is connected. An open request for the same is returned instead.
     * @throws AppError `conflict` while another request to the unit is open, `not_found` when it was deleted.
     */
    ask: (request: DeviceRequest) => queues.run(request.device.deviceNo, () => ask(options, request)),
    /** Sends the requests that the unit has not answered. */
    onHello: (device: DeviceRef, { boot }: Pick<Hello, 'boot'>) =>
      queues.run(device.deviceNo, () => handleHello(options, device, boot)),
    /** Runs by itself every few seconds. */
    expireDue: () => expire(options),
    async close() {
      void task.close();
      await queues.idle();
    },
  };
}

export type DeviceRequests = ReturnType<typeof createDeviceRequests>;
