// The table of devices: what each is, its link and the health that its unit reported.

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { Checkbox } from 'react-aria-components';
import { deviceWords } from '../../../../build/words/device.ts';
import { presenceOf } from '../../../../src/core/presence.ts';
import { Icon } from '../../components/icon.tsx';
import { OrNone } from '../../components/patterns/detail.tsx';
import { byText, Table } from '../../components/patterns/list-detail.tsx';
import { Age, Badge, numberText } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import { type DeviceRow } from './device-rows.ts';

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

/** Null: this user picks no devices. */
export type Picks = { readonly ids: ReadonlySet<string>; toggle(deviceID: string): void } | null;

interface NameProps {
  readonly row: DeviceRow;
  readonly picks: Picks;
}

function Name({ row: { id, name, description }, picks }: NameProps) {
  const { devices: texts } = useWords(deviceWords);
  return (
    <div className="row">
      {picks === null ? null : (
        <Checkbox
          className="radio check"
          aria-label={texts.many.pick({ name })}
          isSelected={picks.ids.has(id)}
          onChange={() => picks.toggle(id)}
        >
          <span className="box">
            <Icon name="check" />
          </span>
        </Checkbox>
      )}
      <div>
        <Link to="/vehicle/$deviceID" params={{ deviceID: id }} search={{ tab: 'device' }}>
          {name}
        </Link>
        <span className="note">{name === id ? description : id}</span>
      </div>
    </div>
  );
}

interface DeviceTableProps {
  readonly rows: readonly DeviceRow[];
  /** Rows that are shown. */
  readonly most: number;
  readonly picks: Picks;
  /** The filter that the reader chose. */
  readonly scope: string;
}

export function DeviceTable({ rows, most, picks, scope }: DeviceTableProps) {
  const { devices: texts, common } = useWords(deviceWords);
  const health = useHealth();
  const { columns } = texts;
  const unknown = <span className="muted">{common.unknown}</span>;
  const versionOf = ({ id }: DeviceRow): string => health.get(id)?.agentVersion ?? '';
  // Below every number: what is not known is not zero.
  const queueOf = ({ id }: DeviceRow): number => {
    const queue = health.get(id)?.queueDepth;
    return typeof queue === 'number' ? queue : -1;
  };
  return (
    <Table
      className="devices"
      caption={texts.caption}
      items={rows}
      most={most}
      scope={scope}
      keyOf={({ id }) => id}
      columns={[
        {
          name: columns.device,
          cell: (row) => <Name row={row} picks={picks} />,
          order: byText(({ name }) => name),
        },
        { name: columns.link, isBare: true, cell: (row) => <LinkBadge row={row} /> },
        {
          name: columns.lastReport,
          cell: ({ heartbeatS }) => <Age at={heartbeatS} />,
          order: (one, other) => one.heartbeatS - other.heartbeatS,
        },
        {
          name: columns.driver,
          cell: ({ driver }) => <OrNone>{driver}</OrNone>,
          order: byText(({ driver }) => driver),
        },
        { name: columns.unique, cell: ({ unique }) => <OrNone>{unique}</OrNone> },
        {
          name: columns.program,
          cell: (row) => (versionOf(row) === '' ? unknown : <bdi>{versionOf(row)}</bdi>),
          order: byText(versionOf),
        },
        {
          name: columns.queue,
          isNum: true,
          cell(row) {
            const queue = queueOf(row);
            if (queue < 0) return unknown;
            return <span className={queue >= queueLook ? 'look strong' : ''}>{numberText(queue)}</span>;
          },
          order: (one, other) => queueOf(one) - queueOf(other),
        },
      ]}
    />
  );
}
