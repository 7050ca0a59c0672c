// The values of a plot in few: a summary in words, and rows for a table. Pure. Null: not measured.
export type Values = readonly (number | null)[];

export interface Summary {
  readonly first: number;
  readonly last: number;
  readonly least: number;
  readonly mean: number;
  readonly most: number;
}

/** Null: not measured. */
export function summarise(values: Values): Summary | null {
  const seen = values.filter((value) => value !== null);
  const [first] = seen;
  const last = seen.at(-1);
  if (first === undefined || last === undefined) return null;
  const sum = seen.reduce((total, value) => total + value, 0);
  const least = seen.reduce((a, b) => Math.min(a, b));
  const most = seen.reduce((a, b) => Math.max(a, b));
  return { first, last, least, mean: sum / seen.length, most };
}

/** At most `most` values, each of as many neighbours as it takes. */
export function condense(values: Values, most: number, how: 'mean' | 'max' | 'min'): Values {
  const every = Math.max(1, Math.ceil(values.length / most));
  return Array.from({ length: Math.ceil(values.length / every) }, (_, at) => {
    const summary = summarise(values.slice(at * every, (at + 1) * every));
    if (summary === null) return null;
    return { mean: summary.mean, max: summary.most, min: summary.least }[how];
  });
}
