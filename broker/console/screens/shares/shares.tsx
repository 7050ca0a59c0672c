// The list of share links: vehicle or trip, creator, expiry, number of accesses, and revocation.
import { useMutation } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Button } from 'react-aria-components';
import { shareWords } from '../../../../build/words/share.ts';
import type { Share } from '../../api/operations.ts';
import { Chips } from '../../components/chips.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { Icon } from '../../components/icon.tsx';
import { ListTable } from '../../components/rows/list-table.tsx';
import { Age, Badge, Empty, Loading, numberText, Time } from '../../components/texts.tsx';
import { useNow, useTitle, useValue, useWords } from '../../components/use.ts';
import { View } from '../../components/view.tsx';
import { call } from '../../service/call.ts';
import { vehicles } from '../../service/live.ts';
import { without } from '../../state/search.ts';
import { chosenShares, shareFilters, standingOf } from '../../state/shares/share-view.ts';
import { useShares, useSharesChanged } from './use-shares.ts';

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

function Row({ share, onRevoke }: { readonly share: Share; onRevoke(): void }) {
  const { shares: texts } = useWords(shareWords);
  const name = useNameOf()(share.deviceID);
  const standing = standingOf(share, useNow());
  const [icon, tone] = looks[standing];
  const { columns } = texts;
  return (
    <tr data-share={share.shareID} data-standing={standing}>
      <th scope="row">
        <Link to="/vehicle/$deviceID" params={{ deviceID: share.deviceID }}>
          {name}
        </Link>
        <span className="note">
          {texts.kinds[share.kind]}
          {share.kind === 'live' ? null : (
            <>
              {' '}
              <Time at={share.startTime} /> – <Time at={share.endTime} />
            </>
          )}
          {share.title === '' ? null : (
            <>
              {' · '}
              <bdi>{share.title}</bdi>
            </>
          )}
        </span>
      </th>
      <td>
        <Badge icon={icon} {...(tone === undefined ? {} : { tone })}>
          {texts.standings[standing]}
        </Badge>
      </td>
      <td data-label={columns.made}>
        <bdi>{share.createdBy}</bdi>
        <span className="note">
          <Time at={share.createdOn} />
        </span>
      </td>
      <td data-label={columns.until}>
        <Time at={share.revokedOn === 0 ? share.expires : share.revokedOn} />
      </td>
      <td data-label={columns.used}>
        {numberText(share.uses)}
        <span className="note">
          <Age at={share.lastUsedOn} />
        </span>
      </td>
      <td>
        {standing === 'open' ? (
          <Button
            className="button small"
            aria-haspopup="dialog"
            aria-label={texts.revokeOf({ name, note: share.title, hasNote: share.title !== '' })}
            onPress={onRevoke}
          >
            {texts.revoke}…
          </Button>
        ) : null}
      </td>
    </tr>
  );
}

/** Asks once more, with the consequence. */
function Revoke({ share }: { readonly share: Share | undefined }) {
  const { shares: texts } = useWords(shareWords);
  const navigate = useNavigate({ from: '/shares' });
  const changed = useSharesChanged();
  const nameOf = useNameOf();
  const close = (): void => void navigate({ search: (before) => without(before, 'revoke'), replace: true });
  const revoking = useMutation({
    mutationFn: (shareID: string) => call('revokeShare', { body: { shareID } }),
    onSettled: changed,
    onSuccess: close,
  });
  return (
    <FormDialog
      isOpen={share !== undefined}
      icon="ban"
      title={texts.revokeTitle({ name: share === undefined ? '' : nameOf(share.deviceID) })}
      action={texts.revoke}
      isOff={share === undefined || revoking.isPending}
      error={revoking.error}
      submit={() => (share === undefined ? undefined : revoking.mutate(share.shareID))}
      close={() => {
        revoking.reset();
        close();
      }}
    >
      <p>{texts.revokeText}</p>
      {share === undefined || share.title === '' ? null : (
        <p>
          <bdi>{share.title}</bdi>
        </p>
      )}
      {share === undefined ? null : (
        <p className="muted">
          {texts.columns.made} <bdi>{share.createdBy}</bdi>, <Time at={share.createdOn} />
        </p>
      )}
    </FormDialog>
  );
}

function List({ shares }: { readonly shares: readonly Share[] }) {
  const { shares: texts } = useWords(shareWords);
  const navigate = useNavigate({ from: '/shares' });
  const { share, state, made, until, used, action } = texts.columns;
  return (
    <ListTable caption={texts.caption} columns={[share, state, made, until, used]} action={action}>
      {shares.map((one) => (
        <Row
          key={one.shareID}
          share={one}
          onRevoke={() =>
            void navigate({ search: (before) => ({ ...before, revoke: one.shareID }), replace: true })
          }
        />
      ))}
    </ListTable>
  );
}

function Shares() {
  const { shares: texts } = useWords(shareWords);
  const navigate = useNavigate({ from: '/shares' });
  const { show = 'open', vehicle = null, revoke } = useSearch({ from: '/shell/shares' });
  const { shares, readMs, error } = useShares();
  const nameOf = useNameOf();
  const shown = chosenShares(shares ?? [], { show, vehicle, nowS: useNow() });
  return (
    <section className="card" aria-labelledby="shares-title">
      <header className="wrap">
        <h2 id="shares-title">{vehicle === null ? texts.all : texts.of({ name: nameOf(vehicle) })}</h2>
        <Chips
          label={texts.filter}
          values={shareFilters}
          chosen={show}
          content={(one) => texts.filters[one]}
          onChoose={(one) => void navigate({ search: (before) => ({ ...before, show: one }), replace: true })}
        />
        {vehicle === null ? null : (
          <Link className="button small push" to="/shares" search={{ show }}>
            <Icon name="x" />
            {texts.allVehicles}
          </Link>
        )}
      </header>
      <View
        error={error}
        readMs={readMs}
        empty={
          shown.length === 0 ? (
            <Empty icon="link" title={texts.empty[show]}>
              <p>{texts.emptyHint}</p>
            </Empty>
          ) : null
        }
      >
        <List shares={shown} />
        {(shares?.length ?? 0) < listedMost ? null : (
          <p className="card-body muted">{texts.newest({ most: listedMost })}</p>
        )}
      </View>
      <Revoke share={shares?.find(({ shareID, revokedOn }) => shareID === revoke && revokedOn === 0)} />
    </section>
  );
}

export function SharesScreen() {
  const { shares: texts, pages } = useWords(shareWords);
  const { mayShare } = useShares();
  useTitle(pages.shares.title);
  return (
    <main className="page" id="main">
      <header className="page-head">
        <h1>{pages.shares.title}</h1>
        <p>{texts.lead}</p>
      </header>
      {mayShare === true ? (
        <Shares />
      ) : (
        <section className="card">
          {mayShare === null ? (
            <Loading rows={5} />
          ) : (
            <Empty icon="lock" title={texts.viewer}>
              <p>{texts.viewerHint}</p>
            </Empty>
          )}
        </section>
      )}
    </main>
  );
}
