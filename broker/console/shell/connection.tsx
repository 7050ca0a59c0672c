// The state of the connection: live with its age, or since when nothing came.
import { Notice, spanText, timeText } from '../components/texts.tsx';
import { useNow, useValue, useWords } from '../components/use.ts';
import { connection } from '../service/live.ts';
import { isEnded } from '../service/session.ts';
import { measures } from '../words/measures.ts';

export function useConnectionText(): string {
  const words = useWords();
  const now = useNow();
  const { state, aliveMs } = useValue(connection);
  const span = spanText(now - aliveMs / 1000, words);
  if (state === 'live') return words.stream.live({ span });
  return state === 'opening' || aliveMs === 0 ? words.stream.opening : words.stream.down({ span });
}

/** A dot and words in the bar. */
export function Pulse() {
  const words = useWords();
  const { state } = useValue(connection);
  const text = useConnectionText();
  return (
    <span className="pulse" data-state={state} title={text}>
      <span className="hidden">{words.stream.name}</span>
      <span className="cut-off">{text}</span>
    </span>
  );
}

/** The zone of all times, where it is not that of this computer. */
export function AccountZone() {
  const { shell } = useWords();
  const { zone } = useValue(measures);
  if (zone === null) return null;
  return (
    <span className="zone-mark" title={shell.accountZone({ zone })}>
      <span className="hidden">{shell.accountZone({ zone })}</span>
      <bdi aria-hidden="true">{zone.replace(/.*\//, '').replaceAll('_', ' ')}</bdi>
    </span>
  );
}

/** On top of every screen while nothing comes. */
export function StaleNotice() {
  const words = useWords();
  const now = useNow();
  const { state, aliveMs } = useValue(connection);
  const hasEnded = useValue(isEnded);
  if (state !== 'down') return null;
  const title = hasEnded
    ? words.stream.ended
    : aliveMs === 0
      ? words.error.unreachable
      : words.stream.down({ span: spanText(now - aliveMs / 1000, words) });
  return (
    <section className="stale-notice" aria-label={words.stream.commandsOff}>
      <Notice tone="look" icon="wifi-off" title={title}>
        {aliveMs === 0 ? words.login.unreachableHint : words.stream.asOf({ time: timeText(aliveMs / 1000) })}
        {' · '}
        {words.stream.commandsOff}
      </Notice>
    </section>
  );
}

/** Announces that the stream is down or back, once each. */
export function ConnectionStatus() {
  const { stream } = useWords();
  const { state, aliveMs } = useValue(connection);
  return (
    <p className="hidden" role="status">
      {state === 'down' ? stream.asOf({ time: timeText(aliveMs / 1000) }) : ''}
    </p>
  );
}
