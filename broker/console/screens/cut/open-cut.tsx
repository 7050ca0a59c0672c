// The way to the cut of a vehicle: the form, or the cut that waits. Without a stream it is off and says why; what is under way may be
// looked at always.
import { Link } from '@tanstack/react-router';
import { useId } from 'react';
import { Icon } from '../../components/icon.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { connection } from '../../service/live.ts';

interface OpenCutProps {
  readonly deviceID: string;
  /** State of a pending command of the engine cut-off; null without one. */
  readonly pendingCut: string | null;
  readonly mayCommand: boolean;
}

export function OpenCut({ deviceID, pendingCut, mayCommand }: OpenCutProps) {
  const { openCut: texts } = useWords();
  const { state } = useValue(connection);
  const whyID = useId();
  if (!mayCommand) return null;
  if (pendingCut === null && state !== 'live')
    return (
      <span className="row">
        <button
          type="button"
          className="button secondary"
          aria-disabled="true"
          aria-describedby={whyID}
          title={texts.off}
        >
          <Icon name="power-off" />
          {texts.open}
        </button>
        <span className="hidden" id={whyID}>
          {texts.off}
        </span>
      </span>
    );
  return (
    <Link
      className={pendingCut === null ? 'button secondary' : 'button primary'}
      to="/vehicle/$deviceID"
      params={{ deviceID }}
      search={{ cut: 'ask' }}
    >
      <Icon name={pendingCut === null ? 'power-off' : 'hourglass'} />
      {pendingCut === null ? texts.open : texts.watch}
    </Link>
  );
}
