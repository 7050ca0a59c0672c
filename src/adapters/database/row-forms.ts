// Rows written as text where they were read, for statements with a `form`.
import { eventTextColumns, eventTextWriter } from '../../core/events/event-text.ts';
import type { Row, RowForm, SqlValue } from '../../ports.ts';

export interface RowWriter {
  /** @param row values in the order of `formColumns`. */
  add(row: readonly SqlValue[]): void;
  /** The row that stands for those that were added. */
  end(): Row;
}

const forms = { events: { columns: eventTextColumns, writer: eventTextWriter } } as const;

/** Names of the columns of a statement with that form, in order. */
export const formColumns = ({ of }: RowForm): readonly string[] => forms[of].columns;

export const rowWriter = (form: RowForm): RowWriter => forms[form.of].writer(form);
