// One simulated vehicle as it truly is, and what may be done to it.
import { Link } from '@tanstack/react-router';
import { practiceWords } from '../../../../build/words/practice.ts';
import type { PracticeAction, PracticeVehicle } from '../../../../src/core/practice.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Icon, type IconName } from '../../components/icon.tsx';
import { Pairs } from '../../components/patterns/detail.tsx';
import { Badge, numberText } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import type { WordsWith } from '../../words/word-set.ts';
import type { World } from './use-world.ts';

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
};

/** What is offered: of two opposites the one that changes something. */
const offered = (vehicle: PracticeVehicle): Readonly<Record<Group, readonly PracticeAction[]>> => ({
  driving: ['drive', 'stop', vehicle.isIgnitionOn ? 'ignitionOff' : 'ignitionOn'],
  events: ['panic', 'openCargoDoor', 'steal'],
  radio: [vehicle.isJammed ? 'endJam' : 'jam', vehicle.isConnected ? 'disconnect' : 'connect'],
});

function Truth({ vehicle }: { readonly vehicle: PracticeVehicle }) {
  const { practice: texts, common, units } = useWords(practiceWords);
  const facts = [
    [texts.speed, `${numberText(vehicle.speedKmh)} ${units.kmh}`],
    [texts.engine, texts.engines[vehicle.engine]],
    [texts.ignition, vehicle.isIgnitionOn ? common.on : common.off],
    [texts.door, vehicle.isCargoDoorOpen ? texts.doors.open : texts.doors.closed],
    [texts.supply, vehicle.isPowered ? texts.supplies.on : texts.supplies.off],
    [texts.receiver, vehicle.isJammed ? texts.receivers.jammed : texts.receivers.free],
    [texts.network, vehicle.isConnected ? texts.networks.on : texts.networks.off],
  ] as const;
  return <Pairs rows={facts} />;
}

export function VehicleCard({
  vehicle,
  world,
}: {
  readonly vehicle: PracticeVehicle;
  readonly world: World;
}) {
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
              groups.map(([group, actions]) => (
                <div className="stack" role="group" aria-labelledby={`world-${group}`} key={group}>
                  <h3 id={`world-${group}`}>{texts.groups[group]}</h3>
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
