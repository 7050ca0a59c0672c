// The table of devices: what each is, its link and the health that its unit reported.

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { Checkbox } from 'react-aria-components';
import { deviceWords } from '../../../../build/words/device.ts';
import { presenceOf } from '../../../../src/core/presence.ts';
import { Icon } from '../../components/icon.tsx';
import { Age, Badge, numberText } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import { type DeviceRow } from '../../state/device-view.ts';

/** The reports of all units are a long answer. */
const healthStaleMs = 60_000;
/** Events that wait on the unit are worth a look from here on, as on the page of the vehicle. */
const queueLook = 100;

export function LinkBadge({ row }: { readonly row: DeviceRow }) {
  const { devices: texts, common } = useWords(deviceWords);
  const link = presenceOf(row);
  if (link === null) return <Badge icon="circle-help">{common.unknown}</Badge>;
  if (link === 'online')
    return (
      <Badge icon="signal" tone="ok">
        {texts.filters.online}
      </Badge>
    );
  return <Badge icon={link === 'never' ? 'circle-dashed' : 'wifi-off'}>{texts.filters[link]}</Badge>;
}

function useHealth() {
  const { data } = useQuery({
    queryKey: ['diagnostics'],
    queryFn: ({ signal }) => call('diagnosticAll', { signal }),
    staleTime: healthStaleMs,
  });
  return useMemo(() => new Map(data?.diagnostics.map((one) => [one.deviceID, one] as const)), [data]);
}

type Health = ReturnType<typeof useHealth> extends ReadonlyMap<string, infer T> ? T : never;

/** Null: this user picks no devices. */
export type Picks = { readonly ids: ReadonlySet<string>; toggle(deviceID: string): void } | null;

interface RowProps {
  readonly row: DeviceRow;
  readonly health: Health | undefined;
  readonly picks: Picks;
}

function Row({ row, health, picks }: RowProps) {
  const { devices: texts, common } = useWords(deviceWords);
  const queue = health?.queueDepth;
  return (
    <tr>
      <th scope="row">
        <div className="row">
          {picks === null ? null : (
            <Checkbox
              className="radio check"
              aria-label={texts.many.pick({ name: row.name })}
              isSelected={picks.ids.has(row.id)}
              onChange={() => picks.toggle(row.id)}
            >
              <span className="box">
                <Icon name="check" />
              </span>
            </Checkbox>
          )}
          <div>
            <Link to="/devices/$deviceID" params={{ deviceID: row.id }}>
              {row.name}
            </Link>
            <span className="note">{row.name === row.id ? row.description : row.id}</span>
          </div>
        </div>
      </th>
      <td>
        <LinkBadge row={row} />
      </td>
      <td data-label={texts.columns.lastReport}>
        <Age at={row.heartbeatS} />
      </td>
      <td data-label={texts.columns.driver}>{row.driver || <span className="muted">{common.none}</span>}</td>
      <td data-label={texts.columns.unique}>
        {row.unique === '' ? (
          <span className="muted">{common.none}</span>
        ) : (
          <bdi className="mono">{row.unique}</bdi>
        )}
      </td>
      <td data-label={texts.columns.program}>
        {health === undefined || health.agentVersion === '' ? (
          <span className="muted">{common.unknown}</span>
        ) : (
          <bdi>{health.agentVersion}</bdi>
        )}
      </td>
      <td className="num" data-label={texts.columns.queue}>
        {typeof queue === 'number' ? (
          <span className={queue >= queueLook ? 'look strong' : ''}>{numberText(queue)}</span>
        ) : (
          <span className="muted">{common.unknown}</span>
        )}
      </td>
    </tr>
  );
}

export function DeviceTable({ rows, picks }: { readonly rows: readonly DeviceRow[]; readonly picks: Picks }) {
  const { devices: texts } = useWords(deviceWords);
  const health = useHealth();
  const { device, link, lastReport, driver, unique, program, queue } = texts.columns;
  return (
    <div className="scroll">
      <table className="table folds devices">
        <caption className="hidden">{texts.caption}</caption>
        <thead>
          <tr>
            {[device, link, lastReport, driver, unique, program].map((name) => (
              <th scope="col" key={name}>
                {name}
              </th>
            ))}
            <th scope="col" className="num">
              {queue}
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={row.id} row={row} health={health.get(row.id)} picks={picks} />
          ))}
        </tbody>
      </table>
    </div>
  );
}
