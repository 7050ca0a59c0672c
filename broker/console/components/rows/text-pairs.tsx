// A list of names with a text each, as the details of an object have it.
import type { ReactNode } from 'react';

interface TextPairsProps {
  /** One without a text is left out. */
  readonly rows: readonly (readonly [name: string, text: string | null])[];
  /** Further pairs, behind them. */
  readonly children?: ReactNode;
}

export function TextPairs({ rows, children }: TextPairsProps) {
  return (
    <dl className="pairs">
      {rows.map(([name, text]) =>
        text === null ? null : (
          <div className="pair" key={name}>
            <dt>{name}</dt>
            <dd>
              <bdi>{text}</bdi>
            </dd>
          </div>
        ),
      )}
      {children}
    </dl>
  );
}
