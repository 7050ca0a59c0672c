// The features of the broker: a folder below `broker/features/` and a line here each. All else is kernel. Features import the
// kernel, never each other; the kernel imports none. Of features that follow the same operations, the first here comes first.
import { drivers } from './features/drivers/feature.ts';
import { enrolment } from './features/enrolment/feature.ts';
import { exports } from './features/exports/feature.ts';
import type { Feature } from './features/feature.ts';
import { feed } from './features/feed/feature.ts';
import { loginCodes } from './features/login-codes/feature.ts';
import { messages } from './features/messages/feature.ts';
import { owner } from './features/owner/feature.ts';
import { passengers } from './features/passengers/feature.ts';
import { passkeys } from './features/passkeys/feature.ts';
import { practice } from './features/practice/feature.ts';
import { quarantine } from './features/quarantine/feature.ts';
import { releases } from './features/releases/feature.ts';
import { reports } from './features/reports/feature.ts';
import { requests } from './features/requests/feature.ts';
import { routes } from './features/routes/feature.ts';
import { shares } from './features/shares/feature.ts';
import { totp } from './features/totp/feature.ts';
import { trackers } from './features/trackers/feature.ts';
import { visits } from './features/visits/feature.ts';
import { ways } from './features/ways/feature.ts';

const features = [
  loginCodes,
  totp,
  passkeys,
  enrolment,
  passengers,
  drivers,
  reports,
  exports,
  quarantine,
  requests,
  practice,
  releases,
  messages,
  owner,
  routes,
  shares,
  trackers,
  ways,
  visits,
  feed,
] as const;

/** Each operation of a feature with its own types. */
export type FeatureOperation = (typeof features)[number]['operations'][number];

/** The same without their own types. */
export const allFeatures: readonly Feature[] = features;

/** Tables that the deletion of an account clears, see `Feature`. */
export const featureTables = allFeatures.flatMap(({ clearedTables = [] }) => clearedTables);
