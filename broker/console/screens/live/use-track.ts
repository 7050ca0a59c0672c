// The way of the selected vehicle in the last hour, for the map.

import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { hourS } from '../../../../src/core/durations.ts';
import type { Track } from '../../map/map.ts';
import { call } from '../../service/call.ts';
import { trackOf } from '../../state/track.ts';

const none: Track = [];

/** @param deviceID null: none. */
export function useTrack(deviceID: string | null): Track {
  const { data } = useQuery({
    queryKey: ['track', deviceID],
    queryFn: async ({ signal }) => {
      const { eventdata } = await call('deviceDataRange', {
        params: {
          deviceID: deviceID ?? '',
          startTime: String(Math.floor(Date.now() / 1000) - hourS),
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
