// What the page of a vehicle has of shares: the button, how many links to it are open, and the dialog that the address names.
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Suspense } from 'react';
import { shareWords } from '../../../../build/words/share.ts';
import { Icon } from '../../components/icon.tsx';
import { lazyPart, useNow, useWords } from '../../components/use.ts';
import { without } from '../../state/search.ts';
import { chosenShares } from '../../state/shares/share-view.ts';
import { withWords } from '../../words/word-set.ts';
import { useMayShare, useShares } from './use-shares.ts';

const ShareDialog = lazyPart(async () => (await withWords(import('./share-dialog.tsx'))).ShareDialog);

interface OfVehicle {
  readonly deviceID: string;
}

/** How many links to the vehicle are open; nothing without one. */
export function SharedBadge({ deviceID }: OfVehicle) {
  const { shares: texts } = useWords(shareWords);
  const { shares = [] } = useShares();
  const open = chosenShares(shares, { show: 'open', vehicle: deviceID, nowS: useNow() });
  if (open.length === 0) return null;
  return (
    <Link className="badge busy" to="/shares" search={{ vehicle: deviceID }}>
      <Icon name="link" />
      {texts.openLinks({ count: open.length })}
    </Link>
  );
}

/** The button that opens the share dialog; nothing for a viewer. */
export function ShareButton({ deviceID }: OfVehicle) {
  const { shares: texts } = useWords(shareWords);
  if (useMayShare() !== true) return null;
  return (
    <Link
      className="button secondary"
      aria-haspopup="dialog"
      from="/vehicle/$deviceID"
      to="/vehicle/$deviceID"
      params={{ deviceID }}
      search={(before) => ({ ...before, share: 'live' as const })}
      replace
    >
      <Icon name="link" />
      {texts.share}…
    </Link>
  );
}

/** Opens the dialog for a trip that is over. */
export function ShareTripLink({
  deviceID,
  fromS,
  toS,
  label,
}: OfVehicle & { readonly fromS: number; readonly toS: number; readonly label: string }) {
  if (useMayShare() !== true) return null;
  return (
    <Link
      className="button small square"
      aria-haspopup="dialog"
      aria-label={label}
      from="/vehicle/$deviceID"
      to="/vehicle/$deviceID"
      params={{ deviceID }}
      search={(before) => ({ ...before, from: fromS, to: toS, share: 'trip' as const })}
      replace
    >
      <Icon name="link" />
    </Link>
  );
}

/** The dialog, while the address names it. */
export function VehicleShare({ deviceID, name }: OfVehicle & { readonly name: string }) {
  const navigate = useNavigate({ from: '/vehicle/$deviceID' });
  const { share, from, to } = useSearch({ from: '/shell/vehicle/$deviceID' });
  const mayShare = useMayShare();
  if (share === undefined || mayShare !== true) return null;
  const trip = from === undefined || to === undefined ? null : { fromS: from, toS: to };
  return (
    <Suspense>
      <ShareDialog
        deviceID={deviceID}
        name={name}
        trip={trip}
        kind={trip === null ? 'live' : share}
        close={() => void navigate({ search: (before) => without(before, 'share'), replace: true })}
      />
    </Suspense>
  );
}
