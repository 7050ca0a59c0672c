// A table whose rows fold into cards on a narrow screen: its caption for a screen reader, the names of its columns, and its rows.
import type { ReactNode } from 'react';

interface ListTableProps {
  readonly caption: string;
  /** All different. */
  readonly columns: readonly string[];
  /** The name of a last column of buttons, for a screen reader alone. */
  readonly action?: string;
  /** The rows. */
  readonly children: ReactNode;
}

export function ListTable({ caption, columns, action, children }: ListTableProps) {
  return (
    <div className="scroll">
      <table className="table folds people">
        <caption className="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((name) => (
              <th scope="col" key={name}>
                {name}
              </th>
            ))}
            {action === undefined ? null : (
              <th scope="col">
                <span className="hidden">{action}</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
