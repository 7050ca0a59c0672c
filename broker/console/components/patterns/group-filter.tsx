// The choice of a group of vehicles, which stands in the address. Nothing where there is none to choose.
import { useSearch } from '@tanstack/react-router';
import { findWords } from '../../../../build/words/find.ts';
import { useGroups } from '../../service/reading/groups.ts';
import { numberText } from '../texts.tsx';
import { useWords } from '../use.ts';
import { useFailure } from '../view.tsx';
import { usePut } from './address.tsx';

interface GroupFilterProps {
  /** Members of the address that another choice takes out. */
  readonly clears?: Parameters<ReturnType<typeof usePut>>[0];
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
  return (
    <>
      {failure}
      <label className="row group-filter">
        <span className="muted">{texts.label}</span>
        <select
          className="input"
          value={group ?? ''}
          onChange={({ currentTarget: { value } }) =>
            put({ ...clears, group: value === '' ? undefined : value })
          }
        >
          <option value="">{texts.every}</option>
          {items?.map(({ groupID, groupDisplayName, devices }) => (
            <option key={groupID} value={groupID}>
              {`${groupDisplayName || groupID} (${numberText(devices.length)})`}
            </option>
          ))}
          {isMissing ? <option value={group}>{texts.gone({ id: group })}</option> : null}
          {items === undefined ? <option value={group}>{group}</option> : null}
        </select>
      </label>
    </>
  );
}
