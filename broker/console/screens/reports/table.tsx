// The rows of a report as a table: one order, sums below, and on paper all of it.
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { flushSync } from 'react-dom';
import { cutWords } from '../../../../build/words/cut.ts';
import { reportWords } from '../../../../build/words/report.ts';
import { tabWords } from '../../../../build/words/tab.ts';
import {
  type ColumnID,
  columnOfSort,
  isDownwards,
  isNumeric,
  isSummed,
  type ReportKind,
  type Sort,
  sorts,
} from '../../../../src/core/reports/columns.ts';
import {
  type NameOf,
  type ReportRow,
  shownColumns,
  sumOf,
  valueOf,
} from '../../../../src/core/reports/rows.ts';
import { useWords } from '../../components/use.ts';
import { MoreRows } from '../../components/view.tsx';
import { Cell, valueText } from './cell.tsx';

/** Rows at first, and with each press for more. */
export const rowsAtOnce = 100;

/** While the page is printed: all rows are in the document then. */
function usePrinting(): boolean {
  const [isPrinting, setPrinting] = useState(false);
  useEffect(() => {
    const begin = (): void => flushSync(() => setPrinting(true));
    const end = (): void => setPrinting(false);
    window.addEventListener('beforeprint', begin);
    window.addEventListener('afterprint', end);
    return () => {
      window.removeEventListener('beforeprint', begin);
      window.removeEventListener('afterprint', end);
    };
  }, []);
  return isPrinting;
}

function Heading({ column, sort }: { readonly column: ColumnID; readonly sort: Sort }) {
  const { reports: texts } = useWords(reportWords);
  const navigate = useNavigate({ from: '/reports' });
  const isSorted = columnOfSort(sort) === column;
  const order = isDownwards(sort) ? 'descending' : 'ascending';
  // Numbers and times are wanted from the highest down first.
  const first: Sort = isNumeric(column) || column === 'start' ? `-${column}` : column;
  const other: Sort = isDownwards(sort) ? column : `-${column}`;
  return (
    <th
      scope="col"
      {...(isNumeric(column) ? { className: 'num' } : {})}
      {...(isSorted ? { 'aria-sort': order } : {})}
    >
      <button
        type="button"
        className="sort"
        data-order={isSorted ? order : undefined}
        onClick={() =>
          void navigate({
            search: (before) => ({ ...before, sort: isSorted ? other : first }),
            replace: true,
            resetScroll: false,
          })
        }
      >
        {texts.columns[column]}
      </button>
    </th>
  );
}

/** The order where the headings are not shown: on a phone a row is a card. */
function OrderField({ columns, sort }: { readonly columns: readonly ColumnID[]; readonly sort: Sort }) {
  const { reports: texts } = useWords(reportWords);
  const navigate = useNavigate({ from: '/reports' });
  return (
    <label className="card-body row only-narrow not-printed">
      <span className="muted">{texts.order}</span>
      <select
        className="input"
        value={sort}
        onChange={({ currentTarget }) => {
          const chosen = sorts.find((one) => one === currentTarget.value);
          if (chosen === undefined) return;
          void navigate({
            search: (before) => ({ ...before, sort: chosen }),
            replace: true,
            resetScroll: false,
          });
        }}
      >
        {columns.flatMap((column) =>
          ([column, `-${column}`] as const).map((one) => (
            <option key={one} value={one}>
              {isDownwards(one)
                ? texts.downwards({ column: texts.columns[column] })
                : texts.upwards({ column: texts.columns[column] })}
            </option>
          )),
        )}
      </select>
    </label>
  );
}

function Sums({ kind, rows }: { readonly kind: ReportKind; readonly rows: readonly ReportRow[] }) {
  const words = useWords(reportWords, tabWords, cutWords);
  const { reports: texts, common } = words;
  const columns = shownColumns(kind, rows);
  if (!columns.some(isSummed) || rows.length < 2) return null;
  return (
    <tfoot>
      <tr>
        {columns.map((column, at) => {
          if (at === 0)
            return (
              <th scope="row" key={column}>
                {texts.all}
              </th>
            );
          const sum = sumOf(rows, column);
          const text = sum === null ? common.unknown : valueText(column, sum, words);
          return (
            <td
              key={column}
              {...(isNumeric(column) ? { className: 'num' } : {})}
              {...(isSummed(column) ? { 'data-label': texts.columns[column] } : {})}
            >
              {isSummed(column) ? <bdi>{text}</bdi> : null}
            </td>
          );
        })}
      </tr>
    </tfoot>
  );
}

interface ReportTableProps {
  readonly kind: ReportKind;
  /** In their order. */
  readonly rows: readonly ReportRow[];
  readonly sort: Sort;
  /** Rows that are shown. */
  readonly most: number;
  readonly nameOf: NameOf;
}

export function ReportTable({ kind, rows, sort, most, nameOf }: ReportTableProps) {
  const { reports: texts } = useWords(reportWords);
  const navigate = useNavigate({ from: '/reports' });
  const isPrinting = usePrinting();
  const columns = shownColumns(kind, rows);
  const shown = isPrinting ? rows : rows.slice(0, most);
  return (
    <>
      <OrderField columns={columns} sort={sort} />
      <div className="scroll">
        <table className="table folds report">
          <caption className="hidden">{texts.kinds[kind]}</caption>
          <thead>
            <tr>
              {columns.map((column) => (
                <Heading key={column} column={column} sort={sort} />
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <tr key={row.id}>
                {columns.map((column, at) => {
                  const cell = (
                    <Cell kind={kind} row={row} column={column} value={valueOf(row, column, nameOf)} />
                  );
                  return at === 0 ? (
                    <th scope="row" key={column}>
                      {cell}
                    </th>
                  ) : (
                    <td
                      key={column}
                      data-label={texts.columns[column]}
                      {...(isNumeric(column) ? { className: 'num' } : {})}
                    >
                      {cell}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
          <Sums kind={kind} rows={rows} />
        </table>
      </div>
      <div className="not-printed">
        <MoreRows
          most={most}
          all={rows.length}
          texts={texts}
          onMore={() =>
            void navigate({
              search: (before) => ({ ...before, rows: most + rowsAtOnce }),
              replace: true,
              resetScroll: false,
            })
          }
        />
      </div>
    </>
  );
}
