// The form that asks for a cut: the consequence first, the vehicle as it is and what it judges, then reason, end and proof of the person.
// Focus starts on Cancel, and nothing is sent before a reason stands there.
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useId } from 'react';
import { Button, Form, Heading, Input, Label, TextField } from 'react-aria-components';
import { cutReasonCodes } from '../../../../src/core/cut-reason.ts';
import type { Device, Result } from '../../api/operations.ts';
import { failureText } from '../../components/failure.ts';
import { Icon } from '../../components/icon.tsx';
import { Badge, Notice, spanText, timeText } from '../../components/texts.tsx';
import { useNow, useValue, useWords } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import { useLimits } from '../../service/orders.ts';
import { useUser } from '../../service/role.ts';
import { session } from '../../service/session.ts';
import { cutLifeS, cutText, noteMost } from '../../state/cut-view.ts';
import { neededOf } from '../../state/evidence.ts';
import type { Vehicle } from '../../state/fleet.ts';
import { cutWords } from '../../words/cut/words.ts';
import type { WordsWith } from '../../words/word-set.ts';
import { Choice } from './choice.tsx';
import { VehicleFacts } from './parts.tsx';
import { ProofField, usePersonProof } from './proof-field.tsx';
import { RehearsalEvidence } from './rehearsal.tsx';
import { useRestore } from './restore.tsx';
import { ServiceCode } from './service-code.tsx';
import { type Ask, useAsk } from './use-ask.ts';
import type { Rehearsal } from './use-rehearsal.ts';

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
  const { cut: texts } = useWords(cutWords);
  const approvers = useApprovers(limits.needsApproval && role === 'admin');
  return (
    <dl className="pairs">
      <dt>{texts.second}</dt>
      <dd>
        {limits.needsApproval ? texts.secondNeeded : texts.secondNot}
        {approvers === null ? null : (
          <span className="age">{approvers === '' ? texts.secondNone : texts.secondWho(approvers)}</span>
        )}
      </dd>
      <dt>{texts.limit}</dt>
      <dd>
        {texts.limitText(limits.cuts, limits.cutsPerHour, limits.accountCuts, limits.accountCutsPerHour)}
        {' · '}
        {limits.isBreakerOpen
          ? texts.breakerOpen(timeText(limits.breakerOpened), limits.breakerOpenedBy)
          : texts.breakerClosed}
        {!limits.isBreakerOpen &&
        (limits.cuts >= limits.cutsPerHour || limits.accountCuts >= limits.accountCutsPerHour) ? (
          <span className="age look">{texts.limitNext}</span>
        ) : null}
      </dd>
    </dl>
  );
}

