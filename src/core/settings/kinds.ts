// How one setting is written down: its limits, its default and what it is for, in the order in which people ask.
import { Type } from 'typebox';

/** A number with its limits, both included, and the value that holds where nobody chose. */
export const numberSetting = (
  limits: { readonly low: number; readonly high: number; readonly standard: number },
  description: string,
) => Type.Number({ minimum: limits.low, maximum: limits.high, default: limits.standard, description });

/** A switch. */
export const switchSetting = (standard: boolean, description: string) =>
  Type.Boolean({ default: standard, description });
