// The selected zone: what it is, which vehicles are inside now, what happens, and which vehicle has which version of the zones.
import { Link, useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { Button } from 'react-aria-components';
import type { Geozone } from '../../api/operations.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Icon, type IconName } from '../../components/icon.tsx';
import { Mark } from '../../components/mark.tsx';
import { Badge, Fact, Notice, numberText } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { useFailure } from '../../components/view.tsx';
import { vehicles } from '../../service/live.ts';
import type { Vehicle } from '../../state/fleet.ts';
import { without } from '../../state/search.ts';
import { draftText, hasRadius } from '../../state/zones/zone-draft.ts';
import { zoneOf } from '../../state/zones/zone-geometry.ts';
import { switchesOf, vehiclesIn, zoneName } from '../../state/zones/zone-view.ts';
import { ActList, AskDialog } from './parts.tsx';
import { type Configuration, useConfigurations, useZoneChanges } from './use-zone-changes.ts';

/** Vehicles of the list of those inside. */
const insideMost = 20;
const versionsEach = 10;

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

const stateIcons = {
  none: 'circle-dashed',
  current: 'circle-check',
  pending: 'hourglass',
  failed: 'triangle-alert',
  fault: 'triangle-alert',
} as const satisfies Record<Configuration['state'], IconName>;
const stateTones = { current: 'ok', pending: 'busy', failed: 'look', fault: 'look' } as const;

function Version({ configuration }: { readonly configuration: Configuration | undefined }) {
  const { zones: texts, common } = useWords();
  if (configuration === undefined) return <span className="muted">{common.loading}</span>;
  const { state, heldVersion, wantedVersion, reason } = configuration;
  return (
    <>
      <Badge icon={stateIcons[state]} {...(state === 'none' ? {} : { tone: stateTones[state] })}>
        {texts.heldStates[state]}
      </Badge>{' '}
      {state === 'none' ? null : <span className="muted">{texts.version(heldVersion, wantedVersion)}</span>}
      {reason === '' ? null : <bdi className="note">{reason}</bdi>}
    </>
  );
}

function Versions() {
  const { zones: texts } = useWords();
  const fleet = useValue(vehicles);
  const [count, setCount] = useState(versionsEach);
  // By id: the order of a live list would ask anew with every report.
  const key = [...fleet.keys()].toSorted().slice(0, count).join('\n');
  const ids = useMemo(() => (key === '' ? [] : key.split('\n')), [key]);
  const { data, error } = useConfigurations(ids);
  return (
    <div className="block">
      <h3 id="held-title">{texts.held}</h3>
      <p className="muted">{texts.heldHint}</p>
      {useFailure(error)}
      <table className="table" aria-labelledby="held-title">
        <tbody>
          {ids.map((id) => (
            <tr key={id}>
              <th scope="row">
                <Link to="/vehicle/$deviceID" params={{ deviceID: id }} search={{ tab: 'health' }}>
                  {fleet.get(id)?.name ?? id}
                </Link>
              </th>
              <td>
                <Version configuration={data?.get(id)} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {fleet.size > ids.length ? (
        <Button className="button small" onPress={() => setCount(count + versionsEach)}>
          {texts.showMore}
        </Button>
      ) : null}
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
