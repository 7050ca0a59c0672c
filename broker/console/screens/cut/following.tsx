// A cut or an unlock after it was asked for: its state in one sentence, its course with times, what the vehicle judged, and the time left. The order
// back to the safe state is in the same place from now on; closing changes nothing, "Withdraw" does.
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { Button, Heading } from 'react-aria-components';
import { cutWords } from '../../../../build/words/cut.ts';
import type { Approval, CommandRecord } from '../../api/operations.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { failureText } from '../../components/failure.ts';
import { focusInSight } from '../../components/focus-in-sight.ts';
import { Icon } from '../../components/icon.tsx';
import { Badge, Empty, Loading, Notice } from '../../components/texts.tsx';
import { useNow, useWords } from '../../components/use.ts';
import { FailureNotice } from '../../components/view.tsx';
import { call } from '../../service/call.ts';
import { useCommand, useNewestCommands, useReports, useRequests } from '../../service/orders.ts';
import { useUser } from '../../service/role.ts';
import { useSending } from '../../service/sending.ts';
import { serviceNowS } from '../../service/session.ts';
import { relayStateOf, type Vehicle } from '../../state/fleet.ts';
import {
  type Aftermath,
  aftermathOf,
  courseOf,
  courseOfRequest,
  requestState,
  type Step,
} from '../../state/orders/cut-course.ts';
import { type CutState, canWithdraw, cutStateOf, type Relay, toneOf } from '../../state/orders/cut-view.ts';
import { Agreement, SignButton } from './agreement.tsx';
import { Audit } from './audit.tsx';
import { EvidenceTable } from './evidence.tsx';
import { Countdown, Course, CutStateBadge, relayIcons, VehicleFacts } from './parts.tsx';
import type { Rehearsal } from './questions/use-rehearsal.ts';
import { RehearsalEvidence } from './rehearsal.tsx';
import { useSafeOrder } from './safe-order.tsx';
import { commandSays, requestSays, type Said } from './says.ts';
import { ServiceCode } from './service-code.tsx';
import { type Sign, useSign } from './use-sign.ts';

export interface FollowProps {
  readonly relay: Relay;
  readonly vehicle: Vehicle;
  readonly mayCommand: boolean;
  readonly rehearsal: Rehearsal;
  readonly isDown: boolean;
  close(): void;
}

/** Icons of the sentence, by how it stands. */
const icons = { busy: 'hourglass', ok: 'shield-check', look: 'triangle-alert', off: 'undo-2' } as const;

/** The sentence, announced politely while it waits, and at once when it ends. */
function Sentence({ said, state, isUndone = false }: Pick<StandProps, 'said' | 'state' | 'isUndone'>) {
  const tone = isUndone ? 'off' : toneOf(state);
  return (
    <Notice
      tone={tone === 'off' ? 'busy' : tone}
      icon={icons[tone]}
      role={tone === 'busy' ? 'status' : 'alert'}
      title={said.title}
    >
      {said.hint}
    </Notice>
  );
}

interface Withdrawal {
  readonly commandID: string;
  /** Empty for a command. */
  readonly approvalID: string;
}

/** `withdraw` does nothing while a withdrawal is on its way. */
function useWithdraw({ commandID, approvalID }: Withdrawal) {
  const queries = useQueryClient();
  const { send, failure, isBusy } = useSending({
    mutationKey: ['withdraw', commandID, approvalID],
    mutationFn: async (): Promise<void> => {
      if (commandID !== '') await call('cancelCommand', { body: { commandID } });
      else await call('withdrawCommand', { body: { approvalID } });
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['orders'] }),
  });
  return { withdraw: (): void => send(), failure, isBusy };
}

/** The second click of a double click on the button that asked for the cut comes no later than this, ms. */
const doubleClickMs = 500;

/** Whether the component has stood for less than a double click. */
function useIsNew(): boolean {
  const [isNew, setIsNew] = useState(true);
  useEffect(() => {
    const timer = setTimeout(() => setIsNew(false), doubleClickMs);
    return () => clearTimeout(timer);
  }, []);
  return isNew;
}

interface StandProps extends FollowProps {
  readonly state: CutState;
  /** Carried out, and taken back since. */
  readonly isUndone?: boolean;
  readonly said: Said;
  readonly steps: readonly Step[];
  readonly reason: string;
  readonly record: CommandRecord | null;
  readonly request: Approval | null;
  /** Of a request that persons sign. */
  readonly sign?: Sign;
}

const withdrawalOf = ({ record, request }: StandProps): Withdrawal => ({
  commandID: record?.commandID ?? '',
  approvalID: request?.approvalID ?? '',
});

