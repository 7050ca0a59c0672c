// The map beside the list. It loads after the list is there; without WebGL the list stands alone and the pane says why.

import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef } from 'react';
import { mapWords } from '../../../../build/words/map.ts';
import { hourS } from '../../../../src/core/durations.ts';
import type { Track } from '../../map/map.ts';
import { markForms, ringForms } from '../../map/vehicles/mark-layers.ts';
import { call } from '../../service/call.ts';
import { shownTheme } from '../../shell/theme.ts';
import type { Vehicle } from '../../state/fleet.ts';
import type { Place } from '../../state/here.ts';
import type { MapPlace } from '../../state/map-place.ts';
import { trackOf } from '../../state/track.ts';
import { isInMiles } from '../../words/measures.ts';
import { MapTools } from '../map-tools.tsx';
import { DrawnMark } from '../mark.tsx';
import { Empty } from '../texts.tsx';
import { useValue, useWords } from '../use.ts';
import { useFleetMap } from '../use-fleet-map.ts';
import { useZones } from './use-zones.ts';

// The way of the selected vehicle until now, for the map.

const none: Track = [];

/** @param deviceID null: none. @param wayS how far back, s. */
function useTrack(deviceID: string | null, wayS: number): Track {
  const { data } = useQuery({
    queryKey: ['track', deviceID, wayS],
    queryFn: async ({ signal }) => {
      const { eventdata } = await call('deviceDataRange', {
        params: {
          deviceID: deviceID ?? '',
          startTime: String(Math.floor(Date.now() / 1000) - wayS),
          endTime: '0',
        },
        query: { points: '500', fields: 'timestamp,latitude,longitude,isPositionValid' },
        signal,
      });
      return eventdata.devices;
    },
    enabled: deviceID !== null,
    refetchInterval: 10_000,
  });
  return useMemo(() => (data === undefined || deviceID === null ? none : trackOf(data)), [data, deviceID]);
}

interface MapPaneProps {
  readonly vehicles: readonly Vehicle[];
  readonly selected: string | null;
  readonly place: MapPlace | null;
  /** The way of the selected vehicle goes back so far, s. */
  readonly wayS?: number;
  readonly hasLegend?: boolean;
  onSelect(deviceID: string): void;
  onSeveral(places: readonly Place[]): void;
  onMove(place: MapPlace): void;
}

/** What the marks of the map mean: all forms and rings that are drawn. */
function Legend({ hasZones }: { readonly hasZones: boolean }) {
  const words = useWords(mapWords);
  return (
    <div className="float legend" aria-hidden="true">
      {markForms.map((form) => (
        <span key={form}>
          <DrawnMark form={form} ring="none" turn={20} />
          {words.state[form]}
        </span>
      ))}
      {ringForms.map((ring) => (
        <span key={ring}>
          <DrawnMark form={null} ring={ring} />
          {words.live.rings[ring]}
        </span>
      ))}
      {hasZones ? (
        <span>
          <i className="zone-swatch" />
          {words.live.zones}
        </span>
      ) : null}
    </div>
  );
}

export function MapPane(props: MapPaneProps) {
  const { live } = useWords(mapWords);
  const { vehicles, selected, wayS = hourS, hasLegend = true } = props;
  const { host, map, isImpossible } = useFleetMap(
    { ...props, isInMiles: isInMiles() },
    live.map,
    useValue(shownTheme),
  );
  // A selection that came with the address keeps the place that the address says.
  const wentTo = useRef(props.place === null ? null : selected);
  const track = useTrack(selected, wayS);
  const zones = useZones();
  useEffect(() => map?.showTrack(track), [map, track]);
  useEffect(() => map?.showZones(zones), [map, zones]);
  useEffect(() => map?.show(vehicles, selected), [map, vehicles, selected]);
  useEffect(() => {
    if (selected === wentTo.current || map === null) return;
    const vehicle = selected === null ? undefined : vehicles.find(({ id }) => id === selected);
    if (vehicle !== undefined) map.goTo(vehicle);
    if (vehicle !== undefined || selected === null) wentTo.current = selected;
  }, [map, selected, vehicles]);
  return (
    <div className="map">
      {isImpossible ? (
        <Empty icon="map" title={live.noWebgl} />
      ) : (
        <>
          <div className="map-host" ref={host} dir="ltr" />
          <MapTools map={map} fitText={live.fit} onFit={() => map?.fit()} />
          {hasLegend ? <Legend hasZones={zones.length > 0} /> : null}
        </>
      )}
    </div>
  );
}