export function CutFields({ ask }: { readonly ask: Ask }) {
  const words = useWords(cutWords);
  const now = useNow();
  const { cut: texts } = words;
  return (
    <>
      <Choice
        label={texts.reason}
        placeholder={texts.chooseReason}
        chosen={ask.reason}
        choices={cutReasonCodes.map((value) => ({ value, text: texts.reasons[value] }))}
        onChoose={ask.choose}
      />
      <Choice
        label={texts.ttl}
        hint={texts.ttlHint}
        chosen={String(ask.lifeS)}
        choices={cutLifeS.map((seconds) => ({
          value: String(seconds),
          text: texts.ttlChoice(spanText(seconds, words), timeText(now + seconds)),
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
function obstacle(
  device: Device,
  limits: Limits | undefined,
  { cut: texts }: WordsWith<[typeof cutWords]>,
): string | null {
  if (!Object.hasOwn(device.features, 'enginecutoff')) return texts.noFeature;
  if (device.state.enginecutoff.state === '1') return texts.alreadyCut;
  if (limits === undefined) return null;
  if (limits.isBreakerOpen) return texts.breakerOpen(timeText(limits.breakerOpened), limits.breakerOpenedBy);
  return limits.needsApproval && !limits.isSecondPerson ? texts.notSecond : null;
}

function consequence(rehearsal: Rehearsal, { cut: texts }: WordsWith<[typeof cutWords]>): string {
  const offS = neededOf(rehearsal.verdict, 'ignition_off_s');
  const standS = neededOf(rehearsal.verdict, 'standstill_s');
  return offS === null || standS === null ? texts.consequence : texts.consequenceTimes(offS, standS);
}

export interface AskCutProps {
  readonly device: Device;
  readonly vehicle: Vehicle;
  readonly rehearsal: Rehearsal;
  readonly isDown: boolean;
  close(): void;
  onAsked(target: string): void;
}

interface AskFooterProps {
  readonly vehicle: Vehicle;
  readonly formID: string;
  /** Why nothing can be sent; null: it can. */
  readonly why: string | null;
  readonly isBusy: boolean;
  readonly isDown: boolean;
  close(): void;
}

/** Without a stream restore and the service code stand here too: the page behind the dialog is out of reach. */
function AskFooter({ vehicle, formID, why, isBusy, isDown, close }: AskFooterProps) {
  const { cut: texts, common } = useWords(cutWords);
  const whyID = useId();
  const restore = useRestore(vehicle);
  return (
    <>
      {restore.outcome === null || !isDown ? null : <div className="body">{restore.outcome}</div>}
      <footer>
        <p id={whyID}>{why ?? ''}</p>
        <Button className="button secondary" onPress={close} autoFocus>
          {common.cancel}
        </Button>
        {isDown ? <ServiceCode vehicle={vehicle} /> : null}
        {isDown ? restore.button : null}
        <button
          className="button physical"
          type="submit"
          form={formID}
          aria-disabled={why !== null || isBusy}
          aria-describedby={whyID}
        >
          <Icon name="power-off" />
          {isBusy ? texts.asking : texts.button(vehicle.name)}
        </button>
      </footer>
    </>
  );
}

export function AskCut({ device, vehicle, rehearsal, isDown, close, onAsked }: AskCutProps) {
  const words = useWords(cutWords);
  const now = useNow();
  const formID = useId();
  const { cut: texts } = words;
  const user = useUser();
  const { data: limits, error: limitsError } = useLimits(true);
  const proof = usePersonProof(limits?.needsPassword === true, user?.hasPassword ?? null);
  const ask = useAsk({
    subject: device.deviceID,
    hasLimits: limits !== undefined,
    proof,
    order: (order, idempotencyKey) =>
      call('commandFeature', {
        body: { deviceID: device.deviceID, feature: 'enginecutoff', state: '1', ...order },
        idempotencyKey,
      }),
    onAsked: ({ commandID, approvalID }) =>
      onAsked(commandID === '' ? cutText('request', approvalID) : cutText('command', commandID)),
  });
  const hindered = obstacle(device, limits, words);
  const why = isDown
    ? words.openCut.off
    : (hindered ?? (ask.missing === null ? null : texts.missing[ask.missing]));
  const thrown = ask.failure ?? limitsError;
  const failure = thrown === null ? null : failureText(thrown, words);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (why === null) ask.send();
  };
  return (
    <>
      <header>
        <Icon name="power-off" isLarge />
        <Heading slot="title">{words.openCut.title(vehicle.name)}</Heading>
        <Badge icon="minus">{texts.nothingSent}</Badge>
      </header>
      <div className="body">
        <Notice tone="busy" icon="hourglass" title={consequence(rehearsal, words)}>
          {texts.until(timeText(now + ask.lifeS))}
        </Notice>
        {hindered === null ? null : <Notice tone="look" icon="ban" role="alert" title={hindered} />}
        {failure === null ? null : (
          <Notice tone="look" icon="triangle-alert" role="alert" title={`${texts.failed}: ${failure.title}`}>
            {failure.hint}
          </Notice>
        )}
        <div className="halves">
          <section className="stack" aria-label={texts.now}>
            <h3>{texts.now}</h3>
            <VehicleFacts vehicle={vehicle} />
          </section>
          <RehearsalEvidence rehearsal={rehearsal} isOnline={vehicle.isOnline !== false} isDown={isDown} />
        </div>
        <Form id={formID} className="halves even" onSubmit={submit}>
          <CutFields ask={ask} />
          <ProofField proof={proof} />
        </Form>
        {limits === undefined ? null : <CutLimits limits={limits} role={user?.roleID ?? ''} />}
      </div>
      <AskFooter
        vehicle={vehicle}
        formID={formID}
        why={why}
        isBusy={ask.isBusy}
        isDown={isDown}
        close={close}
      />
    </>
  );
}
