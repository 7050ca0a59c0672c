// Follows the events of one vehicle on the stream.
import { useEffect } from 'react';
import { useValue } from '../../components/use.ts';
import { liveEvents } from '../../service/live.ts';

/** Reads again when the stream reports an event of this vehicle. @param read stays the same function. */
export function useOwnEvents(deviceID: string, read: () => Promise<unknown>): void {
  const newest = useValue(liveEvents).find((event) => event.deviceID === deviceID)?.eventID;
  useEffect(() => {
    if (newest !== undefined) void read();
  }, [newest, read]);
}
