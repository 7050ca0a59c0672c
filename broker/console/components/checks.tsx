// A choice of any of a few, by keyboard, pointer and screen reader.
import { Checkbox, CheckboxGroup, Label, Text } from 'react-aria-components';
import { Icon } from './icon.tsx';

interface ChecksProps {
  readonly label: string;
  readonly choices: readonly { readonly value: string; readonly text: string }[];
  readonly chosen: readonly string[];
  readonly hint?: string | undefined;
  readonly isOff?: boolean;
  onChoose(values: readonly string[]): void;
}

export function Checks({ label, choices, chosen, hint, isOff = false, onChoose }: ChecksProps) {
  return (
    <CheckboxGroup className="field" value={[...chosen]} onChange={onChoose} isReadOnly={isOff}>
      <Label>{label}</Label>
      <div className="radios">
        {choices.map(({ value, text }) => (
          <Checkbox key={value} value={value} className="radio check">
            <span className="box">
              <Icon name="check" />
            </span>
            {text}
          </Checkbox>
        ))}
      </div>
      {hint === undefined ? null : (
        <Text slot="description" className="hint">
          {hint}
        </Text>
      )}
    </CheckboxGroup>
  );
}
