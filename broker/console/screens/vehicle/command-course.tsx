// The course of one command: what was asked, what the vehicle reported, where it stands and why it waits.
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { cutWords } from '../../../../build/words/cut.ts';
import { tabWords } from '../../../../build/words/tab.ts';
import type { EventRecord, ListedCommand } from '../../api/operations.ts';
import { Icon, type IconName } from '../../components/icon.tsx';
import { Age, Badge, codeText, iconOf, spanText, Time, timeText } from '../../components/texts.tsx';
import { useNow, useWords } from '../../components/use.ts';
import { useFailure } from '../../components/view.tsx';
import {
  askedOf,
  type CommandState,
  type CommandStep,
  commandStateOf,
  stepsOf,
} from '../../state/command-view.ts';
import { unmetOf } from '../../state/evidence.ts';
import { inOrder, ownTimeOf } from '../../state/orders/cut-course.ts';
import { relayOf } from '../../state/orders/cut-view.ts';
import { EvidenceTable } from '../cut/evidence.tsx';
import { reasonWords, unmetText } from '../cut/verdict-words.ts';

type Tone = 'look' | 'ok' | 'busy' | null;

const looks: Readonly<Record<CommandState, readonly [icon: IconName, tone: Tone]>> = {
  approval: ['hourglass', 'busy'],
  requested: ['hourglass', 'busy'],
  sent: ['hourglass', 'busy'],
  received: ['hourglass', 'busy'],
  armed: ['hourglass', 'busy'],
  executing: ['hourglass', 'busy'],
  confirmed: ['shield-check', 'ok'],
  refused: ['ban', 'look'],
  expired: ['timer-off', 'look'],
  unknown: ['circle-help', 'look'],
  cancelled: ['undo-2', null],
  superseded: ['undo-2', null],
};

export function CommandStateBadge({ state }: { readonly state: string }) {
  const { commands: texts } = useWords(tabWords);
  const known = commandStateOf(state);
  const [icon, tone] = looks[known ?? 'unknown'];
  return (
    <Badge icon={icon} {...(tone === null ? {} : { tone })}>
      {known === null ? state : texts.states[known]}
    </Badge>
  );
}

/** What a command asks for, in words. */
export function useAsked(command: Pick<ListedCommand, 'feature' | 'state'>): string {
  const { commands: texts } = useWords(tabWords);
  const asked = askedOf(command);
  return asked === null ? `${command.feature} ${command.state}` : texts.asked[asked];
}

/** Why a person asked for a command: the code of a cut or an unlock in words with its note, else what was written; '' without one. */
export function useReason({ feature, reason }: Pick<ListedCommand, 'feature' | 'reason'>): string {
  const words = useWords(cutWords);
  const relay = relayOf(feature);
  return relay === undefined || reason === '' ? reason : reasonWords(reason, relay, words);
}

/** The rules that are not met, as the vehicle judged them, or the proof that it acted on; of a unit that sends no rules, what it wrote. */
function Reasons({ command: { feature, verdict, detail } }: { readonly command: ListedCommand }) {
  const words = useWords(tabWords, cutWords);
  const { commands: texts } = words;
  if (verdict === null && detail !== '')
    return (
      <section className="stack tight">
        <h3>{texts.written}</h3>
        <p>
          <q>{detail}</q>
        </p>
      </section>
    );
  if (verdict === null) return null;
  const unmet = unmetOf(verdict);
  const relay = relayOf(feature);
  if (unmet.length === 0)
    return relay === undefined ? null : (
      <EvidenceTable relay={relay} verdict={verdict} caption={words.order.proofOf} />
    );
  return (
    <section className="stack tight">
      <h3>{texts.because}</h3>
      <ul className="stack tight">
        {unmet.map((finding) => (
          <li key={finding.rule} className="row wrap">
            <span className="cross">
              <Icon name="circle-x" />
            </span>
            <span>{unmetText(finding, words)}</span>
          </li>
        ))}
      </ul>
      <p className="faint">
        {texts.judged} <Age at={verdict.at} />
      </p>
    </section>
  );
}

interface StepProps {
  readonly step: CommandStep;
  readonly deviceID: string;
  /** By the clock of the service. */
  readonly at: number;
}

