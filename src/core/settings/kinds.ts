// Builders of one setting: its limits, its default and its description.
import { Type } from 'typebox';

/** A number with its limits, both included, and its default. */
export const numberSetting = (
  limits: { readonly low: number; readonly high: number; readonly standard: number },
  description: string,
) => Type.Number({ minimum: limits.low, maximum: limits.high, default: limits.standard, description });

/** A switch. */
export const switchSetting = (standard: boolean, description: string) =>
  Type.Boolean({ default: standard, description });