function Actions(props: StandProps & { readonly withdrawal: ReturnType<typeof useWithdraw> }) {
  const { relay, vehicle, mayCommand, state, record, request, sign, isDown, withdrawal, close } = props;
  const { order: texts, orders, common } = useWords(cutWords);
  const back = useSafeOrder(relay, vehicle);
  const user = useUser();
  const first = useRef<HTMLButtonElement>(null);
  // The button to withdraw stands where the one that asked was, and is shown as off until no second click can come.
  const isNew = useIsNew();
  const isOwn = request?.requestedBy === user?.userID;
  const isOpen =
    record === null ? state === 'approval' && (isOwn || user?.roleID === 'admin') : canWithdraw(record);
  // What had the focus is gone when the form became this screen.
  useEffect(() => focusInSight(first.current), []);
  return (
    <>
      {back.outcome === null ? null : <div className="body">{back.outcome}</div>}
      <footer>
        <p>
          {record === null && isOwn && state === 'approval' && request?.signing === null
            ? texts.ownRequest
            : isOpen
              ? texts.withdrawHint
              : ''}
        </p>
        <Button className="button secondary" ref={first} onPress={close}>
          {common.close}
        </Button>
        {mayCommand && relay === 'enginecutoff' ? <ServiceCode vehicle={vehicle} /> : null}
        {mayCommand ? back.button : null}
        {mayCommand && isOpen ? (
          <ActionButton
            className="button secondary"
            isOff={isDown || isNew || withdrawal.isBusy}
            onPress={withdrawal.withdraw}
          >
            <Icon name="undo-2" />
            {orders[relay].withdraw}
          </ActionButton>
        ) : null}
        {mayCommand && sign !== undefined ? <SignButton sign={sign} isOff={isDown || isNew} /> : null}
      </footer>
    </>
  );
}

/** What the vehicle judged: of this order, else of one that it was asked about before. */
function Proof({
  relay,
  record,
  rehearsal,
  vehicle,
  isDown,
  isLive,
}: StandProps & { readonly isLive: boolean }) {
  const { order: texts } = useWords(cutWords);
  const verdict = record?.verdict ?? null;
  if (verdict !== null) return <EvidenceTable relay={relay} verdict={verdict} caption={texts.proofOf} />;
  if (!isLive) return <p className="muted">{texts.noVerdict}</p>;
  return (
    <RehearsalEvidence
      relay={relay}
      rehearsal={rehearsal}
      isOnline={vehicle.isOnline !== false}
      isDown={isDown}
    />
  );
}

function Stand(props: StandProps) {
  const words = useWords(cutWords);
  const { common } = words;
  const { order: texts, orders } = words;
  const {
    relay,
    vehicle,
    state,
    isUndone = false,
    said,
    steps,
    reason,
    record,
    request,
    sign,
    close,
  } = props;
  const user = useUser();
  const withdrawal = useWithdraw(withdrawalOf(props));
  const failure =
    withdrawal.failure === null ? null : failureText(withdrawal.failure, words, orders[relay].withdrawFailed);
  const isLive = toneOf(state) === 'busy';
  const ends = record?.expires ?? request?.expires ?? 0;
  const began = request?.requested ?? record?.issued ?? 0;
  // The longer of the two columns has the evidence, where there is some.
  const hasProof = isLive || (record?.verdict ?? null) !== null;
  const now = (
    <section className="stack" aria-label={texts.now}>
      <h3>{texts.now}</h3>
      <VehicleFacts vehicle={vehicle} relay={relay} />
    </section>
  );
  return (
    <>
      <header>
        <Icon name={relayIcons[relay]} isLarge />
        <Heading slot="title">{words.relays[relay].title({ vehicle: vehicle.name })}</Heading>
        {isUndone ? (
          <Badge icon="undo-2">{orders[relay].after.badge}</Badge>
        ) : (
          <CutStateBadge state={state} />
        )}
        <Button
          className="button square small push"
          aria-label={isLive ? orders[relay].closeGoesOn : common.close}
          onPress={close}
        >
          <Icon name="x" />
        </Button>
      </header>
      <div className="body">
        <Sentence said={said} state={state} isUndone={isUndone} />
        <FailureNotice failure={failure} />
        {request === null || sign === undefined ? null : (
          <Agreement {...{ request, relay, sign }} name={vehicle.name} />
        )}
        <div className="halves">
          <div className="stack">
            <Course relay={relay} steps={steps} reason={reason} />
            {hasProof ? now : null}
          </div>
          <div className="stack">
            <Proof {...props} isLive={isLive} />
            {hasProof ? null : now}
          </div>
        </div>
        {isLive && ends > 0 ? <Countdown relay={relay} began={began} ends={ends} /> : null}
        <Audit
          deviceID={vehicle.id}
          ids={[record?.commandID ?? '', request?.approvalID ?? record?.approvalID ?? '']}
          role={user?.roleID ?? ''}
        />
      </div>
      <Actions {...props} withdrawal={withdrawal} />
    </>
  );
}

