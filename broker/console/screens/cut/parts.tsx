// Parts of the screens of a cut: badge of its state, the vehicle as it is now, the course, the countdown.
import { useEffect, useState } from 'react';
import { reasonName } from '../../../../src/core/reports/table.ts';
import { Icon, type IconName } from '../../components/icon.tsx';
import { Age, Badge, spanText, Time, timeText } from '../../components/texts.tsx';
import { useNow, useWords } from '../../components/use.ts';
import { type CutState, type Step, toneOf } from '../../state/cut-view.ts';
import type { Vehicle } from '../../state/fleet.ts';
import { cutWords } from '../../words/cut/words.ts';
import type { WordsWith } from '../../words/word-set.ts';

const stateIcons: Readonly<Record<CutState, IconName>> = {
  approval: 'user-check',
  requested: 'hourglass',
  sent: 'hourglass',
  received: 'hourglass',
  armed: 'hourglass',
  executing: 'power-off',
  confirmed: 'shield-check',
  refused: 'ban',
  expired: 'timer-off',
  cancelled: 'undo-2',
  superseded: 'undo-2',
  unknown: 'circle-help',
};

export function CutStateBadge({ state }: { readonly state: CutState }) {
  const { states } = useWords(cutWords).cut;
  const tone = toneOf(state);
  return (
    <Badge icon={stateIcons[state]} {...(tone === 'off' ? {} : { tone })}>
      {states[state]}
    </Badge>
  );
}

/** Code and note of a reason in the language of the page; what another client wrote stands as it is. */
export function reasonWords(text: string, { cut, common }: WordsWith<[typeof cutWords]>): string {
  return reasonName(text, cut.reasons) || common.none;
}

/** Where the vehicle is, how fast, whether it runs: from the stream, each with its age. */
export function VehicleFacts({ vehicle }: { readonly vehicle: Vehicle }) {
  const { cut: texts, vehicle: words, units, common, age, state } = useWords(cutWords);
  const fixAge = (
    <span className="age">
      <Age at={vehicle.fixS} />
    </span>
  );
  const place =
    vehicle.address ||
    vehicle.zone ||
    (vehicle.place === null
      ? words.noPosition
      : vehicle.place
          .toReversed()
          .map((one) => one.toFixed(5))
          .join(', '));
  return (
    <dl className="pairs">
      <dt>{texts.where}</dt>
      <dd>
        <bdi>{place}</bdi> {vehicle.place === null ? null : fixAge}
      </dd>
      <dt>{words.speed}</dt>
      <dd>
        {vehicle.fixS === 0 ? (
          age.unknown
        ) : (
          <>
            <bdi>
              {vehicle.speed} {units.kmh}
            </bdi>{' '}
            {fixAge}
          </>
        )}
      </dd>
      <dt>{words.ignition}</dt>
      <dd>{vehicle.ignition === null ? age.unknown : vehicle.ignition === '1' ? common.on : common.off}</dd>
      <dt>{texts.relayNow}</dt>
      <dd>
        {vehicle.cutoff === null ? age.unknown : vehicle.cutoff === '1' ? words.cut : words.notCut}{' '}
        <span className="age">{words.readBack}</span>
      </dd>
      <dt>{words.driver}</dt>
      <dd>{vehicle.driver || words.noDriver}</dd>
      <dt>{texts.lastSeen}</dt>
      <dd>
        <Age at={vehicle.heartbeatS} />
        {vehicle.isOnline === null ? '' : ` · ${vehicle.isOnline ? state.online : state.offline}`}
      </dd>
    </dl>
  );
}

const stepIcons: Readonly<Record<Step['kind'], IconName>> = {
  done: 'circle-check',
  now: 'hourglass',
  later: 'circle-dashed',
  good: 'shield-check',
  bad: 'ban',
  off: 'undo-2',
};

function stepText({ name, by }: Step, { steps }: WordsWith<[typeof cutWords]>['cut']): string {
  switch (name) {
    case 'asked':
    case 'approved':
      return steps[name](by);
    case 'refused':
      return by === '' ? steps.refused : steps.refusedBy(by);
    case 'cancelled':
      return by === '' ? steps.cancelled : steps.cancelledBy(by);
    default:
      return steps[name];
  }
}

interface CourseProps {
  readonly steps: readonly Step[];
  /** As the ledger has it. */
  readonly reason: string;
}

/** One line a state with its time; the present one in bold, later ones dashed. */
export function Course({ steps, reason }: CourseProps) {
  const words = useWords(cutWords);
  const now = useNow();
  const { cut: texts } = words;
  return (
    <section className="stack">
      <h3>{texts.course}</h3>
      <ol className="steps">
        {steps.map((step) => (
          <li key={step.name} {...(step.kind === 'done' ? {} : { className: step.kind })}>
            <Icon name={step.name === 'expired' ? 'timer-off' : stepIcons[step.kind]} />
            <span>{stepText(step, texts)}</span>
            {step.at === null ? <span /> : <Time at={step.at} />}
            {step.name === 'asked' && reason !== '' ? (
              <p>
                {texts.reason}: {reasonWords(reason, words)}
              </p>
            ) : null}
            {step.kind === 'now' && step.at !== null ? (
              <p>{texts.since(spanText(now - step.at, words))}</p>
            ) : null}
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Announced when so many seconds are left. */
const announcedS = [600, 60] as const;

/** Time left as text in the first place. @param began epoch seconds, as `ends`. */
export function Countdown({ began, ends }: { readonly began: number; readonly ends: number }) {
  const words = useWords(cutWords);
  const { cut: texts } = words;
  const now = useNow();
  const leftS = Math.max(0, ends - now);
  const used = Math.min(100, Math.max(0, ((now - began) / Math.max(1, ends - began)) * 100));
  const [said, setSaid] = useState('');
  const mark = announcedS.find((one) => leftS === one) ?? null;
  useEffect(() => {
    if (mark !== null) setSaid(texts.leftAnnounce(spanText(mark, words)));
  }, [mark, texts, words]);
  return (
    <div className="expiry">
      <div className="row">
        <strong role="timer">
          <bdi>{spanText(leftS, words)}</bdi>
        </strong>
        <span className="muted">{texts.left}</span>
        <span className="push muted">{texts.ends(timeText(ends))}</span>
      </div>
      <progress value={used} max={100} aria-label={texts.used} />
      <p className="hidden" role="status">
        {said}
      </p>
    </div>
  );
}
