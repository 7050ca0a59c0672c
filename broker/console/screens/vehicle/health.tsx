// Health of the unit: its connection, its newest report in full, what is fitted, and what it can be asked.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useCallback, useState } from 'react';
import { Button } from 'react-aria-components';
import { tabWords } from '../../../../build/words/tab.ts';
import { presenceOf } from '../../../../src/core/presence.ts';
import type { Device, Result, UnitRequest } from '../../api/operations.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Icon } from '../../components/icon.tsx';
import { Age, Badge, Empty, Loading, Notice, numberText, Time } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { useFailure, View } from '../../components/view.tsx';
import { call } from '../../service/call.ts';
import { connection } from '../../service/live.ts';
import { useRole } from '../../service/role.ts';
import { useOwnEvents } from './use-own-events.ts';

// What the unit is asked: its health, its position, its log. The list shows what came of it; reading a log is recorded.

const kinds = ['diagnostic', 'position', 'log'] as const;
type Kind = (typeof kinds)[number];

/** What was asked last comes first; more are in the audit log. */
const rowsMost = 10;

function Asking({ deviceID, isOnline }: UnitRequestsProps) {
  const { health: texts, stream } = useWords(tabWords);
  const queries = useQueryClient();
  const { state } = useValue(connection);
  const asking = useMutation({
    mutationFn: (kind: Kind) => call('requestDiagnostic', { body: { deviceID, kind } }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['requests', deviceID] }),
  });
  const failure = useFailure(asking.error, texts.notAsked);
  const isDown = state !== 'live';
  return (
    <div className="stack">
      <div className="row wrap">
        {kinds.map((kind) => (
          <ActionButton
            key={kind}
            className="button secondary"
            isOff={isDown || asking.isPending}
            onPress={() => asking.mutate(kind)}
          >
            {texts.ask[kind]}
          </ActionButton>
        ))}
      </div>
      {isDown ? <p className="muted">{stream.commandsOff}</p> : null}
      {isOnline === false ? <p className="muted">{texts.offline}</p> : null}
      {failure}
    </div>
  );
}

