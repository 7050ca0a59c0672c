// The table `fuel` of the settings: monitoring of the tank. Data only. No setting may turn slosh or a slope into an
// alarm; the figures behind it are in the agent's `fuel-limits.ts`.
import { type Static, Type } from 'typebox';

const fraction = (limits: { low: number; high: number; standard: number }, description: string) =>
  Type.Number({ minimum: limits.low, maximum: limits.high, default: limits.standard, description });

/** The table `fuel` of agent.toml; every member but the capacity has a default. */
export const fuelSettingsSchema = Type.Object({
  enabled: Type.Boolean({ default: true, description: 'Watch the tank: refill, theft, low, sender faults' }),
  capacityL: Type.Optional(
    Type.Number({
      minimum: 5,
      maximum: 5000,
      description: 'Litres in the full tank; events then carry litres',
    }),
  ),
  refillFraction: fraction(
    { low: 0.03, high: 0.5, standard: 0.05 },
    'Least part of the tank that is a refill',
  ),
  theftFraction: fraction({ low: 0.03, high: 0.5, standard: 0.05 }, 'Least part of the tank that is a theft'),
  lowFraction: fraction({ low: 0, high: 0.5, standard: 0.1 }, 'Below this the tank is low'),
  lowHysteresis: fraction(
    { low: 0.02, high: 0.3, standard: 0.05 },
    '... until it is above that and this more',
  ),
  settleS: Type.Number({
    minimum: 30,
    maximum: 180,
    default: 60,
    description: 'A level counts, and a change is reported, when it has lasted this long, in seconds',
  }),
  idlePerHour: fraction(
    { low: 0.005, high: 0.5, standard: 0.05 },
    'Most of the tank that the engine uses in an hour while standing; more for a vehicle with a power take-off',
  ),
  drivingPerHour: fraction(
    { low: 0.02, high: 1, standard: 0.25 },
    'Most of the tank that the engine uses in an hour of driving',
  ),
  reportFraction: fraction(
    { low: 0.01, high: 0.5, standard: 0.05 },
    'A level is reported after a change of this',
  ),
  reportS: Type.Number({
    minimum: 60,
    maximum: 86_400,
    default: 600,
    description: '... and not more often than this, in seconds',
  }),
});

export type FuelSettings = Static<typeof fuelSettingsSchema>;
