// The answers file of `fuel calibrate`: the amounts of a pump, for unattended use. A file with an unknown member is
// refused.
import { type Static, Type } from 'typebox';
import { Errors } from 'typebox/value';
import { AppError, messageOf } from '../../../src/core/errors.ts';

const litres = Type.Number({ exclusiveMinimum: 0, maximum: 5000 });

const answersSchema = Type.Object(
  {
    capacityL: litres,
    mode: Type.Union([Type.Literal('fill'), Type.Literal('drain')]),
    /** Litres in the tank before the first amount. */
    startL: Type.Number({ minimum: 0, maximum: 5000 }),
    /** Litres of each step; a step ends when the sender has moved and is at rest again. */
    steps: Type.Array(litres, { minItems: 2, maxItems: 499 }),
    settleS: Type.Optional(Type.Number({ minimum: 2, maximum: 120 })),
    /** Longest time for a step. */
    stepS: Type.Optional(Type.Number({ minimum: 5, maximum: 7200 })),
  },
  { additionalProperties: false },
);

export interface FuelAnswers
  extends Pick<Static<typeof answersSchema>, 'capacityL' | 'mode' | 'startL' | 'steps'> {
  readonly settleMs: number;
  readonly stepMs: number;
}

/** @throws AppError `invalid_content` that names every fault in the file. */
export function parseFuelAnswers(text: string): FuelAnswers {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new AppError('invalid_content', `The answers file is not JSON: ${messageOf(cause)}`, { cause });
  }
  const details = Errors(answersSchema, value).map(({ instancePath, message }) => ({
    pointer: instancePath,
    message,
  }));
  if (details.length > 0) {
    const lines = details.map(({ pointer, message }) => `${pointer || '/'}: ${message}`).join('; ');
    throw new AppError('invalid_content', `The answers file is wrong: ${lines}`, { details });
  }
  const answers = value as Static<typeof answersSchema>;
  const { capacityL, mode, startL, steps } = answers;
  const settleMs = (answers.settleS ?? 10) * 1000;
  return { capacityL, mode, startL, steps, settleMs, stepMs: (answers.stepS ?? 900) * 1000 };
}
