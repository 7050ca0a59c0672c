// The form that asks for a cut or an unlock: the consequence first, the vehicle as it is and what it judges, then reason, end and proof of the
// person.
// Focus starts on Cancel, and nothing is sent before a reason stands there.
import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { Form, Heading, Input, Label, TextField } from 'react-aria-components';
import { cutWords } from '../../../../build/words/cut.ts';
import { orderReasons } from '../../../../src/core/reports/order-reason.ts';
import type { Device, Result } from '../../api/operations.ts';
import { failureText } from '../../components/failure.ts';
import { Icon } from '../../components/icon.tsx';
import { Choice } from '../../components/patterns/choice.tsx';
import { lengthText, Notice, timeText } from '../../components/texts.tsx';
import { useNow, useValue, useWords } from '../../components/use.ts';
import { FailureNotice } from '../../components/view.tsx';
import { call } from '../../service/call.ts';
import { askedOrder } from '../../service/orders/order-signing.ts';
import { useLimits } from '../../service/orders.ts';
import { useUser } from '../../service/role.ts';
import { serviceNowS, session } from '../../service/session.ts';
import { neededOf } from '../../state/evidence.ts';
import { mayHave, relayStateOf, type Vehicle } from '../../state/fleet.ts';
import { noteMost, orderLifeS, type Relay } from '../../state/orders/cut-view.ts';
import type { WordsWith } from '../../words/word-set.ts';
import { PersonsNeeded } from './agreement.tsx';
import { breakerText } from './order-times.ts';
import { relayIcons, VehicleFacts } from './parts.tsx';
import { ProofField, usePersonProof } from './proof-field.tsx';
import type { Rehearsal } from './questions/use-rehearsal.ts';
import { RehearsalEvidence } from './rehearsal.tsx';
import { useSafeOrder } from './safe-order.tsx';
import { OrderFooter, OrderNotice, SentBadge, submitUnless, targetText, useFound } from './sent.tsx';
import { ServiceCode } from './service-code.tsx';
import { type Ask, type OrderDetails, useAsk } from './use-ask.ts';

type Limits = Result<'commandLimits'>;

/** Names of those who may approve, where this user may read the users; the rest is said without names. */
function useApprovers(isWanted: boolean): string | null {
  const present = useValue(session);
  const { data } = useQuery({
    queryKey: ['users'],
    queryFn: ({ signal }) => call('getAllUsers', { signal }),
    enabled: isWanted,
    staleTime: 60_000,
  });
  if (data === undefined) return null;
  return data.users
    .filter(
      ({ userID, roleID, isActive, isConfirmed }) =>
        userID !== present?.userID && roleID !== 'viewer' && isActive && isConfirmed,
    )
    .map(({ userID, userDisplayName }) => userDisplayName || userID)
    .join(', ');
}

export function CutLimits({ limits, role }: { readonly limits: Limits; readonly role: string }) {
  const { cutLimits: texts } = useWords(cutWords);
  const approvers = useApprovers(limits.needsApproval && role === 'admin');
  return (
    <dl className="pairs">
      <dt>{texts.second}</dt>
      <dd>
        {limits.needsApproval ? texts.secondNeeded : texts.secondNot}{' '}
        {approvers === null ? null : (
          <span className="age">
            {approvers === '' ? texts.secondNone : texts.secondWho({ names: approvers })}
          </span>
        )}
      </dd>
      <dt>{texts.limit}</dt>
      <dd>
        {texts.limitText({
          used: limits.cuts,
          most: limits.cutsPerHour,
          account: limits.accountCuts,
          accountMost: limits.accountCutsPerHour,
        })}
        {' · '}
        {limits.isBreakerOpen ? breakerText(limits, texts) : texts.breakerClosed}
        {!limits.isBreakerOpen &&
        (limits.cuts >= limits.cutsPerHour || limits.accountCuts >= limits.accountCutsPerHour) ? (
          <span className="age look">{texts.limitNext}</span>
        ) : null}
      </dd>
    </dl>
  );
}

export function OrderFields({ ask }: { readonly ask: Ask }) {
  const words = useWords(cutWords);
  const now = useNow();
  const { order: texts } = words;
  const { reasons, ttlHint } = words.orders[ask.relay];
  const reasonTexts: Readonly<Record<string, string>> = reasons;
  return (
    <>
      <Choice
        label={texts.reason}
        placeholder={texts.chooseReason}
        chosen={ask.reason}
        choices={orderReasons[ask.relay].map((value) => ({ value, text: reasonTexts[value] ?? value }))}
        onChoose={ask.choose}
      />
      <Choice
        label={texts.ttl}
        hint={ttlHint}
        chosen={String(ask.lifeS)}
        choices={orderLifeS[ask.relay].map((seconds) => ({
          value: String(seconds),
          text: texts.ttlChoice({ span: lengthText(seconds, words), time: timeText(now + seconds) }),
        }))}
        onChoose={(value) => ask.setLife(Number(value))}
      />
      <TextField className="field" value={ask.note} onChange={ask.setNote} maxLength={noteMost}>
        <Label>{texts.note}</Label>
        <Input className="input" />
        <small>{ask.reason === 'other' ? texts.noteNeeded : texts.noteHint}</small>
      </TextField>
    </>
  );
}

/** Why nothing can be asked at all; null: it can. */
function useObstacle(
  { relay, vehicle }: Pick<AskOrderProps, 'relay' | 'vehicle'>,
  limits: Limits | undefined,
): string | null {
  const { orders, cutLimits } = useWords(cutWords);
  if (!mayHave(vehicle, relay)) return orders[relay].noFeature;
  if (relayStateOf(vehicle, relay) === '1') return orders[relay].already;
  if (limits === undefined || relay !== 'enginecutoff') return null;
  if (limits.isBreakerOpen) return breakerText(limits, cutLimits);
  return limits.needsApproval && !limits.isSecondPerson ? cutLimits.notSecond : null;
}

