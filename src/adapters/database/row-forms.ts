// Rows written as text where they were read, for statements with a `form`.
import { writeEventTexts } from '../../core/events/event-text.ts';
import type { Row, RowForm, SqlValue } from '../../ports.ts';

const writers: Readonly<
  Record<RowForm['of'], (rows: readonly (readonly SqlValue[])[], form: RowForm) => Row>
> = { events: writeEventTexts };

/** One row for these, with values in the order of the statement's columns. */
export function formed(rows: readonly (readonly SqlValue[])[], form: RowForm): Row {
  return writers[form.of](rows, form);
}
