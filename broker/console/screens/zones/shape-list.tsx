// The list of zones or routes: its title, the button for a new one, the search and the rows.

import { type ReactNode, useMemo } from 'react';
import { zoneWords } from '../../../../build/words/zone.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { FindField } from '../../components/find-field.tsx';
import { Icon, type IconName } from '../../components/icon.tsx';
import { Empty } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { countText, Known, useKnowledge } from '../../components/view.tsx';
import { connection } from '../../service/live.ts';

/** Rows in the document; a search finds the others. */
const rowsMost = 300;

interface ShapeListProps<T> {
  readonly titleID: string;
  readonly icon: IconName;
  readonly texts: Readonly<
    Record<'title' | 'new' | 'find' | 'empty' | 'emptyHint' | 'noMatch' | 'viewer' | 'list', string>
  >;
  readonly all: readonly T[];
  /** When they were read, ms since 1970. */
  readonly readMs: number;
  readonly error: Error | null;
  readonly find: string;
  readonly mayChange: boolean;
  search(all: readonly T[], find: string): readonly T[];
  idOf(one: T): string;
  row(one: T): ReactNode;
  onNew(): void;
  onFind(text: string): void;
}

export function ShapeList<T>(props: ShapeListProps<T>) {
  const { titleID, icon, texts, all, readMs, error, find, mayChange, search, idOf, row, onNew, onFind } =
    props;
  const { zones } = useWords(zoneWords);
  const { state } = useValue(connection);
  const knowledge = useKnowledge(readMs, error !== null);
  const found = useMemo(() => search(all, find), [search, all, find]);
  return (
    <>
      <header>
        <div className="row">
          <h2 id={titleID}>{texts.title}</h2>
          <span className="faint">{countText(all.length, knowledge)}</span>
          {mayChange ? (
            <ActionButton className="button secondary small push" isOff={state !== 'live'} onPress={onNew}>
              <Icon name="plus" />
              {texts.new}
            </ActionButton>
          ) : null}
        </div>
        <FindField label={texts.find} value={find} onChange={onFind} />
      </header>
      {found.length === 0 ? (
        <Known readMs={readMs} error={error}>
          <Empty icon={icon} title={all.length === 0 ? texts.empty : texts.noMatch}>
            {all.length === 0 ? <p>{mayChange ? texts.emptyHint : texts.viewer}</p> : null}
          </Empty>
        </Known>
      ) : (
        <ul className="list" aria-label={texts.list}>
          {found.slice(0, rowsMost).map((one) => (
            <li key={idOf(one)}>{row(one)}</li>
          ))}
          {found.length > rowsMost ? (
            <li className="empty">{zones.more({ count: found.length - rowsMost })}</li>
          ) : null}
        </ul>
      )}
    </>
  );
}
