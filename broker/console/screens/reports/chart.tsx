// The same rows as bars: what each day, or in the summary each vehicle, adds.
import { useMemo } from 'react';
import { reportWords } from '../../../../build/words/report.ts';
import { tabWords } from '../../../../build/words/tab.ts';
import { type ColumnID, formOf, type ReportKind } from '../../../../src/core/reports/columns.ts';
import type { NameOf, ReportRow } from '../../../../src/core/reports/rows.ts';
import { lineOf, Plot } from '../../components/plot.tsx';
import { momentText } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { shownTheme } from '../../shell/theme.ts';
import { barsOf } from '../../state/reports/rows.ts';
import { shownZone } from '../../words/measures.ts';
import type { WordsWith } from '../../words/word-set.ts';

const isDistance = (column: ColumnID | null): boolean => column !== null && formOf(column) === 'km';

const nameOfSeries = (column: ColumnID | null, { reports }: WordsWith<[typeof reportWords]>): string =>
  column === null ? reports.perDay : reports.columns[column];

interface ChartProps {
  readonly kind: ReportKind;
  /** In the order of the table; at least one. */
  readonly rows: readonly ReportRow[];
  readonly nameOf: NameOf;
}

export function ReportChart({ kind, rows, nameOf }: ChartProps) {
  const words = useWords(reportWords, tabWords);
  const theme = useValue(shownTheme);
  const props = useMemo(() => {
    const { places, series } = barsOf(kind, rows, shownZone());
    // Two of one unit have one scale, so that they can be compared.
    const lines = series.map(({ column, values }) =>
      isDistance(column)
        ? lineOf(values, 'km', words)
        : { unit: column === null ? '' : words.units.h, values },
    );
    const units = new Set(lines.map(({ unit }) => unit));
    const most = Math.max(1, ...lines.flatMap(({ values }) => values.map((value) => value ?? 0))) * 1.05;
    return {
      times: places.map((_place, at) => at),
      names: places.map((place) => (typeof place === 'string' ? nameOf(place) : momentText(place, 'date'))),
      series: lines.map((line, at) => ({
        ...line,
        name: nameOfSeries(series[at]?.column ?? null, words),
        colour: at === 0 ? ('plot-1' as const) : ('plot-2' as const),
        ...(units.size < series.length ? { most } : {}),
      })),
      label: words.reports.plot[kind],
    };
  }, [kind, rows, nameOf, words]);
  return (
    <div className="not-printed">
      <Plot {...props} theme={theme} />
      <div className="row wrap plot-key">
        {props.series.map(({ name, unit, colour }) => (
          <span key={name} className={colour === 'plot-1' ? 'key' : 'key fuel'}>
            {unit === '' ? name : `${name}, ${unit}`}
          </span>
        ))}
      </div>
    </div>
  );
}