/** The log that a unit sent, as its lines are. */
function Log({ requestID }: { readonly requestID: string }) {
  const { health: texts } = useWords(tabWords);
  const { data, error } = useQuery({
    queryKey: ['log', requestID],
    queryFn: ({ signal }) => call('readLog', { params: { requestID }, signal }),
    // Every reading is recorded: it is read when it is asked for, and not again by itself.
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  const failure = useFailure(error);
  if (data === undefined) return failure ?? <Loading rows={4} />;
  return (
    <div className="stack">
      {data.isWhole ? null : (
        <p className="muted">{texts.parts({ received: data.received, all: data.parts })}</p>
      )}
      <pre className="log" dir="ltr" tabIndex={0} aria-label={texts.log}>
        {data.log}
      </pre>
    </div>
  );
}

function RequestRow({ request }: { readonly request: UnitRequest }) {
  const { health: texts } = useWords(tabWords);
  const [isOpen, setOpen] = useState(false);
  const { requestID, kind, requestState, hasEnded, detail, issuer, issued, answered, parts } = request;
  const names: Readonly<Record<string, string>> = texts.kinds;
  const states: Readonly<Record<string, string>> = texts.requestStates;
  const isAnswered = requestState === 'answered';
  const hasLog = kind === 'log' && (isAnswered || parts > 0);
  return (
    <li className="stack tight">
      <div className="row wrap">
        <span className={isAnswered ? 'tick' : hasEnded ? 'cross' : 'unknown'}>
          <Icon name={isAnswered ? 'circle-check' : hasEnded ? 'circle-x' : 'hourglass'} />
        </span>
        <span className="strong">{names[kind] ?? kind}</span>
        <span>{states[requestState] ?? requestState}</span>
        {detail === '' ? null : <span className="muted mono">{detail}</span>}
        <span className="muted">{issuer}</span>
        <span className="faint push">
          <Time at={answered === 0 ? issued : answered} />
        </span>
      </div>
      {hasLog ? (
        <div className="row wrap">
          <Button className="button small" aria-expanded={isOpen} onPress={() => setOpen(!isOpen)}>
            {isOpen ? texts.hideLog : texts.showLog}
          </Button>
          <span className="faint">{texts.logRecorded}</span>
        </div>
      ) : null}
      {isOpen ? <Log requestID={requestID} /> : null}
    </li>
  );
}

interface UnitRequestsProps {
  readonly deviceID: string;
  /** Null until it is known. */
  readonly isOnline: boolean | null;
}

function UnitRequests(props: UnitRequestsProps) {
  const { deviceID } = props;
  const { health: texts } = useWords(tabWords);
  const role = useRole();
  const isForbidden = role === 'viewer';
  const isAllowed = role !== '' && !isForbidden;
  const { data, error, dataUpdatedAt, refetch } = useQuery({
    queryKey: ['requests', deviceID],
    queryFn: ({ signal }) => call('listRequests', { params: { deviceID }, signal }),
    enabled: isAllowed,
    refetchInterval: 5000,
  });
  // An answer comes as an event.
  const readAgain = useCallback(async () => (isAllowed ? refetch() : null), [isAllowed, refetch]);
  useOwnEvents(deviceID, readAgain);
  return (
    <section className="card whole-row" aria-labelledby="requests-title">
      <header>
        <h2 id="requests-title">{texts.requests}</h2>
      </header>
      {isForbidden ? (
        <Empty icon="lock" title={texts.viewer} />
      ) : (
        <div className="card-body stack">
          <Asking {...props} />
          <View
            error={error}
            readMs={dataUpdatedAt}
            empty={data?.requests.length === 0 ? <p className="muted">{texts.noRequests}</p> : null}
          >
            <ul className="stack">
              {data?.requests.slice(0, rowsMost).map((request) => (
                <RequestRow key={request.requestID} request={request} />
              ))}
            </ul>
          </View>
        </div>
      )}
    </section>
  );
}

type Health = Result<'diagnostic'>;

/** Events that wait on the unit for longer than the link was away are worth a look from here on. */
const queueLook = 100;

function Pair({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function Connection({ health }: { readonly health: Health }) {
  const { health: texts, vehicle, state, common } = useWords(tabWords);
  const clocks: Readonly<Record<string, string>> = texts.clocks;
  return (
    <section className="card" aria-labelledby="link-title">
      <header>
        <h2 id="link-title">{vehicle.unit}</h2>
        <span className="push">
          <Badge icon={health.online ? 'signal' : 'wifi-off'} {...(health.online ? { tone: 'ok' } : {})}>
            {state[presenceOf({ isOnline: health.online, heartbeatS: health.lastHeartbeat }) ?? 'offline']}
          </Badge>
        </span>
      </header>
      <dl className="card-body pairs">
        <Pair name={vehicle.lastReported}>
          <Age at={health.lastHeartbeat} />
        </Pair>
        <Pair name={texts.connected}>
          <Age at={health.lastHello} />
        </Pair>
        <Pair name={vehicle.lastFix}>{health.lastFix === 0 ? common.none : <Age at={health.lastFix} />}</Pair>
        <Pair name={vehicle.program}>{health.agentVersion || common.unknown}</Pair>
        <Pair name={texts.boot}>
          <span className="mono">{health.boot ?? common.unknown}</span>
        </Pair>
        <Pair name={vehicle.clock}>
          {clocks[health.timeQuality] ?? (health.timeQuality || common.unknown)}
        </Pair>
        {health.overLimit === null ? null : (
          <Pair name={texts.overLimit}>{texts.tooFast({ count: health.overLimit })}</Pair>
        )}
      </dl>
    </section>
  );
}

/** What has a place of its own in the report; the rest is listed under the unit's own names. */
const ownMembers: ReadonlySet<string> = new Set(['queueDepth', 'voltage', 'gps', 'disk']);

function OtherValues({ health }: { readonly health: Health }) {
  const { health: texts } = useWords(tabWords);
  const others = Object.entries(health.diagnostic).filter(([name]) => !ownMembers.has(name));
  if (others.length === 0) return null;
  return (
    <details>
      <summary>{texts.others({ count: others.length })}</summary>
      <dl className="pairs">
        {others.map(([name, value]) => (
          <Pair key={name} name={name}>
            <bdi className="mono">{typeof value === 'string' ? value : JSON.stringify(value)}</bdi>
          </Pair>
        ))}
      </dl>
    </details>
  );
}

function Report({ health }: { readonly health: Health }) {
  const { health: texts, vehicle, units, common } = useWords(tabWords);
  const receivers: Readonly<Record<string, string>> = texts.receivers;
  const { queueDepth, voltage, gps, disk, diagnosticTime } = health;
  const amount = (value: Health['voltage'], unit: string): string =>
    typeof value === 'number'
      ? `${numberText(value, Number.isInteger(value) ? 0 : 1)} ${unit}`
      : common.unknown;
  return (
    <section className="card" aria-labelledby="report-title">
      <header>
        <h2 id="report-title">{texts.report}</h2>
        {diagnosticTime === 0 ? null : (
          <span className="push faint">
            <Age at={diagnosticTime} />
          </span>
        )}
      </header>
      {diagnosticTime === 0 ? (
        <Empty icon="activity" title={texts.noReport}>
          <p>{texts.noReportHint}</p>
        </Empty>
      ) : (
        <div className="card-body stack">
          {typeof queueDepth === 'number' && queueDepth >= queueLook ? (
            <Notice tone="look" icon="circle-alert" title={vehicle.waiting({ count: queueDepth })} />
          ) : null}
          <dl className="pairs">
            <Pair name={vehicle.queue}>
              {typeof queueDepth === 'number' ? vehicle.waiting({ count: queueDepth }) : common.unknown}
            </Pair>
            <Pair name={vehicle.supply}>
              <bdi>{amount(voltage, units.volts)}</bdi>
            </Pair>
            <Pair name={texts.receiver}>
              {gps === null ? common.unknown : (receivers[String(gps)] ?? String(gps))}
            </Pair>
            <Pair name={texts.disk}>
              <bdi>{amount(disk, texts.mebibytes)}</bdi>
            </Pair>
          </dl>
          <OtherValues health={health} />
          <p className="faint">
            {texts.reportedAt} <Time at={diagnosticTime} />
          </p>
        </div>
      )}
    </section>
  );
}

function Fitted({ health: { features, sensors } }: { readonly health: Health }) {
  const { health: texts } = useWords(tabWords);
  const names: Readonly<Record<string, string>> = texts.fittedNames;
  const list = (of: readonly string[]) => (
    <ul className="row wrap">
      {of.map((name) => (
        <li key={name}>
          <Badge icon="circle-check">{names[name] ?? name}</Badge>
        </li>
      ))}
    </ul>
  );
  return (
    <section className="card" aria-labelledby="fitted-title">
      <header>
        <h2 id="fitted-title">{texts.fitted}</h2>
      </header>
      <div className="card-body stack">
        <h3>{texts.relays}</h3>
        {features.length === 0 ? <p className="muted">{texts.noneFitted}</p> : list(features)}
        <h3>{texts.inputs}</h3>
        {sensors.length === 0 ? <p className="muted">{texts.noneFitted}</p> : list(sensors)}
      </div>
    </section>
  );
}

export function VehicleHealth({ device }: { readonly device: Device }) {
  const { deviceID } = device;
  const { data, error } = useQuery({
    queryKey: ['diagnostic', deviceID],
    queryFn: ({ signal }) => call('diagnostic', { params: { deviceID }, signal }),
    refetchInterval: 15_000,
  });
  return (
    <div className="thirds">
      {data === undefined ? (
        <section className="card">
          <View error={error} isLoaded={false} empty={null}>
            {null}
          </View>
        </section>
      ) : (
        <>
          <Connection health={data} />
          <Report health={data} />
          <Fitted health={data} />
        </>
      )}
      <UnitRequests deviceID={deviceID} isOnline={data?.online ?? null} />
    </div>
  );
}
