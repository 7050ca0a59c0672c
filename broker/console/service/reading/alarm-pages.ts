// Reads all alarms of a state, page after page.
import type { Alarm } from '../../api/operations.ts';
import type { AlarmFilter } from '../../state/alarm-view.ts';
import { call } from '../call.ts';
import { patiently } from './patience.ts';

/** Most that the service gives in a page. */
const pageSize = '500';

/**
 * All alarms that a filter shows, the newest first: in this order none is missed between two pages.
 * @param onRead how many were read so far. @throws ServiceError
 */
export async function readAlarms(
  state: AlarmFilter,
  signal: AbortSignal,
  onRead: (count: number) => void,
): Promise<readonly Alarm[]> {
  const found = new Map<string, Alarm>();
  for (let cursor: string | undefined; ; ) {
    const query = { state, limit: pageSize, ...(cursor === undefined ? {} : { cursor }) };
    const { alarms, more, next } = await patiently(signal, () => call('listAlarms', { query, signal }));
    for (const alarm of alarms) found.set(alarm.alarmID, alarm);
    onRead(found.size);
    if (!more || next == null) return [...found.values()];
    cursor = next;
  }
}
