// Progress of an enrolment, and its command. Pure.
import type { Result } from '../../api/operations.ts';

export type EnrolmentCode = Result<'getEnrolmentCodes'>['codes'][number];
type Health = Pick<Result<'diagnostic'>, 'lastHello' | 'features' | 'sensors'>;

/** Progress of an enrolment: three steps, each with the time it was reached; null: not yet. */
export interface EnrolmentSteps {
  readonly used: number | null;
  readonly connected: number | null;
  /** With the first connection the unit names what is fitted; null too when it names nothing. */
  readonly fitted: number | null;
  /** The unit connected and named neither a relay nor an input. */
  readonly isBare: boolean;
}

/** @param health null until it is known. A connection before the use of the code was another unit's, or this one's under its old secret. */
export function enrolmentSteps(code: EnrolmentCode, health: Health | null): EnrolmentSteps {
  const used = code.usedOn;
  const hasConnected = used !== null && health !== null && health.lastHello >= used;
  const isFitted = hasConnected && health.features.length + health.sensors.length > 0;
  return {
    used,
    connected: hasConnected ? health.lastHello : null,
    fitted: isFitted ? health.lastHello : null,
    isBare: hasConnected && !isFitted,
  };
}

/** The command that an installer types at the vehicle. */
export const enrolCommand = (origin: string, code: string): string =>
  `fleetward-agent enrol --broker ${origin} --code ${code}`;
