// Where an alarm is, in words.
import type { Alarm } from '../../api/operations.ts';
import { Place } from '../../components/places/place.tsx';
import { useZoneName } from '../../components/places/use-zones.ts';
import { useWords } from '../../components/use.ts';

/** @param isShort without the coordinates. */
export function AlarmPlace({
  alarm,
  isShort = false,
}: {
  readonly alarm: Alarm;
  readonly isShort?: boolean;
}) {
  const { alarms } = useWords();
  const zoneName = useZoneName();
  const { geozoneID, isPositionValid, latitude, longitude } = alarm;
  if (geozoneID !== '') return <bdi>{zoneName(geozoneID)}</bdi>;
  if (!isPositionValid) return alarms.noPlace;
  return <Place latitude={latitude} longitude={longitude} isShort={isShort} />;
}
