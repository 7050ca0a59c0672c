// To whom an alarm was sent, by which way, and what became of it.
import type { AlarmDelivery } from '../api/operations.ts';
import { Icon } from './icon.tsx';
import { spanText, Time } from './texts.tsx';
import { useWords } from './use.ts';

const looks = {
  sent: ['circle-check', 'tick'],
  pending: ['hourglass', 'unknown'],
  dead: ['circle-x', 'cross'],
} as const;

export function Deliveries({ deliveries }: { readonly deliveries: readonly AlarmDelivery[] }) {
  const words = useWords();
  const { deliveries: texts } = words;
  if (deliveries.length === 0) return <p className="muted">{texts.none}</p>;
  return (
    <ul className="stack tight">
      {deliveries.map(({ channel, target, state, created, ended }, index) => {
        const [icon, tone] = looks[state];
        return (
          <li key={`${created} ${index}`} className="row wrap">
            <span className={tone}>
              <Icon name={icon} />
            </span>
            <span>{texts.channels[channel]}</span>
            {target === '' ? null : <bdi className="cut-off">{target}</bdi>}
            <span className="muted">{texts.states[state]}</span>
            <span className="faint push">
              <Time at={ended === 0 ? created : ended} />
              {ended === 0 ? null : ` ${texts.after({ span: spanText(ended - created, words) })}`}
            </span>
          </li>
        );
      })}
    </ul>
  );
}
