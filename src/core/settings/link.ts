// The table `link` of the settings: use of the mobile link. Data only.
import { type Static, Type } from 'typebox';
import { numberSetting } from './kinds.ts';

export const linkSchema = Type.Object({
  backlogPerS: numberSetting(
    { low: 1, high: 10_000, standard: 2000 },
    'After an outage, stored events are sent at this rate at most; urgent and new ones do not wait for them',
  ),
  keepaliveMostS: numberSetting(
    { low: 60, high: 1740, standard: 600 },
    'An idle link is never left silent for longer than this, however long the network would hold it; a command may wait so long on a link that died unseen',
  ),
  monthlyMb: numberSetting(
    { low: 0, high: 1_000_000, standard: 0 },
    'Data budget of a calendar month (UTC) in MB, overhead included; 0 is no budget',
  ),
  amberPercent: numberSetting(
    { low: 10, high: 99, standard: 80 },
    'From this share of the budget on, positions are sent seldom and the backlog waits',
  ),
});

export type LinkSettings = Static<typeof linkSchema>;
