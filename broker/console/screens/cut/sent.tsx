// What the forms of one order and of several share: its notice, its footer, and what is said of one that was sent and has no answer yet: it may be
// carried out at any moment, and nothing on the screen may deny that.
import { type FormEvent, type ReactNode, useEffect, useId, useRef } from 'react';
import { Button } from 'react-aria-components';
import { cutWords } from '../../../../build/words/cut.ts';
import type { Failure } from '../../components/failure.ts';
import { Icon, type IconName } from '../../components/icon.tsx';
import { Badge, Notice, timeText } from '../../components/texts.tsx';
import { useNow, useValue, useWords } from '../../components/use.ts';
import { foundOrders, orderKey, showFound } from '../../service/orders/sent-orders.ts';
import { cutText, type Relay } from '../../state/orders/cut-view.ts';
import type { FoundOrder, SentOrder } from '../../state/orders/sent-orders.ts';
import type { Ask } from './use-ask.ts';

/** The member of an address for an order that the service has. */
export const targetText = ({ commandID, approvalID }: FoundOrder): string =>
  commandID === '' ? cutText('request', approvalID) : cutText('command', commandID);

/** Calls `show` once each of the vehicles has an order that was found in the ledger. */
export function useFound(
  relay: Relay,
  deviceIDs: readonly string[],
  show: (found: readonly FoundOrder[]) => void,
): void {
  const found = useValue(foundOrders);
  const own = deviceIDs.flatMap((id) => found.get(orderKey(relay, id)) ?? []);
  const isWhole = own.length === deviceIDs.length && own.length > 0;
  const handle = useRef(() => undefined as unknown);
  handle.current = () => {
    showFound(relay, deviceIDs);
    show(own);
  };
  useEffect(() => void (isWhole ? handle.current() : undefined), [isWhole]);
}

export function SentBadge({ sent }: { readonly sent: SentOrder | null }) {
  const { order } = useWords(cutWords);
  return sent === null ? (
    <Badge icon="minus">{order.nothingSent}</Badge>
  ) : (
    <Badge icon="circle-help" tone="look">
      {order.noAnswerYet}
    </Badge>
  );
}

interface OrderNoticeProps {
  readonly ask: Pick<Ask, 'sent' | 'lifeS'>;
  readonly consequence: string;
  readonly until: (a: { readonly time: string }) => string;
  /** Of the newest try; null: it has none. */
  readonly failure: Failure | null;
}

/** What the order will do, or that it may be done already. */
export function OrderNotice({ ask, consequence, until, failure }: OrderNoticeProps) {
  const now = useNow();
  return ask.sent === null ? (
    <Notice tone="busy" icon="hourglass" title={consequence}>
      {until({ time: timeText(now + ask.lifeS) })}
    </Notice>
  ) : (
    <SentNotice sent={ask.sent} failure={failure} />
  );
}

/** Sends when the form is submitted, unless a reason stands against it. */
export const submitUnless =
  (why: string | null, { send }: Pick<Ask, 'send'>) =>
  (event: FormEvent): void => {
    event.preventDefault();
    if (why === null) send();
  };

interface OrderFooterProps {
  readonly ask: Pick<Ask, 'isBusy' | 'sent'>;
  readonly formID: string;
  /** Why nothing can be sent; null: it can. */
  readonly why: string | null;
  readonly icon: IconName;
  /** Of the button, before anything was sent. */
  readonly label: string;
  /** Further buttons. */
  readonly children?: ReactNode;
  close(): void;
}

/** The way out, which has the focus, and the button that sends the order, or sends it again. */
export function OrderFooter({ ask, formID, why, icon, label, children, close }: OrderFooterProps) {
  const { order, common } = useWords(cutWords);
  const whyID = useId();
  const hasSent = ask.sent !== null;
  return (
    <footer>
      <p id={whyID}>{why ?? ''}</p>
      <Button className="button secondary" onPress={close} autoFocus>
        {hasSent ? common.close : common.cancel}
      </Button>
      {children}
      <button
        className="button physical"
        type="submit"
        form={formID}
        aria-disabled={why !== null || ask.isBusy}
        aria-describedby={whyID}
      >
        <Icon name={icon} />
        {ask.isBusy ? order.asking : hasSent ? order.sendAgain : label}
      </button>
    </footer>
  );
}

interface SentNoticeProps {
  readonly sent: SentOrder;
  /** Of the newest try; null: it has none. */
  readonly failure: Failure | null;
}

function SentNotice({ sent, failure }: SentNoticeProps) {
  const { order, error } = useWords(cutWords);
  const place = useRef<HTMLDivElement>(null);
  // On a phone the button that was pressed is far below.
  useEffect(() => {
    place.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  return (
    <div ref={place}>
      <Notice tone="look" icon="triangle-alert" role="alert" title={error.unanswered}>
        {order.sentHint({ time: timeText(sent.sentS) })}
        {failure === null || failure.title === error.unanswered ? null : <> · {failure.title}</>}
      </Notice>
    </div>
  );
}
