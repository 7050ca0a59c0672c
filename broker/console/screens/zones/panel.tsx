// The selected zone: what it is, which vehicles are inside now, what happens, and which vehicle has which version of the zones.
import { Link, useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { Button } from 'react-aria-components';
import type { Geozone } from '../../api/operations.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Icon } from '../../components/icon.tsx';
import { Mark } from '../../components/mark.tsx';
import { Fact, Notice, numberText } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { useFailure } from '../../components/view.tsx';
import { vehicles } from '../../service/live.ts';
import type { Vehicle } from '../../state/fleet.ts';
import { without } from '../../state/search.ts';
import { draftText, hasRadius } from '../../state/zones/zone-draft.ts';
import { zoneOf } from '../../state/zones/zone-geometry.ts';
import { switchesOf, vehiclesIn, zoneName } from '../../state/zones/zone-view.ts';
import { ActList, AskDialog } from './parts.tsx';
import { useZoneChanges } from './use-zone-changes.ts';
import { Versions } from './versions.tsx';

/** Vehicles of the list of those inside. */
const insideMost = 20;

function Inside({ inside }: { readonly inside: readonly Vehicle[] }) {
  const { zones: texts } = useWords();
  return (
    <div className="block">
      <h3>
        {texts.inside} <span className="faint">{numberText(inside.length)}</span>
      </h3>
      {inside.length === 0 ? <p className="muted">{texts.insideNone}</p> : null}
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
      {inside.length > insideMost ? <p className="muted">{texts.more(inside.length - insideMost)}</p> : null}
      <p className="faint">{texts.insideHint}</p>
    </div>
  );
}

function Head({ zone }: { readonly zone: Geozone }) {
  const { zones: texts, common } = useWords();
  const navigate = useNavigate({ from: '/zones' });
  const name = zoneName(zone);
  const close = (): void =>
    void navigate({ search: (before) => without(without(before, 'zone'), 'shape'), replace: true });
  const changes = useZoneChanges(close);
  const [isAsking, setAsking] = useState(false);
  const failure = useFailure(changes.failure, texts.failed);
  const isOff = changes.isDown || changes.isBusy;
  return (
    <div className="panel-head">
      <div className="row">
        <Icon name="hexagon" isLarge />
        <h2>{name}</h2>
        <Button className="button square push" aria-label={common.close} onPress={close}>
          <Icon name="x" />
        </Button>
      </div>
      <p className="muted">
        {[name === zone.geozoneID ? '' : zone.geozoneID, zone.geozoneDescription]
          .filter((text) => text !== '')
          .join(' · ')}
      </p>
      {zone.geozoneWarning === '' ? null : <Notice tone="look" icon="triangle-alert" title={texts.broken} />}
      {zone.hasUpdateGeozonePrivileges ? (
        <div className="row wrap">
          <ActionButton
            className="button secondary"
            isOff={isOff}
            onPress={() =>
              void navigate({
                search: (before) => ({ ...before, edit: 'change', shape: draftText(zoneOf(zone)) }),
              })
            }
          >
            {texts.edit}
          </ActionButton>
          <ActionButton className="button secondary" isOff={isOff} onPress={() => setAsking(true)}>
            {texts.remove}
          </ActionButton>
          {changes.isDown ? <span className="muted">{texts.off}</span> : null}
        </div>
      ) : (
        <Notice tone="look" icon="lock" title={texts.viewer} />
      )}
      <AskDialog
        isOpen={isAsking}
        title={texts.removeTitle(name)}
        confirm={texts.removeConfirm(name)}
        isOff={isOff}
        onClose={() => {
          changes.reset();
          setAsking(false);
        }}
        onConfirm={() => changes.run({ action: 'delete', geozoneID: zone.geozoneID })}
      >
        <p>{texts.removeHint}</p>
        <ActList switches={switchesOf(zone)} />
        {failure}
      </AskDialog>
    </div>
  );
}

export function ZonePanel({ zone }: { readonly zone: Geozone }) {
  const { zones: texts, ...words } = useWords();
  const fleet = useValue(vehicles);
  const shape = useMemo(() => zoneOf(zone), [zone]);
  const inside = useMemo(() => vehiclesIn(shape, [...fleet.values()]), [shape, fleet]);
  const switches = switchesOf(zone);
  return (
    <section className="panel" aria-label={texts.selected(zoneName(zone))}>
      <Head zone={zone} />
      <div className="block">
        <dl className="facts">
          <Fact name={texts.kind} value={texts.kinds[shape.type]} />
          {hasRadius(shape) ? (
            <Fact name={texts.radius} value={numberText(shape.radiusM)} unit={texts.metres} />
          ) : null}
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
