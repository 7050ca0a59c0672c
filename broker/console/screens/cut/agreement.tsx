// Agreement of persons of the owner's list: before an order is asked for, and while it waits.
import { cutWords } from '../../../../build/words/cut.ts';
import type { Approval, Device } from '../../api/operations.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Icon } from '../../components/icon.tsx';
import { Pairs } from '../../components/patterns/detail.tsx';
import { Badge, Notice, timeText } from '../../components/texts.tsx';
import { useNow, useWords } from '../../components/use.ts';
import { FailureNotice } from '../../components/view.tsx';
import { hasPasskeys } from '../../service/orders/order-signing.ts';
import { useLimits } from '../../service/orders.ts';
import { type Signers, useSigners } from '../../service/reading/signers.ts';
import { useRole } from '../../service/role.ts';
import type { Relay } from '../../state/orders/cut-view.ts';
import { missingOf, waitsForSecond } from '../../state/orders/signing.ts';
import type { WordsWith } from '../../words/word-set.ts';
import type { Sign } from './use-sign.ts';
import { reasonWords } from './verdict-words.ts';

interface PersonsNeededProps {
  readonly relay: Relay;
  readonly owner: Device['owner'];
  readonly deviceID: string;
}

/** Reason for which any order would be refused now; null: none is known. */
function obstacleOf(
  { needed, validUntil, persons }: Signers,
  relay: Relay,
  nowS: number,
  texts: WordsWith<[typeof cutWords]>['persons'],
): string | null {
  if (needed === null) return texts.noList;
  if (validUntil <= nowS) return texts.listEnded({ time: timeText(validUntil) });
  const able = persons.filter(({ features }) => features.includes(relay)).length;
  return able < needed[relay] ? texts.tooFew({ able, needed: needed[relay] }) : null;
}

/** What the vehicle held when it last reported, and that it gets a newer list first. */
function unitText(
  { set, list, at }: NonNullable<Device['owner']>,
  known: Signers,
  texts: WordsWith<[typeof cutWords]>['persons'],
): readonly string[] {
  const time = timeText(at);
  const isOlder = known.set > set || (known.set === set && known.list > list);
  return [
    list === 0 ? texts.unitNone({ time }) : texts.unit({ list, time }),
    ...(isOlder ? [texts.unitOlder] : []),
  ];
}

/** Before the order is asked for. */
export function PersonsNeeded({ relay, owner, deviceID }: PersonsNeededProps) {
  const { persons: texts } = useWords(cutWords);
  const known = useSigners(deviceID, owner !== null) ?? null;
  const nowS = useNow();
  if (owner === null) return null;
  const needed = known?.needed?.[relay];
  const names =
    known?.persons.filter(({ features }) => features.includes(relay)).map(({ name }) => name) ?? [];
  const obstacle = known === null ? null : obstacleOf(known, relay, nowS, texts);
  return (
    <Notice
      tone={obstacle === null ? 'busy' : 'look'}
      icon="users"
      title={needed === undefined ? texts.needs : texts.needsCount({ needed })}
    >
      {obstacle === null ? null : <p>{obstacle}</p>}
      {names.length === 0 ? null : <p>{texts.may({ names: names.join(', ') })}</p>}
      {known === null || known.list === 0 ? null : (
        <p>
          {texts.list({
            list: known.list,
            since: timeText(known.uploaded),
            until: timeText(known.validUntil),
          })}
        </p>
      )}
      {known === null ? null : unitText(owner, known, texts).map((one) => <p key={one}>{one}</p>)}
      <p>{hasPasskeys() ? texts.ask : texts.unsupported}</p>
    </Notice>
  );
}

interface AgreementProps {
  readonly request: Approval;
  readonly relay: Relay;
  /** Name of the vehicle. */
  readonly name: string;
  readonly sign: Sign;
}

/** Shows a waiting order with its signatures and the number still missing. */
export function Agreement({ request, relay, name, sign }: AgreementProps) {
  const words = useWords(cutWords);
  const { persons: texts, order: labels, orders } = words;
  const { signing } = request;
  const role = useRole();
  const { data: limits } = useLimits(role === 'operator' || role === 'admin');
  if (signing === null) return null;
  const { order, needed, given } = signing;
  const missing = missingOf(signing);
  const waits = [
    missing > 0 ? texts.waits({ missing }) : null,
    waitsForSecond(request, limits?.needsApproval) ? texts.second : null,
  ].filter((text) => text !== null);
  return (
    <section className="stack" aria-label={texts.title}>
      <h3>{texts.title}</h3>
      <p role="status" className="row wrap">
        <Badge icon={missing === 0 ? 'circle-check' : 'hourglass'} tone={missing === 0 ? 'ok' : 'busy'}>
          {texts.count({ given: given.length, needed })}
        </Badge>
        {waits.length === 0 || request.approvalState !== 'pending' ? null : <span>{waits.join(' · ')}</span>}
      </p>
      {given.length === 0 ? null : (
        <ul className="stack tight">
          {given.map((one) => (
            <li className="row" key={one.personID}>
              <Icon name="circle-check" />
              {texts.agreed({ name: one.name, time: timeText(one.at) })}
            </li>
          ))}
        </ul>
      )}
      {sign.isOffered ? <p className="muted">{texts.signs}</p> : null}
      <Pairs
        rows={[
          [
            texts.vehicle,
            <>
              <bdi>{name}</bdi>{' '}
              <bdi className="mono">
                {order.accountID}/{order.deviceID}
              </bdi>
            </>,
          ],
          [texts.order, orders[relay].noun],
          [labels.reason, reasonWords(order.reason, relay, words)],
          [texts.until, timeText(Math.floor(order.expiresMs / 1000))],
        ]}
      />
      {sign.isOffered && sign.isUnlisted ? (
        <Notice tone="look" icon="key-round" title={texts.notListed} />
      ) : null}
      <FailureNotice failure={sign.failure} />
    </section>
  );
}

interface SignButtonProps {
  readonly sign: Sign;
  readonly isOff: boolean;
  readonly describedBy?: string;
}

export function SignButton({ sign, isOff, describedBy }: SignButtonProps) {
  const { persons: texts } = useWords(cutWords);
  if (!sign.isOffered) return null;
  return (
    <ActionButton
      className={`button ${sign.hasGiven ? 'secondary' : 'physical'}`}
      isOff={isOff || sign.isBusy}
      {...(describedBy === undefined ? {} : { 'aria-describedby': describedBy })}
      onPress={sign.send}
    >
      <Icon name="key-round" />
      {sign.isBusy ? texts.signing : texts.sign}
    </ActionButton>
  );
}
