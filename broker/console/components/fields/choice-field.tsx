// A choice of one of many in a row of filters or tools, with its label before it.

interface ChoiceFieldProps<T extends string | number> {
  readonly label: string;
  readonly value: T;
  /** Each value with its text, in the order of the list. */
  readonly choices: readonly (readonly [value: T, text: string])[];
  onChoose(value: T): void;
}

export function ChoiceField<T extends string | number>(props: ChoiceFieldProps<T>) {
  const { label, value, choices, onChoose } = props;
  return (
    <label className="row">
      <span className="muted">{label}</span>
      <select
        className="input"
        value={value}
        onChange={({ currentTarget }) => {
          const chosen = choices[currentTarget.selectedIndex];
          if (chosen !== undefined) onChoose(chosen[0]);
        }}
      >
        {choices.map(([one, text]) => (
          <option key={one} value={one}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
