// A webhook of the simulator: it gets every alert of the fleet, signed, and again under the same id after a refusal.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { alertKey } from '../../core/judgement/judgement-alerts.ts';
import { stalledMs } from '../../core/ledger/excuses.ts';
import type { Ledger } from '../../core/ledger/ledger.ts';
import type { ShownEvent } from '../../core/ledger/ledger-types.ts';
import type { ShownNotice } from '../../core/ledger/shown-views.ts';
import type { ReceivedRequest, RunPorts } from '../shared/run-ports.ts';
import { createFindings, type Exercise, eventually, post, read } from './exercise.ts';

const ruleID = 'sim-webhook';
const deliveriesMost = 100_000;
/** A failed delivery is tried again after 5 to 10 s, and the others of its target with it. */
const settleMs = 60_000;

interface Received {
  readonly id: string;
  readonly isSigned: boolean;
  readonly isTaken: boolean;
  /** Monotonic. */
  readonly atMs: number;
  readonly utcMs: number;
  /** `creationTime`: when the service received it, epoch seconds. */
  readonly body: ShownNotice & { readonly creationTime: number } & Readonly<Record<string, unknown>>;
}

function isSigned(secret: string, { headers, text }: ReceivedRequest): boolean {
  const at = String(headers['fleetward-timestamp']);
  const mac = `v1=${createHmac('sha256', secret).update(`${at}.${text}`).digest('hex')}`;
  const given = Buffer.from(String(headers['fleetward-signature']));
  return given.length === mac.length && timingSafeEqual(given, Buffer.from(mac));
}

interface Receiver {
  readonly url: string;
  readonly received: readonly Received[];
  /** Secret of the rule. */
  trust(secret: string): void;
  close(): void;
}

/** Accepts every delivery but the first, which must come again. */
export async function openReceiver({
  openHttpReceiver,
  clock,
}: Pick<RunPorts, 'openHttpReceiver' | 'clock'>): Promise<Receiver> {
  const received: Received[] = [];
  let secret = '';
  const { url, close } = await openHttpReceiver((request) => {
    const isTaken = received.length > 0 && received.length < deliveriesMost;
    const id = String(request.headers['fleetward-id']);
    const body = JSON.parse(request.text) as Received['body'];
    const moment = { atMs: performance.now(), utcMs: clock.utcMs() };
    received.push({ id, isSigned: isSigned(secret, request), isTaken, ...moment, body });
    return isTaken ? 204 : 503;
  });
  return {
    url: `${url}/alerts`,
    received,
    trust: (given) => {
      secret = given;
    },
    close,
  };
}

interface Deliveries {
  readonly deliveries: readonly { readonly ruleID: string; readonly state: string }[];
}

function timesByKey(all: readonly ShownNotice[]): Map<string, number> {
  const times = new Map<string, number>();
  for (const one of all) times.set(alertKey(one), (times.get(alertKey(one)) ?? 0) + 1);
  return times;
}

/** The service may send again what a busy receiver has taken too slowly; sooner than this it has no reason to. */
const againMs = 5000;

/** Deliveries that came again although they had just been taken. */
function repeatedOf(received: readonly Received[]): readonly Received[] {
  const taken = new Map<string, number>();
  return received.filter(({ id, isTaken, atMs }) => {
    const lastMs = taken.get(id);
    if (isTaken) taken.set(id, atMs);
    return lastMs !== undefined && atMs - lastMs < againMs;
  });
}

/**
 * Latest delivery of an alert after its receipt, ms, without stalls of the generator. A failed attempt delays its target by 10 s,
 * an attempt whose broker was killed by 20 s.
 */
const lateMostMs = 45_000;

/** Delay of a delivery, ms. @param runMs time of the run at the monotonic time 0. */
function latenessMs(
  { stalls }: Pick<Ledger, 'stalls'>,
  { body, utcMs, atMs }: Received,
  runMs: number,
): number {
  const ageMs = utcMs - body.creationTime * 1000;
  const toMs = runMs + atMs;
  return ageMs - stalledMs({ stalls }, { fromMs: toMs - ageMs, toMs });
}

export const exerciseWebhook: Exercise = async (context) => {
  const { access, changes, secrets, ports } = context;
  const { service, target } = access;
  const { look, outcome } = createFindings('deliveriesWrong');
  const receiver = await openReceiver(ports);
  const rule = { ruleID, statusCodes: 'alerts', silenceS: 0, webhook: { url: receiver.url } };
  const { webhookSecret } = await post<{ webhookSecret: string }>(
    service,
    '/notification/updaterule',
    rule,
  ).catch((thrown: unknown) => {
    receiver.close();
    throw thrown;
  });
  receiver.trust(webhookSecret);
  secrets.push(webhookSecret);
  changes.push({ userID: target.login.userID, action: 'rule.update', object: ruleID });
  // Received in a later second: the rule was there.
  const fromS = Math.floor(ports.clock.utcMs() / 1000) + 1;
  const runMs = context.time.nowMs() - performance.now();
  return async ({ alerts, ledger }) => {
    const due = alerts.filter((record: ShownEvent) => record.creationTime > fromS);
    const wanted = timesByKey(due);
    const taken = (): readonly Received[] => [
      ...new Map(receiver.received.filter(({ isTaken }) => isTaken).map((one) => [one.id, one])).values(),
    ];
    const has = (): Map<string, number> => timesByKey(taken().map(({ body }) => body));
    const hasAll = (): boolean => [...wanted].every(([key, times]) => (has().get(key) ?? 0) >= times);
    await eventually(context, () => Promise.resolve(hasAll()), settleMs);
    const got = has();
    for (const [key, times] of wanted) {
      const count = got.get(key) ?? 0;
      const words = `alert ${key} was delivered ${count} times, not ${times}`;
      look(key.split(' ')[0] ?? '', count === times ? null : words);
    }
    for (const { id, body, isSigned: isTrue } of receiver.received)
      look(body.deviceID, isTrue ? null : `delivery ${id} bears no valid signature of its rule`);
    for (const one of taken()) {
      const lateMs = latenessMs(ledger, one, runMs);
      const words = `delivery ${one.id} came ${Math.round(lateMs / 1000)} s after its alert was received`;
      look(one.body.deviceID, lateMs <= lateMostMs ? null : words);
    }
    for (const { id, body } of repeatedOf(receiver.received))
      look(body.deviceID, `delivery ${id} came again although it was taken`);
    const [first] = receiver.received;
    if (first !== undefined) {
      const isAgain = taken().some(({ id }) => id === first.id);
      const words = `delivery ${first.id} was not taken, and did not come again`;
      look(first.body.deviceID, isAgain ? null : words);
    }
    receiver.close();
    const { deliveries } = await read<Deliveries>(service, '/notification/deliveries');
    const open = deliveries.filter((one) => one.ruleID === ruleID && one.state !== 'sent').length;
    look('', open === 0 ? null : `${open} deliveries of ${ruleID} are not shown as sent`);
    return outcome();
  };
};
