// What the service knows of one event beyond its record: the numbers beside it, the receiver at that moment, and its alarm.
import { useQuery } from '@tanstack/react-query';
import type { EventRecord } from '../../api/operations.ts';
import { call } from '../../service/call.ts';
import { readRecord } from '../../service/track.ts';
import { hasNeighbours, matchesKind } from '../../state/vehicle-view.ts';

type Record = Required<EventRecord>;

/** Numbers beside an event are looked for among what happened so long before and after it, s. */
export const neighboursS = 1800;
/** Alarms that are looked through, the newest first. */
const alarmsMost = '10';

/** Whether the numbers before and after are stored; undefined until it is known. */
export function useNeighbours({ deviceID, eventID, timestamp }: Record) {
  return useQuery({
    queryKey: ['neighbours', deviceID, eventID],
    queryFn: async ({ signal }) => {
      const { eventdata } = await call('deviceDataRange', {
        params: {
          deviceID,
          startTime: String(Math.max(1, timestamp - neighboursS)),
          endTime: String(timestamp + neighboursS),
        },
        query: { fields: 'eventID' },
        signal,
      });
      return hasNeighbours(eventID, new Set(eventdata.devices.map((one) => one.eventID ?? '')));
    },
    refetchOnWindowFocus: false,
  });
}

/** Precision, satellites, fuel and ignition as the record has them; null when it is no longer there. */
export function useReading({ deviceID, eventID, timestamp }: Record) {
  return useQuery({
    queryKey: ['reading', deviceID, eventID],
    queryFn: ({ signal }) => readRecord({ deviceID, eventID, timestamp }, signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** The alarm that holds this event, with its deliveries; null: it raised none. */
export function useAlarmOf({ deviceID, eventID, statusCode, creationTime }: Record) {
  return useQuery({
    queryKey: ['alarm', 'of', deviceID, eventID],
    queryFn: async ({ signal }) => {
      const { alarms } = await call('listAlarms', {
        query: {
          state: 'open,closed',
          deviceID,
          statusCode: String(statusCode),
          // An alarm is opened by its first event, a moment after that was stored.
          to: String(creationTime + 60),
          limit: alarmsMost,
        },
        signal,
      });
      for (const { alarmID } of alarms) {
        const alarm = await call('getAlarm', { params: { alarmID }, signal });
        if (alarm.events.some((one) => one.eventID === eventID)) return alarm;
      }
      return null;
    },
    // Positions never raise one.
    enabled: matchesKind(statusCode, 'changes'),
  });
}
