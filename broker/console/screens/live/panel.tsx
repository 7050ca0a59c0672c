// The selected vehicle beside the map: where it is, how it is, since when, and restore.

import { Link, useNavigate } from '@tanstack/react-router';
import { Button } from 'react-aria-components';
import { Icon } from '../../components/icon.tsx';
import { Position } from '../../components/places/position.tsx';
import { Age, Badge, codeText, Fact, iconOf, Time } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { Known, usePicture } from '../../components/view.tsx';
import { alarms, liveEvents } from '../../service/live.ts';
import type { Vehicle } from '../../state/fleet.ts';
import { compareAlarms } from '../../state/fleet-messages.ts';
import { without } from '../../state/search.ts';
import { OpenOrder } from '../cut/open-order.tsx';
import { useSafeOrder } from '../cut/safe-order.tsx';
import { AlarmBadge, CutBadge, StateBadge } from '../vehicle/badges.tsx';
import { FuelFact, SpeedFact, SwitchFacts } from '../vehicle/facts.tsx';

function Facts({ vehicle }: { readonly vehicle: Vehicle }) {
  const { vehicle: words } = useWords();
  return (
    <dl className="facts">
      <SpeedFact isBig vehicle={vehicle} />
      <SwitchFacts vehicle={vehicle} />
      <Fact
        name={words.position}
        value={<Position vehicle={vehicle} hasZone />}
        age={<Age at={vehicle.fixS} />}
      />
      <FuelFact vehicle={vehicle} />
      <Fact name={words.driver} value={vehicle.driver || words.noDriver} />
      <Fact name={words.lastReported} value={<Age at={vehicle.heartbeatS} />} />
    </dl>
  );
}

function PanelAlarms({ vehicle }: { readonly vehicle: Vehicle }) {
  const words = useWords();
  const open = useValue(alarms);
  const picture = usePicture('alarms');
  const own = [...open.values()].filter(({ deviceID }) => deviceID === vehicle.id).toSorted(compareAlarms);
  return (
    <div className="block">
      <h3>{words.vehicle.alarms}</h3>
      {own.length === 0 ? (
        <Known {...picture} isSmall>
          <p className="muted">{words.vehicle.noAlarms}</p>
        </Known>
      ) : (
        <ul className="stack">
          {own.slice(0, 5).map((alarm) => (
            <li key={alarm.alarmID} className="row wrap">
              <Link to="/alarms" search={{ alarm: alarm.alarmID }} className="plain-link">
                <AlarmBadge alarm={alarm} />
              </Link>
              <span className="muted">
                {alarm.owner === '' ? words.alarms.states[alarm.alarmState] : alarm.owner}
              </span>
              <span className="faint push">
                <Age at={alarm.opened} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function PanelEvents({ vehicle }: { readonly vehicle: Vehicle }) {
  const words = useWords();
  const own = useValue(liveEvents).filter(({ deviceID }) => deviceID === vehicle.id);
  return (
    <div className="block">
      <h3>{words.vehicle.lastEvents}</h3>
      {own.length === 0 ? null : (
        <ul className="stack tight">
          {own.slice(0, 6).map(({ eventID, statusCode, timestamp }) => (
            <li key={eventID} className="row">
              <Icon name={iconOf(statusCode, 'activity')} />
              <span className="cut-off">{codeText(statusCode, words)}</span>
              <span className="faint push">
                <Time at={timestamp} />
              </span>
            </li>
          ))}
        </ul>
      )}
      <p>
        <Link to="/vehicle/$deviceID" params={{ deviceID: vehicle.id }} search={{ tab: 'events' }}>
          {words.vehicle.allEvents}
        </Link>
      </p>
    </div>
  );
}

export function VehiclePanel({ vehicle }: { readonly vehicle: Vehicle }) {
  const words = useWords();
  const navigate = useNavigate({ from: '/live' });
  const restore = useSafeOrder('enginecutoff', vehicle);
  return (
    <section className="panel" aria-label={`${words.vehicle.panel}: ${vehicle.name}`}>
      <div className="panel-head">
        <div className="row">
          <h2>{vehicle.name}</h2>
          <Button
            className="button square small push"
            aria-label={words.common.close}
            onPress={() => void navigate({ search: (before) => without(before, 'vehicle') })}
          >
            <Icon name="x" />
          </Button>
        </div>
        <div className="row wrap">
          <StateBadge vehicle={vehicle} />
          <CutBadge state={vehicle.pendingCut ?? vehicle.ownCut} />
          {vehicle.cutoff === '1' ? (
            <Badge icon="power" tone="busy">
              {words.relays.enginecutoff.states[1]}
            </Badge>
          ) : null}
        </div>
        {vehicle.description === '' ? null : <p className="muted">{vehicle.description}</p>}
      </div>
      <div className="block">
        <Facts vehicle={vehicle} />
      </div>
      <div className="block stack">
        <div className="row wrap">
          {vehicle.mayCommand ? restore.button : null}
          <OpenOrder
            relay="enginecutoff"
            deviceID={vehicle.id}
            pending={vehicle.pendingCut}
            mayCommand={vehicle.mayCommand}
          />
          <Link className="button secondary" to="/vehicle/$deviceID" params={{ deviceID: vehicle.id }}>
            {words.vehicle.open}
          </Link>
        </div>
        {restore.outcome}
      </div>
      <PanelAlarms vehicle={vehicle} />
      <PanelEvents vehicle={vehicle} />
    </section>
  );
}
