// A choice of one of a few, as chips.
import type { ReactNode } from 'react';

interface ChipsProps<T extends string> {
  readonly label: string;
  readonly values: readonly T[];
  readonly chosen: T;
  content(value: T): ReactNode;
  onChoose(value: T): void;
}

export function Chips<T extends string>({ label, values, chosen, content, onChoose }: ChipsProps<T>) {
  return (
    <div className="chips" role="group" aria-label={label}>
      {values.map((one) => (
        <button
          key={one}
          type="button"
          className="chip"
          aria-pressed={one === chosen}
          onClick={() => onChoose(one)}
        >
          {content(one)}
        </button>
      ))}
    </div>
  );
}
