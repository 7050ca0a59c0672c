// One request as the second person sees it: who asked and why, the vehicle as it is now and not as it was, and the two decisions.
import { Link, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useId } from 'react';
import { Input, Label, TextField } from 'react-aria-components';
import { cutWords } from '../../../../build/words/cut.ts';
import type { Approval, Result } from '../../api/operations.ts';
import { failureText } from '../../components/failure.ts';
import { Icon } from '../../components/icon.tsx';
import { Age, Badge, codeText, Notice, spanText, Time, timeText } from '../../components/texts.tsx';
import { useNow, useValue, useWords } from '../../components/use.ts';
import { FailureNotice } from '../../components/view.tsx';
import { connection, vehicles } from '../../service/live.ts';
import { useUser } from '../../service/role.ts';
import { noVehicle, type Vehicle } from '../../state/fleet.ts';
import { cutText, orderSearch, type Relay, relayOf } from '../../state/orders/cut-view.ts';
import { missingOf, waitsForSecond } from '../../state/orders/signing.ts';
import { Agreement, SignButton } from '../cut/agreement.tsx';
import { breakerText } from '../cut/order-times.ts';
import { relayIcons, VehicleFacts } from '../cut/parts.tsx';
import { ProofField, usePersonProof } from '../cut/proof-field.tsx';
import { useRehearsal } from '../cut/questions/use-rehearsal.ts';
import { RehearsalEvidence } from '../cut/rehearsal.tsx';
import { useSafeOrder } from '../cut/safe-order.tsx';
import { type Sign, useSign } from '../cut/use-sign.ts';
import { reasonWords } from '../cut/verdict-words.ts';
import { useDecide } from './use-decide.ts';

type Limits = Result<'commandLimits'>;
/** Relay of the order that a request is about. */
const relayIn = ({ feature }: Approval): Relay => relayOf(feature) ?? 'enginecutoff';
/** An answer that takes longer may not come, s. */
const usualS = 2;

type Standing = 'yours' | 'own' | 'viewer' | 'new';

/** @param limits undefined while they are not known; viewers have none. */
function standingOf(request: Approval, user: { userID: string; roleID: string }, limits?: Limits): Standing {
  if (request.requestedBy === user.userID) return 'own';
  if (user.roleID === 'viewer') return 'viewer';
  // Any operator may bring the agreement of a person of the owner's list.
  if (request.signing !== null && missingOf(request.signing) > 0) return 'yours';
  return limits?.isSecondPerson === false ? 'new' : 'yours';
}

function Asked({ request, vehicle }: { readonly request: Approval; readonly vehicle: Vehicle }) {
  const words = useWords(cutWords);
  const { approvals: texts, order } = words;
  const relay = relayIn(request);
  return (
    <>
      <h3>{texts.asked}</h3>
      <dl className="pairs">
        <dt>{texts.by}</dt>
        <dd>{request.requestedBy}</dd>
        <dt>{texts.at}</dt>
        <dd>
          <Time at={request.requested} />{' '}
          <span className="age">
            <Age at={request.requested} />
          </span>
        </dd>
        <dt>{order.reason}</dt>
        <dd>{reasonWords(request.reason, relay, words)}</dd>
        <dt>{texts.alarm}</dt>
        <dd>{vehicle.alarm === null ? texts.noAlarm : codeText(vehicle.alarm.statusCode, words)}</dd>
      </dl>
      <h3>{order.now}</h3>
      <VehicleFacts vehicle={vehicle} relay={relay} />
    </>
  );
}

interface DecisionButtonsProps {
  readonly request: Approval;
  readonly limits: Limits | undefined;
  readonly decide: ReturnType<typeof useDecide>;
  readonly sign: Sign;
  readonly name: string;
  readonly isDown: boolean;
  /** Why it cannot be approved now; null: it can. */
  readonly why: string | null;
}

function DecisionButtons({ request, limits, decide, sign, name, isDown, why }: DecisionButtonsProps) {
  const { approvals: texts, persons } = useWords(cutWords);
  const user = useUser();
  const [whyID, refuseID] = [useId(), useId()];
  const hasApproval = request.signing === null || waitsForSecond(request, limits?.needsApproval);
  const whyNotRefused = isDown ? texts.off : decide.word.trim() === '' ? texts.wordNeeded : null;
  return (
    <>
      <div className="row wrap">
        <span className="muted">{texts.signedIn({ user: user?.userID ?? '' })}</span>
        <button
          type="button"
          className="button secondary push"
          aria-disabled={whyNotRefused !== null || decide.isBusy}
          aria-describedby={refuseID}
          onClick={() => (whyNotRefused === null ? decide.refuse() : undefined)}
        >
          <Icon name="x" />
          {texts.refuse}
        </button>
        {hasApproval ? (
          <button
            type="button"
            className={`button ${sign.isOffered ? 'secondary' : 'physical'}`}
            aria-disabled={why !== null || decide.isBusy}
            aria-describedby={whyID}
            onClick={() => (why === null ? decide.approve() : undefined)}
          >
            <Icon name="check" />
            {sign.isOffered ? persons.approve : texts.approve({ vehicle: name })}
          </button>
        ) : null}
        <SignButton sign={sign} isOff={why !== null || decide.isBusy} describedBy={whyID} />
      </div>
      <p className="muted" id={whyID}>
        {why ?? ''}
      </p>
      <span className="hidden" id={refuseID}>
        {whyNotRefused ?? ''}
      </span>
    </>
  );
}

interface DecisionProps {
  readonly request: Approval;
  readonly vehicle: Vehicle;
  readonly limits: Limits | undefined;
}

