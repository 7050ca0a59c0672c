// On top of every screen once the service has another build of the console than this tab.
import { useEffect, useRef, useState } from 'react';
import { Button } from 'react-aria-components';
import { Notice } from '../components/texts.tsx';
import { useValue, useWords } from '../components/use.ts';
import { connection } from '../service/live.ts';
import { checkRelease } from '../service/offline/release-check.ts';
import { newReleaseWords } from '../words/release/words.ts';

/** A new release comes with a restart of the service, which ends the connection. */
function useNewRelease(): boolean {
  const { state } = useValue(connection);
  const wasDown = useRef(false);
  const [isNew, setNew] = useState(false);
  useEffect(() => {
    if (state === 'down') wasDown.current = true;
    if (state !== 'live' || !wasDown.current) return;
    wasDown.current = false;
    const look = async (): Promise<void> => {
      const served = await checkRelease('/console/');
      if (served !== null) setNew(!served.isCurrent);
    };
    void look();
  }, [state]);
  return isNew;
}

export function ReleaseNotice() {
  const { release: texts } = useWords(newReleaseWords);
  if (!useNewRelease()) return null;
  return (
    <div className="stale-notice">
      <Notice tone="busy" icon="refresh-cw" title={texts.title} role="status">
        {texts.hint}{' '}
        <Button className="button secondary small" onPress={() => location.reload()}>
          {texts.loadAgain}
        </Button>
      </Notice>
    </div>
  );
}
