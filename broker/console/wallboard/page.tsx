// What the wallboard page shows: the board, that it has no access and since when, or how it is set up.

import { useEffect, useState } from 'react';
import { wallboardWords } from '../../../build/words/wallboard.ts';
import { Icon, type IconName } from '../components/icon.tsx';
import { spanText, timeText } from '../components/texts.tsx';
import { useNow, useTitle, useValue, useWords } from '../components/use.ts';
import { followFleet } from '../service/live.ts';
import { skewS } from '../service/session.ts';
import { access } from './access.ts';
import { Board } from './board.tsx';
import { SetUp } from './set-up.tsx';

interface SaidProps {
  readonly icon: IconName;
  /** When it began, ms of this computer. */
  readonly sinceMs: number;
  text(a: { readonly time: string; readonly span: string }): string;
  readonly hint: string;
  onSetUp(): void;
}

/** Large, and with since when: there is nothing else to show. */
function Said({ icon, sinceMs, text, hint, onSetUp }: SaidProps) {
  const words = useWords(wallboardWords);
  const now = useNow();
  const skew = useValue(skewS);
  const sinceS = sinceMs / 1000;
  const { title, setUp } = words.wallboard;
  return (
    <main className="board bare">
      <h1 className="hidden">{title}</h1>
      <div className="board-notice">
        <Icon name={icon} />
        <div>
          <strong>{text({ time: timeText(sinceS + skew), span: spanText(now - sinceS, words) })}</strong>
          <p role="alert">{hint}</p>
        </div>
      </div>
      <button type="button" className="button secondary" onClick={onSetUp}>
        {setUp}
      </button>
    </main>
  );
}

export function WallboardPage() {
  const { wallboard: texts } = useWords(wallboardWords);
  const state = useValue(access);
  const [isSetUp, setSetUp] = useState(false);
  const hasAccess = state.kind === 'given';
  useTitle(texts.title);
  // What is shown goes with the access.
  useEffect(() => (hasAccess ? followFleet() : undefined), [hasAccess]);
  const onSetUp = (): void => setSetUp(true);
  if (isSetUp || state.kind === 'none') return <SetUp onDone={() => setSetUp(false)} />;
  switch (state.kind) {
    case 'asking': {
      const { noAnswer, noAnswerHint } = texts;
      return (
        <Said icon="wifi-off" sinceMs={state.sinceMs} text={noAnswer} hint={noAnswerHint} onSetUp={onSetUp} />
      );
    }
    case 'ended':
      return (
        <Said
          icon="lock"
          sinceMs={state.sinceMs}
          text={texts.ended}
          hint={texts.endedHint}
          onSetUp={onSetUp}
        />
      );
    case 'given':
      return <Board expiresS={state.expiresS} onSetUp={onSetUp} />;
  }
}
