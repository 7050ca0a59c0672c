// What came to a list while its order was held: how many rows, and the gravest alarm by name. A press shows them.
import { Button } from 'react-aria-components';
import type { Alarm } from '../../api/operations.ts';
import { Icon } from '../icon.tsx';
import { codeText } from '../texts.tsx';
import { useWords } from '../use.ts';

interface RowsBarProps {
  /** Rows that are not shown yet. */
  readonly count: number;
  /** A critical alarm without an owner, whose row is not shown or not moved up yet. */
  readonly urgent?: (Pick<Alarm, 'statusCode' | 'priority'> & { readonly name: string }) | undefined;
  insert(): void;
}

export function RowsBar({ count, urgent, insert }: RowsBarProps) {
  const words = useWords();
  if (count === 0 && urgent === undefined) return null;
  return (
    <Button
      className={`button small rows-bar ${urgent === undefined ? 'secondary' : 'take'}`}
      onPress={insert}
    >
      <Icon name={urgent === undefined ? 'plus' : 'octagon-alert'} />
      {urgent === undefined ? null : (
        <>
          {words.alarms.priorities[urgent.priority]}: {codeText(urgent.statusCode, words)} ·{' '}
          <bdi>{urgent.name}</bdi>
        </>
      )}
      {count === 0 ? null : <span>{words.rows.fresh({ count })}</span>}
    </Button>
  );
}
