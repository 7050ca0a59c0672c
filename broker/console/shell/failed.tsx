// What stands in place of a screen that has failed, or that is not there.
import { type ErrorComponentProps, Link } from '@tanstack/react-router';
import { Empty, Notice } from '../components/texts.tsx';
import { useWords } from '../components/use.ts';
import { PartNotLoaded } from '../words/parts.ts';
import { ReloadButton } from './new-version.tsx';

/** A screen that could not be loaded: the notice on top of it says why. */
function ScreenMissing() {
  const { shell } = useWords();
  return (
    <main className="page" id="main">
      <h1 className="hidden">{shell.partMissing}</h1>
      <Empty icon="refresh-cw" title={shell.partMissing}>
        <ReloadButton />
      </Empty>
    </main>
  );
}

export function ScreenFailed({ error }: ErrorComponentProps) {
  const { shell } = useWords();
  if (error instanceof PartNotLoaded) return <ScreenMissing />;
  return (
    <main className="page" id="main">
      <h1 className="hidden">{shell.failed}</h1>
      <Notice tone="look" icon="triangle-alert" role="alert" title={shell.failed}>
        {shell.failedHint} <code>{error instanceof Error ? error.message : String(error)}</code>
      </Notice>
    </main>
  );
}

export function NotFound() {
  const { shell, pages } = useWords();
  return (
    <main className="page" id="main">
      <h1 className="hidden">{shell.notFound}</h1>
      <Empty icon="circle-help" title={shell.notFound}>
        <Link to="/live">{pages.live.go}</Link>
      </Empty>
    </main>
  );
}
