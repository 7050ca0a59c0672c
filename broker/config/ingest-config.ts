// The settings of how much vehicles may send. A limit slows what is beyond it and refuses nothing.
import { type Static, Type } from 'typebox';
import { AppError } from '../../src/core/errors.ts';
import { defaultEventLimits } from '../core/scheduling/event-budget.ts';

const rate = (standard: number, description: string) =>
  Type.Integer({ minimum: 0, maximum: 1_000_000, default: standard, description });

export const ingestSchema = Type.Object({
  deviceEventsPerS: rate(
    defaultEventLimits.deviceEventsPerS,
    'Events a second that one device may go on to send, an event for each KiB of its payload; what is beyond waits, with its PUBACK. 0: no limit',
  ),
  deviceBurst: Type.Integer({
    minimum: 1000,
    maximum: 100_000_000,
    default: defaultEventLimits.deviceBurst,
    description: 'Events that one device may send beyond that, as after weeks without network',
  }),
  accountEventsPerS: rate(
    defaultEventLimits.accountEventsPerS,
    'Events a second of all devices of an account together, beyond 2 a second for each of them. 0: no limit',
  ),
});

/** @throws AppError `config` for a limit at which an agent would wait in vain: 30 s for the acknowledgement of 50 events. */
export function checkIngest({ deviceEventsPerS }: Static<typeof ingestSchema>): void {
  if (deviceEventsPerS !== 1) return;
  throw new AppError('config', 'ingest.deviceEventsPerS 1 is less than an agent needs', {
    hint: 'Set at least 2, or 0 for no limit.',
  });
}
