// What the unit is asked: its health, its position, its log. The list shows what came of it; reading a log is recorded.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import { Button } from 'react-aria-components';
import { tabWords } from '../../../../build/words/tab.ts';
import type { UnitRequest } from '../../api/operations.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Icon } from '../../components/icon.tsx';
import { Empty, Loading, Time } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { useFailure, View } from '../../components/view.tsx';
import { call } from '../../service/call.ts';
import { connection } from '../../service/live.ts';
import { useRole } from '../../service/role.ts';
import { useOwnEvents } from './use-own-events.ts';

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

export function UnitRequests(props: UnitRequestsProps) {
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
