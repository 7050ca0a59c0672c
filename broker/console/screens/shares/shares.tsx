// The list of share links: vehicle or trip, creator, expiry, number of accesses, and revocation.
import { Link, useSearch } from '@tanstack/react-router';
import { Button } from 'react-aria-components';
import { shareWords } from '../../../../build/words/share.ts';
import type { Share } from '../../api/operations.ts';
import { Icon } from '../../components/icon.tsx';
import { AddressChips, usePut } from '../../components/patterns/address.tsx';
import { ActionDialog } from '../../components/patterns/form.tsx';
import { ListView, Table } from '../../components/patterns/list-detail.tsx';
import { Card, Gate, Page } from '../../components/patterns/page.tsx';
import { Age, Badge, numberText, Time } from '../../components/texts.tsx';
import { useNow, useValue, useWords } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import { vehicles } from '../../service/live.ts';
import { chosenShares, shareFilters, standingOf } from '../../state/shares/share-view.ts';
import { useMayShare, useShares } from './use-shares.ts';

/** The service lists no more. */
const listedMost = 200;

const looks = {
  open: ['link', 'busy'],
  expired: ['hourglass', undefined],
  revoked: ['ban', undefined],
} as const;

function useNameOf(): (deviceID: string) => string {
  const fleet = useValue(vehicles);
  return (deviceID) => fleet.get(deviceID)?.name ?? deviceID;
}

function Subject({ share }: { readonly share: Share }) {
  const { shares: texts } = useWords(shareWords);
  const { deviceID, kind, startTime, endTime, title } = share;
  return (
    <>
      <Link to="/vehicle/$deviceID" params={{ deviceID }}>
        {useNameOf()(deviceID)}
      </Link>
      <span className="note">
        {texts.kinds[kind]}
        {kind === 'live' ? null : (
          <>
            {' '}
            <Time at={startTime} /> – <Time at={endTime} />
          </>
        )}
        {title === '' ? null : (
          <>
            {' · '}
            <bdi>{title}</bdi>
          </>
        )}
      </span>
    </>
  );
}

/** Asks once more, with the consequence. */
function Revoke({ share }: { readonly share: Share }) {
  const { shares: texts } = useWords(shareWords);
  const { shareID, deviceID, title, createdBy, createdOn } = share;
  return (
    <ActionDialog
      icon="ban"
      title={texts.revokeTitle({ name: useNameOf()(deviceID) })}
      action={texts.revoke}
      changes={['shares']}
      run={() => call('revokeShare', { body: { shareID } })}
    >
      <p>{texts.revokeText}</p>
      {title === '' ? null : (
        <p>
          <bdi>{title}</bdi>
        </p>
      )}
      <p className="muted">
        {texts.columns.made} <bdi>{createdBy}</bdi>, <Time at={createdOn} />
      </p>
    </ActionDialog>
  );
}

function SharesTable({ shares }: { readonly shares: readonly Share[] }) {
  const { shares: texts } = useWords(shareWords);
  const { columns } = texts;
  const put = usePut();
  const nameOf = useNameOf();
  const nowS = useNow();
  return (
    <Table
      caption={texts.caption}
      items={shares}
      keyOf={({ shareID }) => shareID}
      rowOf={(share) => ({ 'data-share': share.shareID, 'data-standing': standingOf(share, nowS) })}
      columns={[
        { name: columns.share, cell: (share) => <Subject share={share} /> },
        {
          name: columns.state,
          isBare: true,
          cell(share) {
            const standing = standingOf(share, nowS);
            const [icon, tone] = looks[standing];
            return (
              <Badge icon={icon} {...(tone === undefined ? {} : { tone })}>
                {texts.standings[standing]}
              </Badge>
            );
          },
        },
        {
          name: columns.made,
          cell: ({ createdBy, createdOn }) => (
            <>
              <bdi>{createdBy}</bdi>
              <span className="note">
                <Time at={createdOn} />
              </span>
            </>
          ),
        },
        {
          name: columns.until,
          cell: ({ revokedOn, expires }) => <Time at={revokedOn === 0 ? expires : revokedOn} />,
        },
        {
          name: columns.used,
          cell: ({ uses, lastUsedOn }) => (
            <>
              {numberText(uses)}
              <span className="note">
                <Age at={lastUsedOn} />
              </span>
            </>
          ),
        },
        {
          name: columns.action,
          isBare: true,
          isNameHidden: true,
          cell: (share) =>
            standingOf(share, nowS) === 'open' ? (
              <Button
                className="button small"
                aria-haspopup="dialog"
                aria-label={texts.revokeOf({
                  name: nameOf(share.deviceID),
                  note: share.title,
                  hasNote: share.title !== '',
                })}
                onPress={() => put({ revoke: share.shareID })}
              >
                {texts.revoke}…
              </Button>
            ) : null,
        },
      ]}
    />
  );
}

function Shares() {
  const { shares: texts } = useWords(shareWords);
  const { show = 'open', vehicle = null, revoke } = useSearch({ from: '/shell/shares' });
  const { shares, readMs, error } = useShares();
  const nameOf = useNameOf();
  const shown = chosenShares(shares ?? [], { show, vehicle, nowS: useNow() });
  const revoked = shares?.find(({ shareID, revokedOn }) => shareID === revoke && revokedOn === 0);
  return (
    <Card
      isBare
      title={vehicle === null ? texts.all : texts.of({ name: nameOf(vehicle) })}
      head={
        <>
          <AddressChips
            label={texts.filter}
            member="show"
            values={shareFilters}
            first="open"
            content={(one) => texts.filters[one]}
          />
          {vehicle === null ? null : (
            <Link className="button small push" to="/shares" search={{ show }}>
              <Icon name="x" />
              {texts.allVehicles}
            </Link>
          )}
        </>
      }
    >
      <ListView
        list={{ items: shown, readMs, error }}
        empty={{ icon: 'link', title: texts.empty[show], hint: texts.emptyHint }}
      >
        <SharesTable shares={shown} />
        {(shares?.length ?? 0) < listedMost ? null : (
          <p className="card-body muted">{texts.newest({ most: listedMost })}</p>
        )}
      </ListView>
      {revoked === undefined ? null : <Revoke share={revoked} />}
    </Card>
  );
}

export function SharesScreen() {
  const { shares: texts, pages } = useWords(shareWords);
  return (
    <Page title={pages.shares.title} lead={texts.lead}>
      <Gate isOpen={useMayShare()} title={texts.viewer} hint={texts.viewerHint}>
        <Shares />
      </Gate>
    </Page>
  );
}
