// Releases of the units' program, the newest first, staged by groups, for administrators. All that is shown stands in the address.
import { useSearch } from '@tanstack/react-router';
import { releaseWords } from '../../../../build/words/release.ts';
import { ItemLink } from '../../components/patterns/address.tsx';
import { ListDetail } from '../../components/patterns/list-detail.tsx';
import { Gate, isOneOf, Page } from '../../components/patterns/page.tsx';
import { Empty, Time } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { useRole } from '../../service/role.ts';
import { ReleaseBadge, ReleaseDetail } from './detail.tsx';
import { CreateRelease } from './forms.tsx';
import { ReleaseUnits } from './units.tsx';
import { useReleases } from './use-releases.ts';

function Content() {
  const { releases: texts, pages } = useWords(releaseWords);
  const { columns } = texts;
  const { release: selected = null } = useSearch({ from: '/shell/releases' });
  const releases = useReleases();
  const { items, hosts } = releases;
  const chosen = items?.find((one) => one.releaseID === selected);
  const hasHosts = hosts.length > 0;
  const noHosts = { icon: 'lock', title: texts.noHosts, hint: texts.noHostsHint } as const;
  return (
    <div className="stack">
      <ListDetail
        title={pages.releases.title}
        list={releases}
        above={
          items === undefined || items.length === 0 || hasHosts ? null : (
            <Empty icon="lock" title={texts.noHosts}>
              <p>{texts.noHostsHint}</p>
            </Empty>
          )
        }
        empty={hasHosts ? { icon: 'refresh-cw', title: texts.empty, hint: texts.emptyHint } : noHosts}
        create={hasHosts ? { name: 'create', text: texts.create, form: <CreateRelease /> } : undefined}
        caption={texts.caption}
        columns={[
          {
            name: columns.release,
            cell: ({ releaseID, version, note }) => (
              <ItemLink search={{ release: releaseID }} isChosen={releaseID === selected} note={note}>
                <bdi>{version}</bdi>
              </ItemLink>
            ),
          },
          { name: columns.state, isBare: true, cell: (one) => <ReleaseBadge state={one.releaseState} /> },
          {
            name: columns.stages,
            cell: ({ stages }) =>
              texts.begunOf({
                begun: stages.filter(({ started }) => started > 0).length,
                all: stages.length,
              }),
          },
          { name: columns.made, cell: ({ created }) => <Time at={created} /> },
        ]}
        keyOf={({ releaseID }) => releaseID}
        selected={selected}
        none={{ label: texts.release, pick: texts.pick, gone: texts.gone }}
        detail={({ releaseID }) => <ReleaseDetail key={releaseID} releaseID={releaseID} />}
      />
      {chosen === undefined ? null : <ReleaseUnits key={chosen.releaseID} release={chosen} />}
    </div>
  );
}

export function ReleasesScreen() {
  const { releases: texts, pages } = useWords(releaseWords);
  return (
    <Page title={pages.releases.title}>
      <Gate isOpen={isOneOf(useRole(), 'admin')} title={texts.adminsOnly} hint={texts.adminsOnlyHint}>
        <Content />
      </Gate>
    </Page>
  );
}
