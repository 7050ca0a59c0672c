// What the rule of the form would have done with the events of last week, as the service judges it.
import { useMutation } from '@tanstack/react-query';
import { formWords } from '../../../../build/words/form.ts';
import { ruleWords } from '../../../../build/words/rule.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { codeText, Time } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { useFailure } from '../../components/view.tsx';
import { call } from '../../service/call.ts';
import { vehicles } from '../../service/live.ts';
import { bodyOf, type RuleDraft, type Trial } from '../../state/rules/rule-draft.ts';

function Outcome({ trial }: { readonly trial: Trial }) {
  const words = useWords(ruleWords);
  const { trial: texts } = words.rules;
  const fleet = useValue(vehicles);
  const { notifications, alarms, events, isComplete, isEscalation, hasKinds, firings } = trial;
  return (
    <>
      <p className="strong" role="status">
        {texts.outcome({ notifications, alarms })}
      </p>
      <p className="muted">
        {isComplete ? texts.lookedAt({ count: events }) : texts.lookedAtOldest({ count: events })}
      </p>
      {isEscalation ? <p className="muted">{texts.escalation}</p> : null}
      {hasKinds ? <p className="muted">{texts.kinds}</p> : null}
      <ul className="stack tight">
        {firings.map(({ deviceID, statusCode, timestamp }, index) => (
          <li key={`${timestamp} ${index}`} className="row wrap">
            <Time at={timestamp} />
            <span>{codeText(statusCode, words)}</span>
            <bdi className="muted cut-off">{fleet.get(deviceID)?.name ?? deviceID}</bdi>
          </li>
        ))}
      </ul>
    </>
  );
}

interface RuleTrialProps {
  readonly draft: RuleDraft;
  /** The draft has faults. */
  readonly isOff: boolean;
}

export function RuleTrial({ draft, isOff }: RuleTrialProps) {
  const { rules, forms } = useWords(formWords, ruleWords);
  const { trial: texts } = rules;
  const trying = useMutation({
    mutationFn: async (of: RuleDraft) => ({ of, trial: await call('tryRule', { body: bodyOf(of) }) }),
  });
  const failure = useFailure(trying.error, forms.failed);
  // The outcome of another draft would be taken for that of this one.
  const trial = trying.data?.of === draft ? trying.data.trial : undefined;
  return (
    <section className="stack" aria-label={texts.title}>
      <div>
        <ActionButton
          className="button secondary"
          isOff={isOff || trying.isPending}
          onPress={() => trying.mutate(draft)}
        >
          {texts.title}
        </ActionButton>
      </div>
      {failure}
      {trial === undefined ? null : <Outcome trial={trial} />}
    </section>
  );
}