function Step({ step, deviceID, at }: StepProps) {
  const words = useWords(tabWords, cutWords);
  const { eventID, timestamp, statusCode, state } = step;
  const ownAt = ownTimeOf(timestamp, at);
  return (
    <li>
      <Icon name={state === null ? iconOf(statusCode, 'circle-check') : looks[state][0]} />
      <Link
        className="plain-link"
        to="/vehicle/$deviceID"
        params={{ deviceID }}
        search={{ tab: 'events', kind: 'changes', event: eventID, from: timestamp }}
      >
        {state === null ? codeText(statusCode, words) : words.commands.states[state]}
      </Link>
      <Time at={at} />
      {ownAt === null ? null : <p>{words.order.ownClock({ time: timeText(ownAt) })}</p>}
    </li>
  );
}

/** The time that is left, and until when. */
function Expiry({ command: { expires, issued } }: { readonly command: ListedCommand }) {
  const words = useWords(tabWords);
  const { commands: texts } = words;
  const left = Math.max(0, expires - useNow());
  return (
    <div className="expiry">
      <div className="row">
        <strong>
          <bdi>{spanText(left, words)}</bdi>
        </strong>
        <span className="muted">{texts.until({ time: timeText(expires) })}</span>
      </div>
      <progress aria-label={texts.left} max={Math.max(1, expires - issued)} value={left} />
    </div>
  );
}

interface CourseProps {
  readonly command: ListedCommand;
  /** Records of its time; undefined while they are read. */
  readonly records: readonly EventRecord[] | undefined;
  readonly error: Error | null;
  /** What can be done with it. */
  readonly children: ReactNode;
}

export function CommandCourse({ command, records, error, children }: CourseProps) {
  const { commands: texts, common, order } = useWords(tabWords, cutWords);
  const asked = useAsked(command);
  const steps = stepsOf(records ?? [], command.commandID);
  const times = inOrder([command.issued, ...steps.map(({ creationTime }) => creationTime), command.updated]);
  const reason = useReason(command);
  const failure = useFailure(error, texts.noReports);
  const state = commandStateOf(command.commandState);
  const [icon, tone] = looks[state ?? 'unknown'];
  const standing = tone === 'ok' ? 'good' : tone === 'look' ? 'bad' : command.hasEnded ? 'off' : 'now';
  return (
    <>
      <header>
        <h2 id="command-title">{asked}</h2>
        <span className="push">
          <CommandStateBadge state={command.commandState} />
        </span>
      </header>
      <div className="card-body stack">
        {command.hasEnded ? null : <Expiry command={command} />}
        <ol className="steps">
          <li>
            <Icon name="circle-check" />
            <span>{texts.askedBy({ user: command.issuer || common.unknown })}</span>
            <Time at={command.issued} />
            {reason === '' ? null : <p>{reason}</p>}
          </li>
          {command.approver === '' ? null : (
            <li>
              <Icon name="circle-check" />
              <span>{texts.approvedBy({ user: command.approver })}</span>
            </li>
          )}
          {steps.map((step, index) => (
            <Step
              key={step.eventID}
              step={step}
              deviceID={command.deviceID}
              at={times[index + 1] ?? step.creationTime}
            />
          ))}
          {command.cancelledBy === '' ? null : (
            <li>
              <Icon name="undo-2" />
              <span>{texts.withdrawalBy({ user: command.cancelledBy })}</span>
            </li>
          )}
          <li className={standing}>
            <Icon name={icon} />
            <span>{state === null ? command.commandState : texts.states[state]}</span>
            <Time at={times.at(-1) ?? command.updated} />
            {state === 'confirmed' ? <p>{texts.readBack}</p> : null}
          </li>
        </ol>
        <Reasons command={command} />
        {failure}
        {children}
        <dl className="pairs">
          <dt>{texts.number}</dt>
          <dd className="mono">{command.commandID}</dd>
          {command.reported === 0 ? null : (
            <>
              <dt>{texts.reported}</dt>
              <dd>{order.ownClock({ time: timeText(command.reported) })}</dd>
            </>
          )}
        </dl>
      </div>
    </>
  );
}
