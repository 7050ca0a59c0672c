// The guided start: three things to try, each marked by what really happened and not by a press.
import { Link } from '@tanstack/react-router';
import { type ReactNode, useId } from 'react';
import { practiceWords } from '../../../../build/words/practice.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Icon } from '../../components/icon.tsx';
import { Badge } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { practiceDone } from '../../service/practice.ts';
import { useRole } from '../../service/role.ts';
import { type Offers, type PracticeStep, practiceSteps } from '../../state/practice/guide.ts';
import type { World } from './use-world.ts';

interface StepProps {
  readonly step: PracticeStep;
  readonly state: 'happened' | 'next' | 'later';
  readonly children: ReactNode;
}

const icons = { happened: 'circle-check', next: 'circle-dashed', later: 'circle-dashed' } as const;

function Step({ step, state, children }: StepProps) {
  const { practice: texts } = useWords(practiceWords);
  const titleID = useId();
  return (
    <li className={`practice-step ${state}`} aria-labelledby={titleID}>
      <h3 id={titleID}>
        {texts.steps[step].title}{' '}
        <Badge
          icon={icons[state]}
          {...(state === 'later' ? {} : { tone: state === 'happened' ? ('ok' as const) : ('busy' as const) })}
        >
          {texts[state]}
        </Badge>
      </h3>
      <p className="muted">{texts.steps[step].text}</p>
      <div className="row wrap">{children}</div>
    </li>
  );
}

/** The step that is next has the one button that stands out. */
const buttonOf = (isNext: boolean): string => `button ${isNext ? 'primary' : 'secondary'}`;

interface OfferProps {
  readonly world: World;
  readonly isNext: boolean;
}

function ActStep({ world, isNext, deviceID, action }: OfferProps & Parameters<World['act']>[0]) {
  const { practice: texts } = useWords(practiceWords);
  const text =
    action === 'askForCut'
      ? texts.steps.approval.act({ vehicle: deviceID })
      : texts.steps.alarm.act({ vehicle: deviceID });
  return (
    <ActionButton
      className={buttonOf(isNext)}
      isOff={world.isOff}
      onPress={() => world.act({ deviceID, action })}
    >
      <Icon name={action === 'askForCut' ? 'user-check' : 'siren'} />
      {text}
    </ActionButton>
  );
}

/** The cut is asked for by its own form only; a vehicle that does not drive is made to first. */
function WaitStep({ world, isNext, offers }: OfferProps & { readonly offers: Offers }) {
  const { practice: texts } = useWords(practiceWords);
  const { wait } = offers;
  if (wait === null) return <span className="muted">{texts.noVehicle}</span>;
  const { deviceID } = wait;
  if (!offers.isDriving)
    return (
      <ActionButton
        className={buttonOf(isNext)}
        isOff={world.isOff}
        onPress={() => world.act({ deviceID, action: 'drive' })}
      >
        <Icon name="play" />
        {texts.steps.wait.drive({ vehicle: deviceID })}
      </ActionButton>
    );
  return (
    <Link className={buttonOf(isNext)} to="/vehicle/$deviceID" params={{ deviceID }} search={{ cut: 'ask' }}>
      <Icon name="power-off" />
      {texts.steps.wait.act({ vehicle: deviceID })}
    </Link>
  );
}

const looks = { alarm: '/alarms', wait: '/live', approval: '/approvals' } as const;

export function Guide({ world, offers }: { readonly world: World; readonly offers: Offers }) {
  const { practice: texts } = useWords(practiceWords);
  const done = useValue(practiceDone);
  const role = useRole();
  const next = practiceSteps.find((step) => !done.includes(step));
  const none = <span className="muted">{texts.noVehicle}</span>;
  const offer: Readonly<Record<PracticeStep, ReactNode>> = {
    alarm:
      offers.alarm === null ? (
        none
      ) : (
        <ActStep world={world} isNext={next === 'alarm'} deviceID={offers.alarm.deviceID} action="panic" />
      ),
    wait: <WaitStep world={world} isNext={next === 'wait'} offers={offers} />,
    approval:
      role !== 'admin' ? (
        <span className="muted">{texts.adminOnly}</span>
      ) : offers.approval === null ? (
        none
      ) : (
        <ActStep
          world={world}
          isNext={next === 'approval'}
          deviceID={offers.approval.deviceID}
          action="askForCut"
        />
      ),
  };
  return (
    <section className="card" aria-labelledby="guide-title">
      <header>
        <h2 id="guide-title">{texts.guide}</h2>
        <span className="push muted" role="status">
          {texts.progress({ done: done.length, all: practiceSteps.length })}
        </span>
      </header>
      <ol className="card-body practice-steps">
        {practiceSteps.map((step) => (
          <Step
            key={step}
            step={step}
            state={done.includes(step) ? 'happened' : step === next ? 'next' : 'later'}
          >
            {world.mayAct ? offer[step] : null}
            <Link className="button secondary" to={looks[step]}>
              {texts.steps[step].look}
            </Link>
          </Step>
        ))}
      </ol>
    </section>
  );
}
