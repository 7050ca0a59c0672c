// Notifications of this browser: where they stand in words, and the press that switches them.

import { inboxWords } from '../../../../build/words/inbox.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { failureText } from '../../components/failure.ts';
import { Badge, Loading, Notice } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { PushFault } from '../../state/account/push-view.ts';
import { usePush } from './use-push.ts';

function Failure({ error }: { readonly error: Error }) {
  const words = useWords(inboxWords);
  const { push: texts } = words.inbox;
  const { title, hint } =
    error instanceof PushFault ? { title: texts.faults[error.code], hint: '' } : failureText(error, words);
  return (
    <Notice tone="look" icon="triangle-alert" role="alert" title={`${texts.failed}: ${title}`}>
      {hint}
    </Notice>
  );
}

export function PushCard() {
  const { inbox, stream } = useWords(inboxWords);
  const { push: texts } = inbox;
  const push = usePush();
  const { state } = push;
  return (
    <section className="card" aria-labelledby="push-title">
      <header>
        <h2 id="push-title">{texts.title}</h2>
      </header>
      <div className="card-body stack">
        <p className="muted">{texts.text}</p>
        {state === undefined ? (
          <Loading rows={1} />
        ) : (
          <p role="status">
            <Badge
              icon={state === 'on' ? 'bell-ring' : 'bell'}
              {...(state === 'on' ? { tone: 'ok' as const } : {})}
            >
              {texts.states[state]}
            </Badge>
          </p>
        )}
        {push.failure === null ? null : <Failure error={push.failure} />}
        {state === 'off' || state === 'other' || state === 'on' ? (
          <div className="row wrap">
            <ActionButton
              className="button secondary"
              isOff={push.isOff}
              onPress={() => push.change(state !== 'on')}
            >
              {state === 'on' ? texts.switchOff : texts.switchOn}
            </ActionButton>
            {push.isDown ? <span className="muted">{stream.commandsOff}</span> : null}
          </div>
        ) : null}
      </div>
    </section>
  );
}