function Decision({ request, vehicle, limits }: DecisionProps) {
  const words = useWords(cutWords);
  const { approvals: texts, order, cutLimits } = words;
  const navigate = useNavigate();
  const user = useUser();
  const { state } = useValue(connection);
  const isDown = state !== 'live';
  const relay = relayIn(request);
  const proof = usePersonProof(limits?.needsPassword === true, user?.hasPassword ?? null);
  const onCommand = (commandID: string): void =>
    void navigate({
      to: '/vehicle/$deviceID',
      params: { deviceID: request.deviceID },
      search: orderSearch(relay, cutText('command', commandID)),
    });
  const decide = useDecide({ request, proof, onApproved: onCommand });
  const sign = useSign({ request, relay, proof, onCommand });
  const rehearsal = useRehearsal({ deviceID: request.deviceID, relay }, !isDown && vehicle.isOnline === true);
  const lacking = proof.secret === null ? order.missing[proof.kind === 'login' ? 'login' : 'password'] : null;
  const why = isDown
    ? texts.off
    : limits === undefined
      ? order.missing.limits
      : limits.isBreakerOpen && relay === 'enginecutoff'
        ? breakerText(limits, cutLimits)
        : lacking;
  const now = useNow();
  const isLate = decide.sentMs !== null && now - decide.sentMs / 1000 > usualS;
  const failure = isLate
    ? { title: words.error.unanswered, hint: words.error.unansweredHint }
    : decide.failure === null
      ? null
      : failureText(decide.failure, words, texts.failed);
  const back = useSafeOrder(relay, vehicle);
  return (
    <>
      <Notice
        tone="busy"
        icon="hourglass"
        title={request.signing === null ? texts.consequence : words.orders[relay].consequence}
      />
      {request.signing === null ? null : <Agreement {...{ request, relay, sign }} name={vehicle.name} />}
      <div className="halves">
        <section className="stack">
          <Asked request={request} vehicle={vehicle} />
        </section>
        <RehearsalEvidence
          relay={relay}
          rehearsal={rehearsal}
          isOnline={vehicle.isOnline !== false}
          isDown={isDown}
        />
      </div>
      <FailureNotice failure={failure} />
      {failure === null && !isDown ? null : (
        <div className="stack">
          <div>{back.button}</div>
          {back.outcome}
        </div>
      )}
      <div className="halves even">
        <ProofField proof={proof} relay={relay} />
        <TextField className="field" value={decide.word} onChange={decide.setWord} maxLength={200}>
          <Label>{texts.word}</Label>
          <Input className="input" placeholder={texts.wordHint} />
        </TextField>
      </div>
      <DecisionButtons {...{ request, limits, decide, sign, isDown, why }} name={vehicle.name} />
    </>
  );
}

const standingIcons = { yours: 'user-check', own: 'hourglass', viewer: 'ban', new: 'ban' } as const;

function NotYours({ standing }: { readonly standing: Exclude<Standing, 'yours'> }) {
  const { approvals: texts } = useWords(cutWords);
  if (standing === 'own') return <Notice tone="busy" icon="users" title={texts.yoursHint} />;
  if (standing === 'viewer') return <Notice tone="look" icon="lock" title={texts.viewerHint} />;
  return (
    <Notice tone="look" icon="lock" title={texts.notSecond}>
      {texts.notSecondHint}
    </Notice>
  );
}

interface CardProps {
  readonly request: Approval;
  readonly limits: Limits | undefined;
  readonly isSelected: boolean;
}

function CardHead({
  request,
  name,
  standing,
  titleID,
}: {
  readonly request: Approval;
  readonly name: string;
  readonly standing: Standing;
  readonly titleID: string;
}) {
  const words = useWords(cutWords);
  const now = useNow();
  const { approvals: texts, relays } = words;
  const relay = relayIn(request);
  const badge = standing === 'yours' ? texts.waitsForYou : standing === 'own' ? texts.yours : texts.notForYou;
  return (
    <header>
      <Icon name={relayIcons[relay]} isLarge />
      <h2 id={titleID}>{relays[relay].title({ vehicle: name })}</h2>
      <Badge icon={standingIcons[standing]} {...(standing === 'yours' ? { tone: 'busy' as const } : {})}>
        {badge}
      </Badge>
      <span className="push muted">
        {texts.askedAgo({ span: spanText(now - request.requested, words), time: timeText(request.expires) })}
      </span>
    </header>
  );
}

export function ApprovalCard({ request, limits, isSelected }: CardProps) {
  const { approvals: texts, relays } = useWords(cutWords);
  const titleID = useId();
  const user = useUser();
  const { deviceID } = request;
  const relay = relayIn(request);
  const vehicle = useValue(vehicles).get(deviceID) ?? { ...noVehicle, id: deviceID, name: deviceID };
  if (user === undefined) return null;
  const standing = standingOf(request, user, limits);
  const link: ReactNode =
    standing === 'yours' ? (
      <Link className="button secondary" to="/approvals" search={{ request: request.approvalID }}>
        {texts.look}
      </Link>
    ) : (
      <Link
        className="button secondary"
        to="/vehicle/$deviceID"
        params={{ deviceID }}
        search={orderSearch(relay, cutText('request', request.approvalID))}
      >
        <Icon name="hourglass" />
        {relays[relay].watch}
      </Link>
    );
  return (
    <article className="card" aria-labelledby={titleID}>
      <CardHead request={request} name={vehicle.name} standing={standing} titleID={titleID} />
      <div className="card-body stack narrow-container">
        {standing !== 'yours' ? <NotYours standing={standing} /> : null}
        {standing === 'yours' && isSelected ? (
          <Decision key={request.approvalID} request={request} vehicle={vehicle} limits={limits} />
        ) : (
          <div className="row wrap">{link}</div>
        )}
      </div>
    </article>
  );
}
