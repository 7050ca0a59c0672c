// The selected route: its way, and which of its vehicles keep to it now.
import { Link, useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { Button } from 'react-aria-components';
import { routeWords } from '../../../../build/words/route.ts';
import { zoneWords } from '../../../../build/words/zone.ts';
import type { PlannedRoute } from '../../api/operations.ts';
import type { IconName } from '../../components/icon.tsx';
import { usePut } from '../../components/patterns/address.tsx';
import { Age, amountOf, Badge, Fact, numberText } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { vehicles } from '../../service/live.ts';
import { keepsTo, lengthOf, routeName, wayOf } from '../../state/zones/route-view.ts';
import { draftText } from '../../state/zones/zone-draft.ts';
import { ShapeHead } from '../zones/shape-head.tsx';
import { useRouteChanges } from './use-routes.ts';

type Keeps = 'on' | 'off' | 'unknown';
const keepIcons = {
  on: 'circle-check',
  off: 'circle-alert',
  unknown: 'circle-help',
} as const satisfies Record<Keeps, IconName>;
const keepTones = { on: 'ok', off: 'look' } as const;

/** Vehicles of the list at first, and with each press for more. */
const rowsAtOnce = 50;

function Planned({ route }: { readonly route: PlannedRoute }) {
  const { routes: texts, zones } = useWords(routeWords, zoneWords);
  const fleet = useValue(vehicles);
  const way = useMemo(() => wayOf(route), [route]);
  const [most, setMost] = useState(rowsAtOnce);
  const { deviceIDs } = route;
  return (
    <div className="block">
      <h3 id="planned-title">
        {texts.planned} <span className="faint">{numberText(deviceIDs.length)}</span>
      </h3>
      {deviceIDs.length === 0 ? (
        <p className="muted">{texts.plannedNone}</p>
      ) : (
        <table className="table" aria-labelledby="planned-title">
          <tbody>
            {deviceIDs.slice(0, most).map((id) => {
              const vehicle = fleet.get(id);
              const isOn = vehicle === undefined ? null : keepsTo(way, vehicle);
              const keeps: Keeps = isOn === null ? 'unknown' : isOn ? 'on' : 'off';
              return (
                <tr key={id}>
                  <th scope="row">
                    <Link to="/vehicle/$deviceID" params={{ deviceID: id }}>
                      {vehicle?.name ?? id}
                    </Link>
                  </th>
                  <td>
                    <Badge
                      icon={keepIcons[keeps]}
                      {...(keeps === 'unknown' ? {} : { tone: keepTones[keeps] })}
                    >
                      {texts.keeps[keeps]}
                    </Badge>{' '}
                    {vehicle === undefined || keeps === 'unknown' ? null : (
                      <span className="age">
                        <Age at={vehicle.fixS} />
                      </span>
                    )}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
      {deviceIDs.length <= most ? null : (
        <Button className="button small" onPress={() => setMost(most + rowsAtOnce)}>
          {zones.showMore}
        </Button>
      )}
      <p className="faint">{texts.plannedHint}</p>
    </div>
  );
}

function Head({ route }: { readonly route: PlannedRoute }) {
  const { routes: texts } = useWords(routeWords);
  const navigate = useNavigate({ from: '/routes' });
  const { routeID } = route;
  const name = routeName(route);
  const put = usePut();
  const close = (): void => put({ route: undefined, shape: undefined });
  const changes = useRouteChanges(close);
  return (
    <ShapeHead
      icon="route"
      name={name}
      detail={name === routeID ? '' : routeID}
      mayChange={route.hasUpdateRoutePrivileges}
      viewer={texts.viewer}
      to={{ to: '/routes', search: { route: routeID } }}
      changes={changes}
      onClose={close}
      onEdit={() =>
        void navigate({ search: (before) => ({ ...before, edit: 'change', shape: draftText(wayOf(route)) }) })
      }
      onDelete={() => changes.run({ action: 'delete', routeID })}
    >
      <p>{texts.removeHint}</p>
    </ShapeHead>
  );
}

export function RoutePanel({ route }: { readonly route: PlannedRoute }) {
  const words = useWords(routeWords, zoneWords);
  const { routes: texts, zones } = words;
  const way = useMemo(() => wayOf(route), [route]);
  return (
    <section className="panel" aria-label={texts.selected({ name: routeName(route) })}>
      <Head route={route} />
      <div className="block">
        <dl className="facts">
          <Fact name={texts.length} {...amountOf(lengthOf(way) / 1000, 'km', words, 1)} />
          <Fact name={zones.radius} {...amountOf(way.radiusM, 'm', words)} />
          <Fact name={zones.points} value={numberText(way.points.length)} />
        </dl>
      </div>
      <Planned route={route} />
    </section>
  );
}
