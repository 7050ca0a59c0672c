// The table `update` of agent.toml: how a new release of the agent is fetched and tried. Only the installer sets it:
// no message changes it. The release key is given on the service's own command line.
import { type Static, Type } from 'typebox';
import { Create } from 'typebox/value';
import { numberSetting, switchSetting } from '../../../src/core/settings/kinds.ts';

export const updateSchema = Type.Object({
  parkedS: numberSetting(
    { low: 10, high: 86_400, standard: 60 },
    'A new release is started only when the ignition has been off for so long and the vehicle stands',
  ),
  healthS: numberSetting(
    { low: 10, high: 86_400, standard: 300 },
    'A new release is confirmed once all that worked before it has worked for so long',
  ),
  trialS: numberSetting(
    { low: 30, high: 604_800, standard: 3600 },
    'A new release that is not confirmed by then is given up, and the one before runs again; at least twice healthS',
  ),
  maxMb: numberSetting(
    { low: 1, high: 64, standard: 64 },
    'Largest archive of a release that is downloaded, in MiB',
  ),
  caFile: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1000,
      description: "Certificate authority (PEM) to trust for downloads, instead of the system's",
    }),
  ),
  allowHttp: switchSetting(
    false,
    'Releases may come over plain http: for tests in a private network (they are signed all the same)',
  ),
});

export type UpdateSettings = Static<typeof updateSchema>;

/** Defaults. */
export const standardUpdate: UpdateSettings = Create(updateSchema);

/** Faults of the combination, as text; empty when there are none. */
export function updateFault({ healthS, trialS }: UpdateSettings): string {
  return trialS >= 2 * healthS ? '' : 'update.trialS must be at least twice update.healthS';
}
