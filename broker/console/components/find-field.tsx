// The search field over a list: what is typed stands in the address, which holds at most 200 characters of it.
import { Input, SearchField } from 'react-aria-components';
import { Icon } from './icon.tsx';

interface FindFieldProps {
  readonly label: string;
  readonly value: string;
  /** At the end of its row. */
  readonly isPushed?: boolean;
  onChange(text: string): void;
}

export function FindField({ label, value, isPushed = false, onChange }: FindFieldProps) {
  return (
    <SearchField
      className={isPushed ? 'find push' : 'find'}
      aria-label={label}
      value={value}
      onChange={onChange}
    >
      <Icon name="search" />
      <Input className="input" placeholder={label} maxLength={200} />
    </SearchField>
  );
}