interface AbsentProps {
  readonly relay: Relay;
  readonly error: unknown;
  close(): void;
}

/** What stands in place of an order that is not there yet, or not at all. */
function Absent({ relay, error, close }: AbsentProps) {
  const words = useWords(cutWords);
  return (
    <>
      <header>
        <Icon name={relayIcons[relay]} isLarge />
        <Heading slot="title">{words.relays[relay].open}</Heading>
        <Button
          className="button square small push"
          aria-label={words.common.close}
          onPress={close}
          autoFocus
        >
          <Icon name="x" />
        </Button>
      </header>
      <div className="body">
        {error === null ? (
          <Loading rows={4} />
        ) : (
          <Empty icon="circle-help" title={words.orders[relay].notFound}>
            <p>{failureText(error, words).title}</p>
          </Empty>
        )}
      </div>
    </>
  );
}

const isOf = (
  { deviceID, feature, state }: Pick<CommandRecord, 'deviceID' | 'feature' | 'state'>,
  relay: Relay,
  vehicleID: string,
): boolean => deviceID === vehicleID && feature === relay && state === '1';

export function FollowCommand({ commandID, ...props }: FollowProps & { readonly commandID: string }) {
  const words = useWords(cutWords);
  const { data: record, error } = useCommand(commandID);
  const requests = useRequests('all', record !== undefined && record.approvalID !== '');
  const reports = useReports(
    {
      deviceID: props.vehicle.id,
      commandID,
      issued: record?.issued ?? 0,
      stamp: `${record?.commandState ?? ''} ${record?.updated ?? 0}`,
    },
    record !== undefined,
  );
  const { relay, vehicle, close } = props;
  const commands = useNewestCommands(vehicle.id, record?.hasEnded === true);
  // Judged anew each second.
  useNow();
  // A command of another vehicle or relay has no place on this page, and an order back has its place on the vehicle's.
  if (record === undefined || !isOf(record, relay, vehicle.id))
    return <Absent relay={relay} error={record === undefined ? error : new Error(commandID)} close={close} />;
  const request = requests.data?.find(({ approvalID }) => approvalID === record.approvalID) ?? null;
  const after: Aftermath = record.hasEnded
    ? aftermathOf(record, commands, { read: relayStateOf(vehicle, relay), nowS: serviceNowS() })
    : { kind: 'holds', by: '', at: null };
  const isUndone = after.kind === 'undone';
  const undone: Step = { name: 'undone', kind: 'good', at: after.at, ownAt: null, by: after.by };
  return (
    <Stand
      {...props}
      state={cutStateOf(record.commandState)}
      isUndone={isUndone}
      said={commandSays(record, { vehicle: vehicle.name, relay, after }, words)}
      steps={[...courseOf(record, request, reports), ...(isUndone ? [undone] : [])]}
      reason={record.reason}
      record={record}
      request={request}
    />
  );
}

interface FollowRequestProps extends FollowProps {
  readonly approvalID: string;
  /** The request was approved and gave this command. */
  onCommand(commandID: string): void;
}

export function FollowRequest({ approvalID, onCommand, ...props }: FollowRequestProps) {
  const words = useWords(cutWords);
  const { data: requests, error } = useRequests('all');
  const request = requests?.find((one) => one.approvalID === approvalID);
  const commandID = request?.commandID ?? '';
  useEffect(() => {
    if (commandID !== '') onCommand(commandID);
  }, [commandID, onCommand]);
  const { relay, vehicle, close } = props;
  const sign = useSign({ request, relay, onCommand });
  if (request === undefined || !isOf(request, relay, vehicle.id))
    return (
      <Absent
        relay={relay}
        error={error ?? (requests === undefined ? null : new Error(approvalID))}
        close={close}
      />
    );
  return (
    <Stand
      {...props}
      state={requestState(request)}
      said={requestSays(request, { relay, isOn: relayStateOf(vehicle, relay) === '1' }, words)}
      steps={courseOfRequest(request)}
      reason={request.reason}
      record={null}
      request={request}
      {...(request.signing === null ? {} : { sign })}
    />
  );
}
