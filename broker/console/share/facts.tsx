// What the map of a share shows, as text: each value with its unit and age.
import type { ReactNode } from 'react';
import type { SharePageTexts } from '../../../build/words/sharePage/en.ts';
import { distanceM } from '../../../src/core/geo/geo.ts';
import { formatTime } from '../../../src/core/words/format.ts';
import { Icon } from '../components/icon.tsx';
import type { SharedPosition, ShareState } from '../state/shares/shared-view.ts';
import { agoText, unitText } from '../words/base/spans.ts';

interface FactsProps {
  readonly state: ShareState;
  readonly texts: SharePageTexts;
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="fact">
      <dt>{name}</dt>
      <dd>
        <bdi>{children}</bdi>
      </dd>
    </div>
  );
}

function Nothing({ title, hint }: { readonly title: string; readonly hint?: string }) {
  return (
    <div className="empty">
      <Icon name="map" />
      <strong>{title}</strong>
      {hint === undefined ? null : <p>{hint}</p>}
    </div>
  );
}

/** @param nowS by the clock of the service. */
export function LiveFacts({
  state: { positions, link },
  texts,
  nowS,
}: FactsProps & { readonly nowS: number }) {
  const { locale } = texts;
  const last = positions?.at(-1);
  // Without a connection it is not known, which the page says above.
  if (last === undefined && link === 'down') return null;
  if (last === undefined) return <Nothing title={texts.noPosition} hint={texts.noPositionHint} />;
  return (
    <>
      <dl className="facts" data-at={last.timestamp}>
        <Fact name={texts.reported}>{agoText(nowS - last.timestamp, locale)}</Fact>
        <Fact name={texts.speed}>
          {last.speed === null ? texts.speedUnknown : unitText(last.speed, 'kilometer-per-hour', locale)}
        </Fact>
        <Fact name={texts.place}>{`${last.latitude.toFixed(5)}, ${last.longitude.toFixed(5)}`}</Fact>
      </dl>
      <small>{texts.way}</small>
    </>
  );
}

/** Along the positions, m. */
function lengthOf(positions: readonly SharedPosition[]): number {
  return positions.reduce((sum, position, at) => {
    const before = positions[at - 1];
    return before === undefined ? sum : sum + distanceM(before, position);
  }, 0);
}

export function TripFacts({ state: { view, positions, fault }, texts }: FactsProps) {
  const { locale } = texts;
  if (view === null) return null;
  const timeOf = (seconds: number): string => formatTime(new Date(seconds * 1000), locale, 'day');
  if (positions?.length === 0) return <Nothing title={texts.noWay} />;
  return (
    <>
      <dl className="facts">
        <Fact name={texts.from}>{timeOf(view.startTime)}</Fact>
        <Fact name={texts.to}>{timeOf(view.endTime)}</Fact>
        {positions === null ? null : (
          <Fact name={texts.distance}>{unitText(lengthOf(positions) / 1000, 'kilometer', locale)}</Fact>
        )}
      </dl>
      {positions === null ? (
        <p className="muted" role="status">
          {fault === null ? texts.loading : `${texts.faults[fault]}. ${texts.faultHint}`}
        </p>
      ) : null}
    </>
  );
}
