// The way to a cut or an unlock of a vehicle: the form, or the order that waits. Without a stream it is off and says why; what is under
// way, or was sent and has no answer, may be looked at always.
import { Link } from '@tanstack/react-router';
import { useId } from 'react';
import { Icon } from '../../components/icon.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { connection } from '../../service/live.ts';
import { sentOf, sentOrders } from '../../service/orders/sent-orders.ts';
import { orderSearch, type Relay } from '../../state/orders/cut-view.ts';

const icons = { enginecutoff: 'power-off', cargoaccess: 'lock-open' } as const;

interface OpenOrderProps {
  readonly relay: Relay;
  readonly deviceID: string;
  /** State of the pending order; null without one. */
  readonly pending: string | null;
  readonly mayCommand: boolean;
}

export function OpenOrder({ relay, deviceID, pending, mayCommand }: OpenOrderProps) {
  const { relays, error } = useWords();
  const texts = relays[relay];
  const sent = sentOf(useValue(sentOrders), relay, [deviceID]);
  const { state } = useValue(connection);
  const whyID = useId();
  if (!mayCommand) return null;
  if (pending === null && sent === undefined && state !== 'live')
    return (
      <span className="row">
        <button
          type="button"
          className="button secondary"
          aria-disabled="true"
          aria-describedby={whyID}
          title={texts.off}
        >
          <Icon name={icons[relay]} />
          {texts.open}
        </button>
        <span className="hidden" id={whyID}>
          {texts.off}
        </span>
      </span>
    );
  return (
    <Link
      className={pending === null ? 'button secondary' : 'button primary'}
      to="/vehicle/$deviceID"
      params={{ deviceID }}
      search={orderSearch(relay, 'ask')}
    >
      <Icon name={pending !== null ? 'hourglass' : sent === undefined ? icons[relay] : 'circle-help'} />
      {pending !== null ? texts.watch : sent === undefined ? texts.open : error.unanswered}
    </Link>
  );
}
