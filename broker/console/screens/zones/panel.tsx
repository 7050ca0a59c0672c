// The selected zone: what it is, which vehicles are inside now, what happens, and which vehicle has which version of the zones.

import { Link, useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { zoneWords } from '../../../../build/words/zone.ts';
import type { Geozone } from '../../api/operations.ts';
import { Mark } from '../../components/mark.tsx';
import { usePut } from '../../components/patterns/address.tsx';
import { amountOf, Fact, Notice, numberText } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { countText, Known, usePicture } from '../../components/view.tsx';
import { vehicles } from '../../service/live.ts';
import type { Vehicle } from '../../state/fleet.ts';
import { draftText, hasRadius } from '../../state/zones/zone-draft.ts';
import { zoneOf } from '../../state/zones/zone-geometry.ts';
import { zoneName } from '../../state/zones/zone-name.ts';
import { switchesOf, vehiclesIn } from '../../state/zones/zone-view.ts';
import { ActList } from './parts.tsx';
import { ShapeHead } from './shape-head.tsx';
import { useZoneChanges } from './use-zone-changes.ts';
import { Versions } from './versions.tsx';

/** Vehicles of the list of those inside. */
const insideMost = 20;

function Inside({ inside }: { readonly inside: readonly Vehicle[] }) {
  const { zones: texts } = useWords(zoneWords);
  const picture = usePicture('vehicles');
  return (
    <div className="block">
      <h3>
        {texts.inside} <span className="faint">{countText(inside.length, picture.knowledge)}</span>
      </h3>
      {inside.length === 0 ? (
        <Known {...picture} isSmall>
          <p className="muted">{texts.insideNone}</p>
        </Known>
      ) : null}
      <ul>
        {inside.slice(0, insideMost).map((vehicle) => (
          <li key={vehicle.id} className="row">
            <Mark vehicle={vehicle} />
            <Link to="/vehicle/$deviceID" params={{ deviceID: vehicle.id }}>
              {vehicle.name}
            </Link>
          </li>
        ))}
      </ul>
      {inside.length > insideMost ? (
        <p className="muted">{texts.more({ count: inside.length - insideMost })}</p>
      ) : null}
      <p className="faint">{texts.insideHint}</p>
    </div>
  );
}

function Head({ zone }: { readonly zone: Geozone }) {
  const { zones: texts } = useWords(zoneWords);
  const navigate = useNavigate({ from: '/zones' });
  const { geozoneID, geozoneDescription } = zone;
  const name = zoneName(zone);
  const put = usePut();
  const close = (): void => put({ zone: undefined, shape: undefined });
  const changes = useZoneChanges(close);
  return (
    <ShapeHead
      icon="hexagon"
      name={name}
      detail={[name === geozoneID ? '' : geozoneID, geozoneDescription]
        .filter((text) => text !== '')
        .join(' · ')}
      warning={
        zone.geozoneWarning === '' ? null : <Notice tone="look" icon="triangle-alert" title={texts.broken} />
      }
      mayChange={zone.hasUpdateGeozonePrivileges}
      viewer={texts.viewer}
      to={{ to: '/zones', search: { zone: geozoneID } }}
      changes={changes}
      onClose={close}
      onEdit={() =>
        void navigate({
          search: (before) => ({ ...before, edit: 'change', shape: draftText(zoneOf(zone)) }),
        })
      }
      onDelete={() => changes.run({ action: 'delete', geozoneID })}
    >
      <p>{texts.removeHint}</p>
      <ActList switches={switchesOf(zone)} />
    </ShapeHead>
  );
}

export function ZonePanel({ zone }: { readonly zone: Geozone }) {
  const words = useWords(zoneWords);
  const { zones: texts } = words;
  const fleet = useValue(vehicles);
  const shape = useMemo(() => zoneOf(zone), [zone]);
  const inside = useMemo(() => vehiclesIn(shape, [...fleet.values()]), [shape, fleet]);
  const switches = switchesOf(zone);
  return (
    <section className="panel" aria-label={texts.selected({ name: zoneName(zone) })}>
      <Head zone={zone} />
      <div className="block">
        <dl className="facts">
          <Fact name={texts.kind} value={texts.kinds[shape.type]} />
          {hasRadius(shape) ? <Fact name={texts.radius} {...amountOf(shape.radiusM, 'm', words)} /> : null}
          <Fact name={texts.points} value={numberText(shape.points.length)} />
        </dl>
      </div>
      <Inside inside={inside} />
      <div className="block">
        <h3>{texts.acts}</h3>
        {switches.size === 0 ? <p className="muted">{texts.actsNone}</p> : <ActList switches={switches} />}
      </div>
      <Versions key={words.locale} />
    </section>
  );
}
