// The form that asks for cuts of several vehicles in one request. Each vehicle stands there as it is, with what it judges, and is ticked by itself;
// reason, end and proof of the person are those of a single cut. Each cut then has its own course.
import { useId, useState } from 'react';
import { Button, Checkbox, Dialog, Form, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { cutWords } from '../../../../build/words/cut.ts';
import { manyWords } from '../../../../build/words/many.ts';
import type { Result } from '../../api/operations.ts';
import { failureText } from '../../components/failure.ts';
import { Icon } from '../../components/icon.tsx';
import { Notice } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { FailureNotice } from '../../components/view.tsx';
import { call } from '../../service/call.ts';
import { connection, vehicles } from '../../service/live.ts';
import { useLimits } from '../../service/orders.ts';
import { useUser } from '../../service/role.ts';
import type { Vehicle } from '../../state/fleet.ts';
import type { FoundOrder } from '../../state/orders/sent-orders.ts';
import type { WordsWith } from '../../words/word-set.ts';
import { CutLimits, OrderFields } from './ask.tsx';
import { EvidenceTable } from './evidence.tsx';
import { breakerText } from './order-times.ts';
import { VehicleFacts } from './parts.tsx';
import { ProofField, usePersonProof } from './proof-field.tsx';
import { useRehearsal } from './questions/use-rehearsal.ts';
import { RehearsalAnswer } from './rehearsal.tsx';
import { useSafeOrder } from './safe-order.tsx';
import { OrderFooter, OrderNotice, SentBadge, submitUnless, useFound } from './sent.tsx';
import { useAsk } from './use-ask.ts';
import { useCloseWhenEnded } from './use-close-when-ended.ts';

/** As many as one request takes: what a user may order within a minute. */
const vehiclesMost = 10;

const relay = 'enginecutoff';

type Limits = Result<'commandLimits'>;
/** What the service said of each vehicle. */
export type CommandItems = readonly (Pick<Result<'commandDevices'>['items'][number], 'deviceID' | 'error'> & {
  readonly command: FoundOrder | null;
})[];

/** Why a vehicle cannot be cut with the others; null: it can. */
function hindranceOf(
  vehicle: Vehicle | undefined,
  { orders, many, vehicle: words }: WordsWith<[typeof cutWords, typeof manyWords]>,
): string | null {
  if (vehicle === undefined) return many.commands.gone;
  if (!vehicle.mayCommand) return many.commands.notYours;
  if (vehicle.cutoff === '1') return orders.enginecutoff.already;
  if (vehicle.pendingCut === null) return null;
  const texts: Readonly<Record<string, string>> = words.pendingCut;
  return texts[vehicle.pendingCut] ?? vehicle.pendingCut;
}

/** Why nothing can be asked at all, by the limits of user and account; null: it can. */
function obstacleOf(
  count: number,
  limits: Limits | undefined,
  { cutLimits, many }: WordsWith<[typeof cutWords, typeof manyWords]>,
): string | null {
  if (count > vehiclesMost) return many.commands.tooMany({ most: vehiclesMost });
  if (limits === undefined) return null;
  const { cuts, cutsPerHour, accountCuts, accountCutsPerHour } = limits;
  if (limits.isBreakerOpen) return breakerText(limits, cutLimits);
  if (limits.needsApproval && !limits.isSecondPerson) return cutLimits.notSecond;
  const left = Math.max(0, Math.min(cutsPerHour - cuts, accountCutsPerHour - accountCuts));
  return count > left ? many.commands.overLimit({ left }) : null;
}

interface CandidateProps {
  readonly deviceID: string;
  readonly isDown: boolean;
  readonly hasSent: boolean;
  readonly isMeant: boolean;
  onMean(isMeant: boolean): void;
  takeOut(): void;
}

function Judgement({ vehicle, isDown }: { readonly vehicle: Vehicle; readonly isDown: boolean }) {
  const { many } = useWords(manyWords);
  const rehearsal = useRehearsal({ deviceID: vehicle.id, relay }, vehicle.isOnline === true && !isDown);
  return (
    <div className="stack">
      <RehearsalAnswer
        relay={relay}
        rehearsal={rehearsal}
        isOnline={vehicle.isOnline !== false}
        isDown={isDown}
      />
      <details>
        <summary>{many.commands.evidence({ vehicle: vehicle.name })}</summary>
        <EvidenceTable
          relay={relay}
          verdict={rehearsal.verdict}
          caption={many.commands.evidence({ vehicle: vehicle.name })}
        />
      </details>
    </div>
  );
}

/** The dialog hides the buttons of the page. */
function BackOrder({ vehicle }: { readonly vehicle: Vehicle }) {
  const back = useSafeOrder(relay, vehicle);
  return (
    <>
      {back.outcome}
      <div>{back.button}</div>
    </>
  );
}

function Candidate({ deviceID, isDown, hasSent, isMeant, onMean, takeOut }: CandidateProps) {
  const words = useWords(cutWords, manyWords);
  const { commands: texts } = words.many;
  const vehicle = useValue(vehicles).get(deviceID);
  const name = vehicle?.name ?? deviceID;
  const hindrance = hindranceOf(vehicle, words);
  return (
    <li className="card">
      <div className="card-head wrap">
        <h3>
          <bdi>{name}</bdi>
        </h3>
        {hasSent ? null : (
          <Button className="button secondary small push" onPress={takeOut}>
            {texts.takeOut({ vehicle: name })}
          </Button>
        )}
      </div>
      <div className="card-body stack">
        {hindrance === null ? null : <Notice tone="look" icon="ban" title={hindrance} />}
        {vehicle?.mayCommand === true && (hasSent || isDown) ? <BackOrder vehicle={vehicle} /> : null}
        {vehicle === undefined || hindrance !== null ? null : (
          <>
            <div className="halves">
              <VehicleFacts vehicle={vehicle} relay={relay} />
              <Judgement vehicle={vehicle} isDown={isDown} />
            </div>
            <Checkbox className="radio check" isSelected={isMeant} isDisabled={hasSent} onChange={onMean}>
              <span className="box">
                <Icon name="check" />
              </span>
              {texts.meant({ vehicle: name })}
            </Checkbox>
          </>
        )}
      </div>
    </li>
  );
}

interface AskManyProps {
  readonly deviceIDs: readonly string[];
  takeOut(deviceID: string): void;
  close(): void;
  onAsked(items: CommandItems): void;
}

function AskMany({ deviceIDs, takeOut, close, onAsked }: AskManyProps) {
  const words = useWords(cutWords, manyWords);
  const { order, orders, relays, many } = words;
  const { failed, consequence, until } = orders[relay];
  const { commands: texts } = many;
  const formID = useId();
  const user = useUser();
  const fleet = useValue(vehicles);
  const isDown = useValue(connection).state !== 'live';
  const [meant, setMeant] = useState<ReadonlySet<string>>(new Set());
  const { data: limits, error: limitsError } = useLimits(true);
  const proof = usePersonProof(limits?.needsPassword === true, user?.hasPassword ?? null);
  const ask = useAsk({
    relay,
    operation: 'commandDevices',
    deviceIDs,
    hasLimits: limits !== undefined,
    proof,
    order: (details, idempotencyKey) =>
      call('commandDevices', {
        body: { deviceIDs: [...deviceIDs], feature: relay, state: '1', ...details },
        idempotencyKey,
      }),
    onAsked: ({ items }) => onAsked(items),
    foundOf: ({ items }) =>
      items.flatMap(({ deviceID, command }) => (command === null ? [] : [[deviceID, command] as const])),
  });
  useFound(relay, deviceIDs, (found) =>
    onAsked(found.map((command, at) => ({ deviceID: deviceIDs[at] ?? '', command, error: null }))),
  );
  const hasSent = ask.sent !== null;
  const count = deviceIDs.length;
  const obstacle = hasSent ? null : obstacleOf(count, limits, words);
  const areMeant =
    hasSent || deviceIDs.every((id) => meant.has(id) && hindranceOf(fleet.get(id), words) === null);
  const missing = !areMeant ? texts.meantMissing : ask.missing === null ? null : order.missing[ask.missing];
  const why = isDown ? (hasSent ? order.againLater : relays[relay].off) : (obstacle ?? missing);
  const thrown = ask.failure ?? limitsError;
  const failure = thrown === null ? null : failureText(thrown, words, hasSent ? undefined : failed);
  return (
    <>
      <header>
        <Icon name="power-off" isLarge />
        <Heading slot="title">{texts.cut({ count })}</Heading>
        <SentBadge sent={ask.sent} />
      </header>
      <div className="body">
        <OrderNotice ask={ask} consequence={consequence} until={until} failure={failure} />
        {obstacle === null ? null : <Notice tone="look" icon="ban" role="alert" title={obstacle} />}
        <FailureNotice failure={hasSent ? null : failure} />
        <ul className="stack">
          {deviceIDs.slice(0, vehiclesMost).map((id) => (
            <Candidate
              key={id}
              deviceID={id}
              isDown={isDown}
              hasSent={hasSent}
              isMeant={meant.has(id)}
              onMean={(isMeant) =>
                setMeant(
                  (before) => new Set(isMeant ? [...before, id] : [...before].filter((one) => one !== id)),
                )
              }
              takeOut={() => takeOut(id)}
            />
          ))}
        </ul>
        <Form id={formID} className="halves even" onSubmit={submitUnless(why, ask)}>
          {hasSent ? null : <OrderFields ask={ask} />}
          <ProofField proof={proof} relay={relay} />
        </Form>
        {limits === undefined ? null : <CutLimits limits={limits} role={user?.roleID ?? ''} />}
      </div>
      <OrderFooter {...{ ask, formID, why, close }} icon="power-off" label={texts.button({ count })} />
    </>
  );
}

export function AskManyDialog({ isOpen, ...props }: AskManyProps & { readonly isOpen: boolean }) {
  useCloseWhenEnded(isOpen, props.close);
  return (
    <ModalOverlay
      className="overlay"
      isOpen={isOpen}
      onOpenChange={(wanted) => (wanted ? undefined : props.close())}
    >
      <Modal className="modal wide-modal">
        <Dialog className="dialog cut">
          <AskMany {...props} />
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
