// The releases of the account, the newest first.
import { Link } from '@tanstack/react-router';
import { Button } from 'react-aria-components';
import { releaseWords } from '../../../../build/words/release.ts';
import { Icon, type IconName } from '../../components/icon.tsx';
import { ListTable } from '../../components/rows/list-table.tsx';
import { Badge, Empty, Time } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { View } from '../../components/view.tsx';
import type { ListedRelease } from '../../state/releases/release-view.ts';
import { useReleaseDialog, useReleases } from './use-releases.ts';

type State = ListedRelease['releaseState'];

const looks: Readonly<Record<State, readonly [icon: IconName, tone: 'ok' | 'busy' | 'look' | null]>> = {
  ready: ['pause', null],
  running: ['hourglass', 'busy'],
  stopping: ['octagon-alert', 'look'],
  stopped: ['octagon-alert', 'look'],
  done: ['circle-check', 'ok'],
};

export function ReleaseBadge({ state }: { readonly state: State }) {
  const { releases: texts } = useWords(releaseWords);
  const [icon, tone] = looks[state];
  return (
    <Badge icon={icon} {...(tone === null ? {} : { tone })}>
      {texts.states[state]}
    </Badge>
  );
}

function Row({ release, isSelected }: { readonly release: ListedRelease; readonly isSelected: boolean }) {
  const { releases: texts } = useWords(releaseWords);
  const { releaseID, version, note, releaseState, created, stages } = release;
  return (
    <tr data-selected={isSelected}>
      <th scope="row">
        <Link
          to="/releases"
          search={{ release: releaseID }}
          resetScroll={false}
          {...(isSelected ? { 'aria-current': true as const } : {})}
        >
          <bdi>{version}</bdi>
        </Link>
        <span className="note">{note}</span>
      </th>
      <td>
        <ReleaseBadge state={releaseState} />
      </td>
      <td data-label={texts.columns.stages}>
        {texts.begunOf({ begun: stages.filter(({ started }) => started > 0).length, all: stages.length })}
      </td>
      <td data-label={texts.columns.made}>
        <Time at={created} />
      </td>
    </tr>
  );
}

function Table({
  releases,
  selected,
}: {
  readonly releases: readonly ListedRelease[];
  selected: string | null;
}) {
  const { releases: texts } = useWords(releaseWords);
  const { release, state, stages, made } = texts.columns;
  return (
    <ListTable caption={texts.caption} columns={[release, state, stages, made]}>
      {releases.map((one) => (
        <Row key={one.releaseID} release={one} isSelected={one.releaseID === selected} />
      ))}
    </ListTable>
  );
}

/** @param selected the release that stands in the address. */
export function ReleaseList({ selected }: { readonly selected: string | null }) {
  const { releases: texts, pages } = useWords(releaseWords);
  const { releases, hosts, readMs, error } = useReleases();
  const dialog = useReleaseDialog();
  const hasHosts = hosts.length > 0;
  return (
    <section className="card" aria-labelledby="releases-title">
      <header className="wrap">
        <h2 id="releases-title">{pages.releases.title}</h2>
        {hasHosts ? (
          <Button
            className="button primary push"
            aria-haspopup="dialog"
            onPress={() => dialog.open('create')}
          >
            <Icon name="plus" />
            {texts.create}…
          </Button>
        ) : null}
      </header>
      {releases !== undefined && !hasHosts ? (
        <Empty icon="lock" title={texts.noHosts}>
          <p>{texts.noHostsHint}</p>
        </Empty>
      ) : null}
      <View
        error={error}
        readMs={readMs}
        empty={
          releases?.length === 0 ? (
            hasHosts ? (
              <Empty icon="refresh-cw" title={texts.empty}>
                <p>{texts.emptyHint}</p>
              </Empty>
            ) : (
              <span />
            )
          ) : null
        }
      >
        <Table releases={releases ?? []} selected={selected} />
      </View>
    </section>
  );
}
