// A list to choose one of, by keyboard, pointer and screen reader.
import {
  Button,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  Select,
  SelectValue,
  Text,
} from 'react-aria-components';
import { Icon } from '../icon.tsx';

interface ChoiceProps {
  readonly label: string;
  readonly choices: readonly { readonly value: string; readonly text: string }[];
  /** Null: nothing is chosen yet. */
  readonly chosen: string | null;
  readonly placeholder?: string;
  readonly hint?: string;
  onChoose(value: string): void;
}

export function Choice({ label, choices, chosen, placeholder = '', hint, onChoose }: ChoiceProps) {
  return (
    <Select
      className="field"
      placeholder={placeholder}
      value={chosen}
      onChange={(key) => (key === null ? undefined : onChoose(String(key)))}
    >
      <Label>{label}</Label>
      <Button className="input choice">
        <SelectValue />
        <Icon name="chevron-left" />
      </Button>
      {hint === undefined ? null : (
        <Text slot="description" className="hint">
          {hint}
        </Text>
      )}
      <Popover className="menu">
        <ListBox>
          {choices.map(({ value, text }) => (
            <ListBoxItem key={value} id={value} textValue={text}>
              {text}
            </ListBoxItem>
          ))}
        </ListBox>
      </Popover>
    </Select>
  );
}
