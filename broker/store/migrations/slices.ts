// The slices of the events: which tables there are, which event time each of them can hold, and which one takes what comes in.
import { ddl, type Migration } from '../../../src/migrate.ts';

export const sliceMigrations: readonly Migration[] = [
  {
    name: '0014-event-slices',
    statements: [
      // Slice 1 is the table `events`, slice k the table `events_k`. `first_no`: its events have this number or a higher one,
      // and a lower one than those of the next slice. `state`: `open` takes what comes in, and one slice is; `closed`; `retired`
      // is past every limit and not shown any more; `dropping` is being emptied.
      ddl(`CREATE TABLE event_slices (
        slice_no INTEGER NOT NULL PRIMARY KEY,
        state TEXT NOT NULL CHECK (state IN ('open', 'closed', 'retired', 'dropping')),
        first_no BIGINT NOT NULL,
        opened_ms BIGINT NOT NULL,
        closed_ms BIGINT,
        retired_ms BIGINT)`),
      // Every event of a slice lies in a span of it. A slice keeps its spans when rows are removed: they say where one may be.
      ddl(`CREATE TABLE event_spans (
        slice_no INTEGER NOT NULL REFERENCES event_slices (slice_no) ON DELETE CASCADE,
        from_ms BIGINT NOT NULL,
        to_ms BIGINT NOT NULL,
        PRIMARY KEY (slice_no, from_ms, to_ms))`),
      ddl('CREATE INDEX event_spans_by_time ON event_spans (to_ms, from_ms, slice_no)'),
      ddl(`INSERT INTO event_slices (slice_no, state, first_no, opened_ms)
        SELECT 1, 'open', 1, COALESCE(MIN(received_ms), 0) FROM events`),
      // The slice that takes the next event number. Who stores events changes this row, and with it proves that the slice is
      // still open: so numbers of slices never overlap, whatever clocks do and however many processes store.
      ddl('ALTER TABLE event_counter ADD COLUMN slice_no INTEGER NOT NULL DEFAULT 1'),
      // As `spanOf` in broker/core/event-spans.ts: days near the receipt, blocks of 64 days elsewhere.
      ddl(`INSERT INTO event_spans (slice_no, from_ms, to_ms)
        SELECT DISTINCT 1, f.from_ms, CASE WHEN f.from_ms < 978307200000 AND f.width_ms = 0 THEN 978307199999
            WHEN f.width_ms = 0 THEN 9007199254740991 ELSE f.from_ms + f.width_ms - 1 END
          FROM (SELECT t.width_ms, CASE WHEN t.width_ms > 0 THEN t.timestamp_ms - t.timestamp_ms % t.width_ms
              WHEN t.timestamp_ms < 978307200000 THEN -9007199254740991 ELSE 4102444800000 END AS from_ms
            FROM (SELECT timestamp_ms, CASE
                WHEN timestamp_ms < 978307200000 OR timestamp_ms >= 4102444800000 THEN 0
                WHEN timestamp_ms BETWEEN received_ms - 5184000000 AND received_ms + 172800000 THEN 86400000
                ELSE 5529600000 END AS width_ms
              FROM events) t) f`),
    ],
  },
];
