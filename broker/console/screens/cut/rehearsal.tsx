// "Would you cut now?", and the same of an unlock: the answer of the vehicle in one sentence, and the question again.

import { cutWords } from '../../../../build/words/cut.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { failureText } from '../../components/failure.ts';
import { Icon } from '../../components/icon.tsx';
import { useWords } from '../../components/use.ts';
import type { Relay } from '../../state/orders/cut-view.ts';
import type { WordsWith } from '../../words/word-set.ts';
import { EvidenceTable } from './evidence.tsx';
import type { Rehearsal } from './questions/use-rehearsal.ts';
import { whyText } from './verdict-words.ts';

interface RehearsalProps {
  readonly relay: Relay;
  readonly rehearsal: Rehearsal;
  readonly isOnline: boolean;
  readonly isDown: boolean;
}

function sentence(
  { relay, rehearsal, isOnline }: RehearsalProps,
  words: WordsWith<[typeof cutWords]>,
): string {
  const { order: texts } = words;
  const { state, verdict, error } = rehearsal;
  if (state === 'asked') return texts.rehearsing;
  if (state === 'failed') return failureText(error, words).title;
  if (state === 'refused') return texts.rehearsalRefused;
  if (state === 'silent') return texts.noAnswer;
  if (verdict === null) return isOnline ? texts.movesNothing : texts.offline;
  return verdict.code === 'allowed'
    ? words.orders[relay].would
    : texts.wouldNot({ why: whyText(verdict, words) });
}

/** The sentence, politely announced, and the button that asks again. */
export function RehearsalAnswer(props: RehearsalProps) {
  const words = useWords(cutWords);
  const { order: texts, orders } = words;
  const { relay, rehearsal, isOnline, isDown } = props;
  const isOff = isDown || !isOnline || rehearsal.state === 'asked' || rehearsal.waitS > 0;
  return (
    <div className="stack tight">
      <p role="status">{sentence(props, words)}</p>
      <div className="row wrap">
        <ActionButton className="button secondary small" isOff={isOff} onPress={rehearsal.ask}>
          <Icon name="circle-help" />
          {orders[relay].rehearse}
        </ActionButton>
        {rehearsal.waitS > 0 && rehearsal.state !== 'asked' ? (
          <small>{texts.again({ seconds: rehearsal.waitS })}</small>
        ) : null}
      </div>
    </div>
  );
}

/** The rules as the vehicle answered them just now, with the sentence below. */
export function RehearsalEvidence(props: RehearsalProps) {
  const { rehearsal: title } = useWords(cutWords).orders[props.relay];
  return (
    <section className="stack" aria-label={title}>
      <EvidenceTable relay={props.relay} verdict={props.rehearsal.verdict} caption={title} />
      <RehearsalAnswer {...props} />
    </section>
  );
}
