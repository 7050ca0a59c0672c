// The groups of the page of the operator that are about the work of the service: itself, what waits, connections, errors.
import type { StatusView } from '../api/operations.ts';
import { oldestOf } from '../state/operator/operator-state.ts';
import { Fact, Facts, Group, Note, Rows, useValues } from './values.tsx';
import { useTexts, wordOf } from './words.ts';

interface GroupOf {
  readonly view: StatusView;
}

export function ServiceGroup({ view: { service } }: GroupOf) {
  const texts = useTexts();
  const { time } = useValues();
  const isReady = service.checks.every(({ fault }) => fault === '');
  return (
    <Group id="service" title={texts.groups.service}>
      <Facts>
        <Fact name={texts.ready}>{isReady ? texts.isReady : texts.isNotReady}</Fact>
        <Fact name={texts.version}>{service.version}</Fact>
        <Fact name={texts.started} atS={service.startedAtS}>
          {time(service.startedAtS)}
        </Fact>
        <Fact name={texts.database}>{texts.databases[service.database]}</Fact>
        <Fact name={texts.ingress}>{texts.ingresses[service.ingress]}</Fact>
        <Fact name={texts.runs}>{`Node ${service.nodeVersion}`}</Fact>
      </Facts>
    </Group>
  );
}

export function QueuesGroup({ view }: GroupOf) {
  const texts = useTexts();
  const { count, span } = useValues();
  const { queues } = view;
  const oldest = oldestOf(view);
  return (
    <Group id="queues" title={texts.groups.queues} atS={queues?.atS ?? null}>
      <p>
        {oldest === null
          ? texts.nothingWaits
          : texts.oldestOf({ what: texts.queues[oldest.name], span: span(oldest.oldestS) })}
      </p>
      <Rows
        caption={texts.groups.queues}
        items={queues?.listed ?? []}
        keyOf={({ name }) => name}
        columns={[
          { name: texts.what, cell: ({ name }) => texts.queues[name] },
          { name: texts.waiting, isNumber: true, cell: ({ waiting }) => count(waiting) },
          {
            name: texts.oldestAge,
            isNumber: true,
            cell: ({ waiting, oldestS }) => (waiting === 0 ? texts.none : span(oldestS)),
          },
        ]}
      />
    </Group>
  );
}

export function ConnectionsGroup({ view: { connections, accounts, service } }: GroupOf) {
  const texts = useTexts();
  const { count, ago } = useValues();
  // Behind a cluster the database knows which vehicles are connected.
  const age = service.ingress === 'cluster' ? { atS: accounts?.atS ?? null } : {};
  return (
    <Group id="connections" title={texts.groups.connections} {...age}>
      <Facts>
        <Fact name={texts.vehicles}>{count(connections.devices)}</Fact>
        <Fact name={texts.vehiclesWaiting}>{count(connections.devicesWaiting)}</Fact>
        <Fact name={texts.apps}>{count(connections.apps)}</Fact>
        <Fact name={texts.streams}>{count(connections.streams)}</Fact>
      </Facts>
      {connections.refused.length === 0 ? (
        <Note>{texts.noneRefused}</Note>
      ) : (
        <Rows
          caption={texts.refused}
          items={connections.refused}
          keyOf={({ name }) => name}
          columns={[
            { name: texts.refused, cell: ({ name }) => wordOf(texts.refusals, name) },
            { name: texts.lastHour, isNumber: true, cell: ({ lastHour }) => count(lastHour) },
            { name: texts.last, isNumber: true, cell: ({ lastAtS }) => ago(lastAtS) },
          ]}
        />
      )}
    </Group>
  );
}

export function ErrorsGroup({ view: { errors, timestamp } }: GroupOf) {
  const texts = useTexts();
  const { count, ago, span } = useValues();
  return (
    <Group id="errors" title={texts.groups.errors}>
      <Note>{texts.counted({ span: span(timestamp - errors.sinceAtS) })}</Note>
      {errors.listed.length === 0 ? (
        <p>{texts.noErrors}</p>
      ) : (
        <Rows
          caption={texts.groups.errors}
          items={errors.listed}
          keyOf={({ name, level }) => `${level} ${name}`}
          columns={[
            { name: texts.event, cell: ({ name }) => <code lang="en">{name}</code> },
            { name: texts.severity, cell: ({ level }) => texts.severities[level] },
            { name: texts.times, isNumber: true, cell: ({ lastHour }) => count(lastHour) },
            { name: texts.last, isNumber: true, cell: ({ lastAtS }) => ago(lastAtS) },
          ]}
        />
      )}
    </Group>
  );
}

/** The bridges behind a cluster, and which of them does the work of all. */
export function BridgesGroup({ view: { bridges, leases, service } }: GroupOf) {
  const texts = useTexts();
  const { ago, span } = useValues();
  if (service.ingress === 'own') return null;
  return (
    <Group id="bridges" title={texts.groups.bridges} atS={bridges?.atS ?? null}>
      <Rows
        caption={texts.groups.bridges}
        items={(bridges?.listed ?? []).map((bridge, at) => ({ ...bridge, at }))}
        keyOf={({ at }) => String(at)}
        columns={[
          { name: texts.bridge, cell: ({ address }) => address || texts.local },
          { name: texts.since, isNumber: true, cell: ({ sinceAtS }) => ago(sinceAtS) },
        ]}
      />
      <Rows
        caption={texts.work}
        items={leases}
        keyOf={({ name }) => name}
        columns={[
          { name: texts.work, cell: ({ name }) => wordOf(texts.works, name) },
          {
            name: texts.holder,
            cell: ({ holder, isOwn }) =>
              holder === '' ? texts.noHolder : isOwn ? texts.own({ id: holder }) : holder,
          },
          { name: texts.sign, isNumber: true, cell: ({ silentS }) => span(silentS) },
        ]}
      />
    </Group>
  );
}
