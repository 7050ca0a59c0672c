// The word by which other processes hear that events were committed. Whatever inserts events must carry it.
import type { News } from '../../src/ports.ts';

export const eventNews = 'events';

/** True as well when nobody knows what was missed. */
export const tellsOfEvents = (kinds: News['kinds']): boolean => kinds?.includes(eventNews) ?? true;
