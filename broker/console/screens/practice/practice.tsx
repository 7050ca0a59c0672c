// The practice fleet: three things to try, and the world of its vehicles, each of which is chosen in the address.
import { Link, useSearch } from '@tanstack/react-router';
import { type ReactNode, useId } from 'react';
import { practiceWords } from '../../../../build/words/practice.ts';
import type { PracticeAction, PracticeFleet, PracticeVehicle } from '../../../../src/core/practice.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Icon, type IconName } from '../../components/icon.tsx';
import { Pairs } from '../../components/patterns/detail.tsx';
import { amountText, Badge, Empty, Notice } from '../../components/texts.tsx';
import { useTitle, useValue, useWords } from '../../components/use.ts';
import { View } from '../../components/view.tsx';
import { vehicles } from '../../service/live.ts';
import { practiceDone, usePracticeFleet } from '../../service/practice.ts';
import { useRole, useUser } from '../../service/role.ts';
import { isPractice, practiceAccount } from '../../service/session.ts';
import { type Offers, offersOf, type PracticeStep, practiceSteps } from '../../state/practice/guide.ts';
import type { WordsWith } from '../../words/word-set.ts';
import { useWorld, type World } from './use-world.ts';

// The guided start: three things to try, each marked by what really happened and not by a press.

interface StepProps {
  readonly step: PracticeStep;
  readonly state: 'happened' | 'next' | 'later';
  readonly children: ReactNode;
}

const stepIcons = { happened: 'circle-check', next: 'circle-dashed', later: 'circle-dashed' } as const;

