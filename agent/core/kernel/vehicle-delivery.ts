// The vehicle and its session with the broker: inputs of the delivery machine, its time, and the reports of both.
// Pure.
import { statusCodes } from '../../../src/core/events/status-codes.ts';
import type { Welcome } from '../../../src/core/wire/wire.ts';
import { type DeliveryInput, stepDelivery } from '../link/delivery.ts';
import { offerServerTime, utcMsAt } from '../timekeeping.ts';
import { recordGuardFact } from './vehicle-guard.ts';
import { addCount, isOurs, log, put, record, type StepContext } from './vehicle-state.ts';

/** The data budget's light changed. Reported with the priority of an alarm, so that it is sent even at red. */
function reportBudget(context: StepContext): void {
  const { light, traffic } = context.state.delivery;
  const { monthlyMb } = context.state.settings.link;
  const attributes = { light, usedMb: Math.round(traffic.bytes / 10_000) / 100, monthlyMb };
  log(context, light === 'green' ? 'info' : 'warn', 'data_budget', attributes);
  record(context, { statusCode: statusCodes.DATA_BUDGET.code, attributes });
}

/** One input of the session. */
export function deliver(context: StepContext, input: DeliveryInput): void {
  const { monoMs, fraction } = context.now;
  const utcMs = utcMsAt(context.state.time, monoMs);
  const { link } = context.state.settings;
  const before = context.state.delivery.light;
  const { state, effects } = stepDelivery(context.state.delivery, input, {
    ms: monoMs,
    fraction,
    utcMs,
    link,
  });
  put(context, { delivery: state });
  if (state.light !== before) reportBudget(context);
  for (const effect of effects) context.effects.push({ kind: 'delivery', effect });
  if (input.kind === 'up') log(context, 'info', 'connected');
  if (input.kind === 'up') addCount(context, 'connects');
  if (input.kind !== 'down') return;
  const isRefused = /password|authori/i.test(input.reason);
  const hint = isRefused ? 'Check device.account, device.id and the secret in broker.secretFile.' : undefined;
  log(context, 'warn', 'disconnected', { reason: input.reason, ...(hint === undefined ? {} : { hint }) });
}

/** The broker's signed answer to our hello. */
export function handleWelcome(context: StepContext, welcome: Welcome): void {
  const { phase } = context.state.delivery;
  if (!isOurs(context, welcome) || phase.kind !== 'up' || phase.nonce !== welcome.nonce) {
    return log(context, 'warn', 'welcome_refused', { reason: 'not an answer to our hello' });
  }
  const time = offerServerTime(context.state.time, {
    monoMs: context.now.monoMs,
    utcMs: welcome.serverTimeMs,
    askedMs: phase.askedMs,
  });
  put(context, { time });
  recordGuardFact(context, {
    kind: 'clock',
    atMs: context.now.monoMs,
    utcMs: welcome.serverTimeMs,
    isSigned: true,
  });
  deliver(context, { kind: 'welcomed', isShort: welcome.eventsTopic !== undefined });
}

/**
 * Receiver and broker report times that cannot both be right. Reported once in a boot: one of them must be
 * repaired.
 */
export function reportTimeDispute(context: StepContext): void {
  const { disputeMs } = context.state.time;
  if (disputeMs === null) return;
  const aheadS = Math.round(disputeMs / 1000);
  const side = aheadS < 0 ? 'behind' : 'ahead of';
  const reason = `the GNSS receiver is ${Math.abs(aheadS)} s ${side} the broker, whose time counts`;
  log(context, 'warn', 'time_disputed', { aheadS });
  record(context, { statusCode: statusCodes.INTERNAL_FAILURE.code, attributes: { part: 'clock', reason } });
}
