// The preferences that the service keeps for the user: applied here at each sign-in, and whenever they are saved.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { isLanguage } from '../../../src/core/words/languages.ts';
import { call } from '../service/call.ts';
import { session } from '../service/session.ts';
import { type ConsolePreferences, preferencesOf, withPreferences } from '../state/account/preferences.ts';
import { chooseMeasures } from '../words/chosen-measures.ts';
import { chooseLanguage } from '../words/language.ts';
import { setSingleKeys } from './single-keys.ts';
import { chooseTheme, isTheme } from './theme.ts';

/** The account as every user of it sees it. */
export const readFigures = (signal?: AbortSignal) =>
  call('checkAccount', {
    params: { accountID: session.get()?.accountID ?? '' },
    ...(signal === undefined ? {} : { signal }),
  });

/** What is not kept, or is none of this console's choices, stays as this browser has it; units, clock and zone have no other choice here. */
async function apply({ language, theme, singleKeys, ...kept }: ConsolePreferences): Promise<void> {
  if (isLanguage(language)) chooseLanguage(language);
  if (isTheme(theme)) chooseTheme(theme);
  if (singleKeys !== null) setSingleKeys(singleKeys);
  chooseMeasures({ ...kept, zone: null });
  if (kept.zone === 'account') chooseMeasures({ ...kept, zone: (await readFigures()).timeZone });
}

/** After a sign-in. Without an answer this browser stays as it is. */
export async function applyPreferences(): Promise<void> {
  const { preferences } = await call('getPreferences', {});
  await apply(preferencesOf(preferences));
}

const queryKey = () => ['preferences', session.get()?.userID];

export const usePreferences = () =>
  useQuery({ queryKey: queryKey(), queryFn: ({ signal }) => call('getPreferences', { signal }) });

interface Save {
  readonly kept: ConsolePreferences;
  /** As it was read: another change since then refuses this one. */
  readonly from: NonNullable<ReturnType<typeof usePreferences>['data']>;
}

/** What other apps keep stays as it was read. */
export function useSavePreferences() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ kept, from: { preferences, revision } }: Save) =>
      call('savePreferences', { body: { preferences: withPreferences(preferences, kept), revision } }),
    onSuccess: (answer) => {
      queries.setQueryData(queryKey(), answer);
      return apply(preferencesOf(answer.preferences));
    },
    onError: () => queries.invalidateQueries({ queryKey: queryKey() }),
  });
}
