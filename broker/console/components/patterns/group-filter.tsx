// The choice of a group of vehicles, which stands in the address. Nothing where there is none to choose.
import { useSearch } from '@tanstack/react-router';
import { findWords } from '../../../../build/words/find.ts';
import { useGroups } from '../../service/reading/groups.ts';
import { ChoiceField } from '../fields/choice-field.tsx';
import { numberText } from '../texts.tsx';
import { useWords } from '../use.ts';
import { useFailure } from '../view.tsx';
import { type AddressChange, usePut } from './address.tsx';

interface GroupFilterProps {
  /** Members of the address that another choice takes out. */
  readonly clears?: AddressChange;
}

export function GroupFilter({ clears = {} }: GroupFilterProps) {
  const { group: texts } = useWords(findWords).find;
  const { group } = useSearch({ strict: false });
  const { items, error } = useGroups();
  const put = usePut();
  const failure = useFailure(error, texts.notRead);
  if (items === undefined && group === undefined) return failure;
  const isMissing = group !== undefined && items?.every(({ groupID }) => groupID !== group) === true;
  if (items?.length === 0 && !isMissing) return null;
  const known = (items ?? []).map(
    ({ groupID, groupDisplayName, devices }) =>
      [groupID, `${groupDisplayName || groupID} (${numberText(devices.length)})`] as const,
  );
  return (
    <>
      {failure}
      <ChoiceField
        label={texts.label}
        value={group ?? ''}
        choices={[
          ['', texts.every],
          ...known,
          ...(isMissing ? [[group, texts.gone({ id: group })] as const] : []),
          ...(items === undefined && group !== undefined ? [[group, group] as const] : []),
        ]}
        onChoose={(value) => put({ ...clears, group: value === '' ? undefined : value })}
      />
    </>
  );
}