function consequence(
  { relay, rehearsal }: Pick<AskOrderProps, 'relay' | 'rehearsal'>,
  { orders }: WordsWith<[typeof cutWords]>,
): string {
  const texts = orders[relay];
  const offS = neededOf(rehearsal.verdict, 'ignition_off_s');
  const standS = neededOf(rehearsal.verdict, 'standstill_s');
  return offS === null || standS === null ? texts.consequence : texts.consequenceTimes({ offS, standS });
}

/** Two clocks, and the way to the service, ms. */
const askedSlackMs = 60_000;
/** Persons need longer than the usual life of an unlock, s. */
const signedUnlockS = 900;

/** Asks for the order. What the form said is kept for its signature, before any screen shows the answer. */
async function askFor(
  { relay, vehicle }: Pick<AskOrderProps, 'relay' | 'vehicle'>,
  details: OrderDetails,
  idempotencyKey: string,
) {
  const latestMs = (serviceNowS() + details.ttl) * 1000 + askedSlackMs;
  const answer = await call('commandFeature', {
    body: { deviceID: vehicle.id, feature: relay, state: '1', ...details },
    idempotencyKey,
  });
  const { accountID = '' } = session.get() ?? {};
  const { approvalID, signing } = answer;
  const seen = { accountID, deviceID: vehicle.id, feature: relay, reason: details.reason, latestMs };
  if (signing !== null) askedOrder.set({ ...seen, approvalID, isTried: false });
  return answer;
}

export interface AskOrderProps {
  readonly relay: Relay;
  readonly vehicle: Vehicle;
  /** Null: no owner's key is known of. */
  readonly owner: Device['owner'];
  readonly rehearsal: Rehearsal;
  readonly isDown: boolean;
  close(): void;
  onAsked(target: string): void;
}

export function AskOrder(props: AskOrderProps) {
  const { relay, vehicle, owner, rehearsal, isDown, close, onAsked } = props;
  const words = useWords(cutWords);
  const formID = useId();
  const { order: texts } = words;
  const { failed, until } = words.orders[relay];
  const { title, off } = words.relays[relay];
  const user = useUser();
  const { data: limits, error: limitsError } = useLimits(true);
  const proof = usePersonProof(limits?.needsPassword === true, user?.hasPassword ?? null);
  const ask = useAsk({
    relay,
    operation: 'commandFeature',
    deviceIDs: [vehicle.id],
    hasLimits: limits !== undefined,
    proof,
    ...(owner !== null && relay === 'cargoaccess' ? { firstLifeS: signedUnlockS } : {}),
    order: (details, idempotencyKey) => askFor(props, details, idempotencyKey),
    onAsked: (answer) => onAsked(targetText(answer)),
    foundOf: (answer) => [[vehicle.id, answer]],
  });
  useFound(relay, [vehicle.id], ([found]) => (found === undefined ? undefined : onAsked(targetText(found))));
  const hasSent = ask.sent !== null;
  const back = useSafeOrder(relay, vehicle);
  const hasBack = isDown || hasSent;
  const obstacle = useObstacle({ relay, vehicle }, limits);
  // Sent again it changes nothing that it has not changed already.
  const hindered = hasSent ? null : obstacle;
  const down = hasSent ? texts.againLater : off;
  const missing = ask.missing === null ? null : texts.missing[ask.missing];
  const why = isDown ? down : (hindered ?? missing);
  const thrown = ask.failure ?? limitsError;
  const failure = thrown === null ? null : failureText(thrown, words, hasSent ? undefined : failed);
  return (
    <>
      <header>
        <Icon name={relayIcons[relay]} isLarge />
        <Heading slot="title">{title({ vehicle: vehicle.name })}</Heading>
        <SentBadge sent={ask.sent} />
      </header>
      <div className="body">
        <OrderNotice
          ask={ask}
          consequence={consequence({ relay, rehearsal }, words)}
          until={until}
          failure={failure}
        />
        {hasSent ? null : <PersonsNeeded {...{ relay, owner }} deviceID={vehicle.id} />}
        {hasBack ? back.outcome : null}
        {hindered === null ? null : <Notice tone="look" icon="ban" role="alert" title={hindered} />}
        <FailureNotice failure={hasSent ? null : failure} />
        <div className="halves asks">
          <section className="stack" aria-label={texts.now}>
            <h3>{texts.now}</h3>
            <VehicleFacts vehicle={vehicle} relay={relay} />
          </section>
          <RehearsalEvidence {...{ relay, rehearsal, isDown }} isOnline={vehicle.isOnline !== false} />
          <Form id={formID} className="stack" onSubmit={submitUnless(why, ask)}>
            {hasSent ? null : <OrderFields ask={ask} />}
            <ProofField proof={proof} relay={relay} />
          </Form>
        </div>
        {limits === undefined || relay !== 'enginecutoff' ? null : (
          <CutLimits limits={limits} role={user?.roleID ?? ''} />
        )}
      </div>
      <OrderFooter
        {...{ ask, formID, why, close }}
        icon={relayIcons[relay]}
        label={words.orders[relay].button({ vehicle: vehicle.name })}
      >
        {/* Without a stream or an answer: the page behind the dialog is out of reach. */}
        {hasBack && relay === 'enginecutoff' ? <ServiceCode vehicle={vehicle} /> : null}
        {hasBack ? back.button : null}
      </OrderFooter>
    </>
  );
}
