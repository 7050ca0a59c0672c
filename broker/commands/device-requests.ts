// What people ask units to tell: recorded, signed, sent when the unit is there, kept for its next hello until its time is
// over. In the spirit of the command ledger, and apart from it: nothing here can move a relay. It must never have two
// requests under way where one is allowed, and never send one that has ended.
import type { RequestBody, RequestKind } from '../../src/core/device-request.ts';
import { AppError, messageOf } from '../../src/core/errors.ts';
import { hexId } from '../../src/core/ids.ts';
import { encodeJsonMessage, type Hello, signedTypes } from '../../src/core/wire.ts';
import type { Entropy } from '../../src/ports.ts';
import {
  expireRequests,
  findRequest,
  forgetRequests,
  insertRequest,
  isAskedFor,
  noteRequestSent,
  openRequest,
  type RequestRow,
  trimRequests,
  unansweredOf,
  unsentRequests,
} from '../store/device-requests.ts';
import { type DeviceRef, presentBoot } from '../store/devices.ts';
import { textOf } from '../store/row.ts';
import { wholeAccount } from '../store/scope.ts';
import { createQueues } from '../work/queues.ts';
import { createRounds } from '../work/rounds.ts';
import type { RecordDeed } from './command-request.ts';
import type { SenderOptions } from './command-sender.ts';

export interface RequestDeskOptions extends SenderOptions {
  readonly entropy: Entropy;
}

/** Seconds that a request waits for the unit. */
export const requestLifeS = {
  standard: { position: 3600, diagnostic: 86_400, log: 86_400 } satisfies Record<RequestKind, number>,
  low: 60,
  high: 7 * 86_400,
} as const;

export interface RequestWish {
  readonly device: DeviceRef;
  readonly kind: RequestKind;
  readonly issuer: string;
  /** 60 to 604,800; by default an hour for a position and a day for the rest. */
  readonly ttlS?: number;
  readonly record: RecordDeed;
}

export interface RequestDesk {
  /**
   * Records a request and sends it at once when the unit is there. One that is open already for the same is that one.
   * @throws AppError `conflict` while the unit is asked for something else, `not_found` when it was deleted.
   */
  ask(wish: RequestWish): Promise<RequestRow>;
  /** Sends what the unit has not answered. */
  onHello(device: DeviceRef, hello: Pick<Hello, 'boot'>): Promise<void>;
  /** Ends what is past its time. Runs by itself every few seconds. */
  expireDue(): Promise<void>;
  close(): Promise<void>;
}

const expiryPeriodMs = 5000;

interface Envelope {
  readonly boot: string;
  /** Not when another process has sent it. */
  readonly isFirst: boolean;
}

/** Sends one request, bound to a boot, unless it has ended meanwhile. */
async function send(
  options: RequestDeskOptions,
  row: RequestRow,
  { boot, isFirst }: Envelope,
): Promise<void> {
  const { db, clock, signer, log, publish } = options;
  const { accountID, deviceID, requestID, requestNo, kind, issuedMs, expiresMs } = row;
  const [noted] = await db.write([noteRequestSent({ requestNo, boot, isFirst, atMs: clock.utcMs() })]);
  if (noted?.changes !== 1) return;
  const body: RequestBody = { accountID, deviceID, requestID, boot, kind, issuedMs, expiresMs };
  const payload = new TextEncoder().encode(signer.sign(encodeJsonMessage(body), signedTypes.request));
  const left = await publish(row, { verb: 'commands', payload, qos: 1 });
  log.info('request sent', { accountID, deviceID, requestID, kind, left });
}

async function ask(options: RequestDeskOptions, wish: RequestWish): Promise<RequestRow> {
  const { db, clock, entropy, log } = options;
  const { device, kind, issuer, ttlS = requestLifeS.standard[kind] } = wish;
  const { accountID, deviceID, deviceNo } = device;
  const requestID = hexId(entropy.bytes(16));
  const issuedMs = Math.round(clock.utcMs());
  const expiresMs = issuedMs + ttlS * 1000;
  await db.write([
    expireRequests(issuedMs),
    insertRequest({ requestID, deviceNo, kind, issuer, issuedMs, expiresMs }),
    wish.record({
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
      throw new AppError('not_found', `there is no device ${JSON.stringify(deviceID)} any more`);
    if (open.kind === kind) return open;
    throw new AppError('conflict', `the unit is asked for its ${open.kind} already`, {
      hint: `Wait for request ${open.requestID} to end; at the latest it does when it expires.`,
    });
  }
  log.info('request recorded', { accountID, deviceID, requestID, kind, issuer });
  const boot = await presentBoot(db, deviceNo);
  if (boot === null) return row;
  await send(options, row, { boot, isFirst: true });
  return (await findRequest(db, scope, requestID)) ?? row;
}

async function greet(options: RequestDeskOptions, device: DeviceRef, boot: string): Promise<void> {
  const { db, clock } = options;
  for (const row of await unansweredOf(db, device.deviceNo, clock.utcMs()))
    await send(options, row, { boot, isFirst: false });
}

/** Sends what was recorded and not sent: its process did not live to, or the store failed in between. */
async function sendForgotten(options: RequestDeskOptions): Promise<void> {
  const { db, clock } = options;
  for (const row of await unsentRequests(db, clock.utcMs())) {
    const boot = await presentBoot(db, row.deviceNo);
    if (boot !== null) await send(options, row, { boot, isFirst: true });
  }
}

async function expire({ db, clock, log }: RequestDeskOptions): Promise<void> {
  const nowMs = Math.round(clock.utcMs());
  const [ended] = await db.write([expireRequests(nowMs), forgetRequests(nowMs)]);
  for (const row of ended?.rows ?? []) log.info('request expired', { requestID: textOf(row, 'request_id') });
}

/** Builds the desk; its expiry runs until `close`. */
export function createRequestDesk(options: RequestDeskOptions): RequestDesk {
  const { clock, log } = options;
  const queues = createQueues();
  const rounds = createRounds({
    clock,
    firstMs: expiryPeriodMs,
    async run() {
      const failed = (what: string) => (thrown: unknown) => {
        log.error(what, { reason: messageOf(thrown) });
      };
      await expire(options).catch(failed('expiry of requests failed'));
      await sendForgotten(options).catch(failed('requests not sent'));
      return expiryPeriodMs;
    },
  });
  return {
    ask: (wish) => queues.run(wish.device.deviceNo, () => ask(options, wish)),
    onHello: (device, { boot }) => queues.run(device.deviceNo, () => greet(options, device, boot)),
    expireDue: () => expire(options),
    async close() {
      void rounds.close();
      await queues.idle();
    },
  };
}
