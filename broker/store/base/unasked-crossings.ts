// Geozone crossings of zones without an alert setting: stored as records, not as alerts. The condition equals
// that of `crossingNotice` for the codes of the activation summary.
import type { Statement } from '../../../src/ports.ts';
import { sql, valueList } from '../../../src/sql.ts';
import { crossingCodes } from '../../core/notifications/status-episodes.ts';

/** Condition on event `e`. The column holds JSON written by this service, so a quote within a text is escaped. */
export const isUnaskedCrossing: Statement = sql`(e.status_code IN (${valueList([...crossingCodes])})
  AND COALESCE(e.attributes, '') LIKE '%"alert":false%')`;
