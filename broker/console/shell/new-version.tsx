// On top of every screen: there is a new version of the console, or a part of it could not be loaded. What is loaded goes on.
import { useEffect } from 'react';
import { Button } from 'react-aria-components';
import { Notice } from '../components/texts.tsx';
import { useValue, useWords } from '../components/use.ts';
import { checkBuild, isOutdated } from '../service/build.ts';
import { connection, returns } from '../service/live.ts';
import { isPartMissing } from '../words/parts.ts';
import { notLoaded } from '../words/word-set.ts';

const reload = (): void => window.location.reload();

export function ReloadButton() {
  const { shell } = useWords();
  return (
    <Button className="button secondary small" onPress={reload}>
      {shell.reload}
    </Button>
  );
}

/** A release restarts the service, so each return of the stream may bring one; and what could not be loaded may be gone with one. */
export function useBuildChecks(): void {
  useEffect(() => returns.subscribe(() => void checkBuild()), []);
  const missing = useValue(isPartMissing);
  const language = useValue(notLoaded);
  useEffect(() => {
    if (missing || language !== null) void checkBuild();
  }, [missing, language]);
}

export function NewVersion() {
  const { shell } = useWords();
  const outdated = useValue(isOutdated);
  const missing = useValue(isPartMissing);
  const { state } = useValue(connection);
  useBuildChecks();
  // While the service is away nothing could be loaded again, and what stands here would be lost.
  if (!outdated && (!missing || state === 'down')) return null;
  return (
    <div className="stale-notice row wrap" role="status">
      <Notice
        tone={outdated ? 'busy' : 'look'}
        icon={outdated ? 'refresh-cw' : 'triangle-alert'}
        title={outdated ? shell.newVersion : shell.partMissing}
      >
        {outdated ? shell.newVersionHint : shell.partMissingHint}
      </Notice>
      <ReloadButton />
    </div>
  );
}
