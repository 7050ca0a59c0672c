// The way to a cut or an unlock of a vehicle: the form, or the order that waits. Without a stream it is off and says why; what is under way may be
// looked at always.
import { Link } from '@tanstack/react-router';
import { useId } from 'react';
import { Icon } from '../../components/icon.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { connection } from '../../service/live.ts';
import { orderSearch, type Relay } from '../../state/cut-view.ts';

const icons = { enginecutoff: 'power-off', cargoaccess: 'lock-open' } as const;

interface OpenOrderProps {
  readonly relay: Relay;
  readonly deviceID: string;
  /** State of the pending order; null without one. */
  readonly pending: string | null;
  readonly mayCommand: boolean;
}

export function OpenOrder({ relay, deviceID, pending, mayCommand }: OpenOrderProps) {
  const texts = useWords().relays[relay];
  const { state } = useValue(connection);
  const whyID = useId();
  if (!mayCommand) return null;
  if (pending === null && state !== 'live')
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
      <Icon name={pending === null ? icons[relay] : 'hourglass'} />
      {pending === null ? texts.open : texts.watch}
    </Link>
  );
}