function Step({ step, state, children }: StepProps) {
  const { practice: texts } = useWords(practiceWords);
  const titleID = useId();
  return (
    <li className={`practice-step ${state}`} aria-labelledby={titleID}>
      <h3 id={titleID}>
        {texts.steps[step].title}{' '}
        <Badge
          icon={stepIcons[state]}
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

function Guide({ world, offers }: { readonly world: World; readonly offers: Offers }) {
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

// One simulated vehicle as it truly is, and what may be done to it.

type Group = keyof WordsWith<[typeof practiceWords]>['practice']['groups'];

const icons: Readonly<Record<PracticeAction, IconName>> = {
  drive: 'play',
  stop: 'pause',
  ignitionOn: 'key-round',
  ignitionOff: 'key-round',
  openCargoDoor: 'box',
  panic: 'siren',
  steal: 'truck',
  jam: 'satellite',
  endJam: 'satellite',
  disconnect: 'wifi-off',
  connect: 'signal',
  agree: 'users',
};

/** What is offered: of two opposites the one that changes something. */
const offered = (vehicle: PracticeVehicle): Readonly<Record<Group, readonly PracticeAction[]>> => ({
  driving: ['drive', 'stop', vehicle.isIgnitionOn ? 'ignitionOff' : 'ignitionOn'],
  events: ['panic', 'openCargoDoor', 'steal'],
  radio: [vehicle.isJammed ? 'endJam' : 'jam', vehicle.isConnected ? 'disconnect' : 'connect'],
  persons: vehicle.hasOwner ? ['agree'] : [],
});

function Truth({ vehicle }: { readonly vehicle: PracticeVehicle }) {
  const words = useWords(practiceWords);
  const { practice: texts, common } = words;
  const facts = [
    [texts.speed, amountText(vehicle.speedKmh, 'kmh', words)],
    [texts.engine, texts.engines[vehicle.engine]],
    [texts.ignition, vehicle.isIgnitionOn ? common.on : common.off],
    [texts.door, vehicle.isCargoDoorOpen ? texts.doors.open : texts.doors.closed],
    [texts.supply, vehicle.isPowered ? texts.supplies.on : texts.supplies.off],
    [texts.receiver, vehicle.isJammed ? texts.receivers.jammed : texts.receivers.free],
    [texts.network, vehicle.isConnected ? texts.networks.on : texts.networks.off],
  ] as const;
  return <Pairs rows={facts} />;
}

function VehicleCard({ vehicle, world }: { readonly vehicle: PracticeVehicle; readonly world: World }) {
  const { practice: texts } = useWords(practiceWords);
  const { deviceID } = vehicle;
  const groups = Object.entries(offered(vehicle)) as [Group, readonly PracticeAction[]][];
  return (
    <section className="card" aria-labelledby="world-title">
      <header>
        <Icon name="truck" isLarge />
        <h2 id="world-title">
          <bdi>{deviceID}</bdi>
        </h2>
        {vehicle.isPanicPressed ? (
          <Badge icon="siren" tone="act">
            {texts.panicking}
          </Badge>
        ) : null}
        {vehicle.isTowed ? (
          <Badge icon="truck" tone="look">
            {texts.towed}
          </Badge>
        ) : null}
        <Link className="button secondary push" to="/vehicle/$deviceID" params={{ deviceID }}>
          {texts.open}
        </Link>
      </header>
      <div className="card-body stack narrow-container">
        <div className="halves even">
          <div className="stack">
            <h3>{texts.truth}</h3>
            <Truth vehicle={vehicle} />
            <p className="muted">{texts.truthHint}</p>
          </div>
          <div className="stack">
            {world.mayAct ? (
              groups
                .filter(([, actions]) => actions.length > 0)
                .map(([group, actions]) => (
                  <div className="stack" role="group" aria-labelledby={`world-${group}`} key={group}>
                    <h3 id={`world-${group}`}>{texts.groups[group]}</h3>
                    {group === 'persons' ? <p className="muted">{texts.personsText}</p> : null}
                    <div className="row wrap">
                      {actions.map((action, at) => (
                        // By place: a button that turns into its opposite keeps the focus.
                        <ActionButton
                          key={at}
                          className="button secondary"
                          isOff={world.isOff}
                          onPress={() => world.act({ deviceID, action })}
                        >
                          <Icon name={icons[action]} />
                          {texts.actions[action]}
                        </ActionButton>
                      ))}
                    </div>
                  </div>
                ))
            ) : (
              <p className="muted">{texts.viewer}</p>
            )}
          </div>
        </div>
      </div>
    </section>
  );
}

const everyMs = 1000;

function VehicleLink({
  vehicle,
  isChosen,
}: {
  readonly vehicle: PracticeVehicle;
  readonly isChosen: boolean;
}) {
  const words = useWords(practiceWords);
  const { practice: texts } = words;
  const { deviceID, speedKmh, engine, isConnected } = vehicle;
  return (
    <li>
      <Link
        className="practice-vehicle"
        to="/practice"
        search={{ vehicle: deviceID }}
        replace
        resetScroll={false}
        {...(isChosen ? { 'aria-current': true as const } : {})}
      >
        <Icon name={isConnected ? 'truck' : 'wifi-off'} />
        <bdi>{deviceID}</bdi>
        <span className="push muted">
          {engine === 'running' ? <bdi>{amountText(speedKmh, 'kmh', words)}</bdi> : texts.engines[engine]}
        </span>
      </Link>
    </li>
  );
}

function Fleet({ fleet }: { readonly fleet: PracticeFleet }) {
  const { practice: texts } = useWords(practiceWords);
  const { vehicle: chosen } = useSearch({ from: '/shell/practice' });
  const shown = useValue(vehicles);
  const world = useWorld(texts.failed);
  const hasCut = (deviceID: string): boolean => {
    const vehicle = shown.get(deviceID);
    return vehicle !== undefined && (vehicle.pendingCut !== null || vehicle.cutoff === '1');
  };
  const own = fleet.vehicles.find(({ deviceID }) => deviceID === chosen) ?? fleet.vehicles[0];
  const { did } = world;
  return (
    <div className="split">
      <div className="stack">
        {world.isDown ? <Notice tone="look" icon="wifi-off" title={texts.off} /> : null}
        {world.failure}
        <Guide world={world} offers={offersOf(fleet, hasCut)} />
        {own === undefined ? null : <VehicleCard vehicle={own} world={world} />}
        <p className="muted" role="status">
          {did === null ? '' : texts.did({ what: texts.actions[did.action], vehicle: did.deviceID })}
        </p>
      </div>
      <aside className="card" aria-labelledby="practice-vehicles">
        <header>
          <h2 id="practice-vehicles">{texts.vehicles}</h2>
        </header>
        <ul className="practice-list" aria-label={texts.list}>
          {fleet.vehicles.map((vehicle) => (
            <VehicleLink
              key={vehicle.deviceID}
              vehicle={vehicle}
              isChosen={vehicle.deviceID === own?.deviceID}
            />
          ))}
        </ul>
      </aside>
    </div>
  );
}

export function PracticeScreen() {
  const words = useWords(practiceWords);
  const { practice: texts } = words;
  // Known once the service has answered anything.
  const isKnown = useUser() !== undefined;
  useValue(practiceAccount);
  const { data, error } = usePracticeFleet(everyMs, isPractice());
  useTitle(words.pages.practice.title);
  return (
    <main className="page" id="main">
      <header className="page-head">
        <h1>{words.pages.practice.title}</h1>
        <p>{texts.lead}</p>
      </header>
      {isKnown && !isPractice() ? (
        <section className="card">
          <Empty icon="flask-conical" title={texts.none}>
            <p>{texts.noneHint}</p>
          </Empty>
        </section>
      ) : (
        <View error={error} isLoaded={data !== undefined} empty={null}>
          {data === undefined ? null : <Fleet fleet={data} />}
        </View>
      )}
    </main>
  );
}
