// Releases of the units' program, staged by groups, for administrators. All that is shown stands in the address.
import { useSearch } from '@tanstack/react-router';
import { releaseWords } from '../../../../build/words/release.ts';
import { Empty, Loading } from '../../components/texts.tsx';
import { useTitle, useWords } from '../../components/use.ts';
import { useRole } from '../../service/role.ts';
import { CreateRelease } from './create.tsx';
import { ReleaseDetail } from './detail.tsx';
import { ReleaseList } from './list.tsx';
import { ReleaseUnits } from './units.tsx';
import { useReleases } from './use-releases.ts';

function Content() {
  const { releases: texts } = useWords(releaseWords);
  const { release: releaseID = null } = useSearch({ from: '/shell/releases' });
  const { releases } = useReleases();
  const chosen = releases?.find((one) => one.releaseID === releaseID);
  return (
    <div className="stack">
      <div className="split">
        <ReleaseList selected={releaseID} />
        {chosen === undefined ? (
          <aside className="card not-narrow" aria-label={texts.release}>
            <Empty
              icon="refresh-cw"
              title={releaseID === null || releases === undefined ? texts.pick : texts.gone}
            />
          </aside>
        ) : (
          <ReleaseDetail key={chosen.releaseID} releaseID={chosen.releaseID} />
        )}
      </div>
      {chosen === undefined ? null : <ReleaseUnits key={chosen.releaseID} release={chosen} />}
      <CreateRelease />
    </div>
  );
}

export function ReleasesScreen() {
  const { releases: texts, pages } = useWords(releaseWords);
  const role = useRole();
  useTitle(pages.releases.title);
  return (
    <main className="page" id="main">
      <header className="page-head">
        <h1>{pages.releases.title}</h1>
      </header>
      {role === 'admin' ? (
        <Content />
      ) : (
        <section className="card">
          {role === '' ? (
            <Loading rows={5} />
          ) : (
            <Empty icon="lock" title={texts.adminsOnly}>
              <p>{texts.adminsOnlyHint}</p>
            </Empty>
          )}
        </section>
      )}
    </main>
  );
}
