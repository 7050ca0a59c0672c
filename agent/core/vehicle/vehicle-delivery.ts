// The vehicle and its session with the broker: the delivery machine's inputs, its time, and what is said of both. Pure.
import { statusCodes } from '../../../src/core/status-codes.ts';
import type { Welcome } from '../../../src/core/wire.ts';
import { type DeliveryInput, stepDelivery } from '../link/delivery.ts';
import { bestOrigin, offerServerTime, upMsAt } from '../timekeeping.ts';
import { noteCount } from './vehicle-diagnosis.ts';
import { log, put, record, type Work } from './vehicle-state.ts';

/** The data budget's light changed. Said with the priority of an alarm, so that it still leaves at red. */
function tellBudget(work: Work): void {
  const { light, traffic } = work.state.delivery;
  const { monthlyMb } = work.state.settings.link;
  const attributes = { light, usedMb: Math.round(traffic.bytes / 10_000) / 100, monthlyMb };
  log(work, light === 'green' ? 'info' : 'warn', 'data budget', attributes);
  record(work, { statusCode: statusCodes.DATA_BUDGET.code, attributes });
}

/** One input of the session. */
export function deliver(work: Work, input: DeliveryInput): void {
  const { monoMs, fraction } = work.now;
  const origin = bestOrigin(work.state.time);
  const utcMs = origin === null ? null : origin.originMs + upMsAt(work.state.time, monoMs);
  const { link } = work.state.settings;
  const before = work.state.delivery.light;
  const { state, effects } = stepDelivery(work.state.delivery, input, {
    ms: monoMs,
    fraction,
    utcMs,
    link,
  });
  put(work, { delivery: state });
  if (state.light !== before) tellBudget(work);
  for (const effect of effects) work.effects.push({ kind: 'delivery', effect });
  if (input.kind === 'up') log(work, 'info', 'connected');
  if (input.kind === 'up') noteCount(work, 'connects');
  if (input.kind !== 'down') return;
  const isRefused = /password|authori/i.test(input.reason);
  const hint = isRefused ? 'Check device.account, device.id and the secret in broker.secretFile.' : undefined;
  log(work, 'warn', 'disconnected', { reason: input.reason, ...(hint === undefined ? {} : { hint }) });
}

/** The broker's signed answer to our hello. */
export function takeWelcome(work: Work, welcome: Welcome): void {
  const { phase } = work.state.delivery;
  const { accountID, deviceID, boot } = work.config;
  const isOurs = welcome.accountID === accountID && welcome.deviceID === deviceID && welcome.boot === boot;
  if (!isOurs || phase.kind !== 'up' || phase.nonce !== welcome.nonce) {
    return log(work, 'warn', 'welcome refused', { reason: 'not an answer to our hello' });
  }
  const time = offerServerTime(work.state.time, {
    monoMs: work.now.monoMs,
    utcMs: welcome.serverTimeMs,
    askedMs: phase.askedMs,
  });
  put(work, { time });
  deliver(work, { kind: 'welcomed' });
}

/** Receiver and broker name times that cannot both be right. Said once in a boot: people must mend one of them. */
export function tellDispute(work: Work): void {
  const { disputeMs } = work.state.time;
  if (disputeMs === null) return;
  const aheadS = Math.round(disputeMs / 1000);
  const side = aheadS < 0 ? 'behind' : 'ahead of';
  const reason = `the GNSS receiver is ${Math.abs(aheadS)} s ${side} the broker, whose time counts`;
  log(work, 'warn', 'time disputed', { aheadS });
  record(work, { statusCode: statusCodes.INTERNAL_FAILURE.code, attributes: { part: 'clock', reason } });
}
