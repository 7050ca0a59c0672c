// Where an alarm is, in words.
import type { Alarm } from '../../api/operations.ts';
import { placeText as degreesText } from '../../components/texts.tsx';
import type { Words } from '../../words/word-set.ts';

export function placeText(alarm: Alarm, { alarms }: Words): string {
  if (alarm.geozoneID !== '') return alarm.geozoneID;
  return alarm.isPositionValid ? degreesText(alarm.latitude, alarm.longitude, 4) : alarms.noPlace;
}
