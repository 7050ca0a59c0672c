// Which version of settings and zones each vehicle holds, and why one could not take it.
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { Button } from 'react-aria-components';
import { zoneWords } from '../../../../build/words/zone.ts';
import type { IconName } from '../../components/icon.tsx';
import { Badge } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { useFailure } from '../../components/view.tsx';
import { vehicles } from '../../service/live.ts';
import { type Configuration, useConfigurations } from './use-zone-changes.ts';

const versionsEach = 10;

const stateIcons = {
  none: 'circle-dashed',
  current: 'circle-check',
  pending: 'hourglass',
  failed: 'triangle-alert',
  fault: 'triangle-alert',
} as const satisfies Record<Configuration['state'], IconName>;
const stateTones = { current: 'ok', pending: 'busy', failed: 'look', fault: 'look' } as const;

/** One configuration in words. @param configuration undefined while it is read. */
export function Version({ configuration }: { readonly configuration: Configuration | undefined }) {
  const { zones: texts, common } = useWords(zoneWords);
  if (configuration === undefined) return <span className="muted">{common.loading}</span>;
  const { state, heldVersion, wantedVersion, reason } = configuration;
  return (
    <>
      <Badge icon={stateIcons[state]} {...(state === 'none' ? {} : { tone: stateTones[state] })}>
        {texts.heldStates[state]}
      </Badge>{' '}
      {state === 'none' ? null : (
        <span className="muted">{texts.version({ held: heldVersion, wanted: wantedVersion })}</span>
      )}
      {reason === '' ? null : <bdi className="note">{reason}</bdi>}
    </>
  );
}

/** Which vehicle has which version, ten at a time; all texts are those of the zones, which travel in the same version. */
export function Versions() {
  const { zones: texts } = useWords(zoneWords);
  const fleet = useValue(vehicles);
  const [count, setCount] = useState(versionsEach);
  // By id: the order of a live list would ask anew with every report.
  const key = [...fleet.keys()].toSorted().slice(0, count).join('\n');
  const ids = useMemo(() => (key === '' ? [] : key.split('\n')), [key]);
  const { data, error } = useConfigurations(ids);
  return (
    <div className="block">
      <h3 id="held-title">{texts.held}</h3>
      <p className="muted">{texts.heldHint}</p>
      {useFailure(error)}
      <table className="table" aria-labelledby="held-title">
        <tbody>
          {ids.map((id) => (
            <tr key={id}>
              <th scope="row">
                <Link to="/vehicle/$deviceID" params={{ deviceID: id }} search={{ tab: 'health' }}>
                  {fleet.get(id)?.name ?? id}
                </Link>
              </th>
              <td>
                <Version configuration={data?.get(id)} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {fleet.size > ids.length ? (
        <Button className="button small" onPress={() => setCount(count + versionsEach)}>
          {texts.showMore}
        </Button>
      ) : null}
    </div>
  );
}
