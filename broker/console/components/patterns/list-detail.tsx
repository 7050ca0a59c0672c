// A list and what it has of one of its rows beside it: loading, failed, empty or its rows, the button for a new one, and more rows.
import { useInfiniteQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ActionButton } from '../action-button.tsx';
import { Icon, type IconName } from '../icon.tsx';
import { RowsBar } from '../rows/rows-bar.tsx';
import { useHeldRows } from '../rows/use-held-rows.ts';
import { Empty } from '../texts.tsx';
import { useWords } from '../use.ts';
import { View } from '../view.tsx';
import { DialogButton, type DialogName, useDialog, usePut } from './address.tsx';
import { Card } from './page.tsx';
import '../../styles/lists.css';

interface Column<T> {
  readonly name: string;
  readonly isNum?: boolean;
  /** Needs no name before it where a row is a card. */
  readonly isBare?: boolean;
  /** Its name is for a screen reader alone: a column of buttons. */
  readonly isNameHidden?: boolean;
  cell(item: T): ReactNode;
  /** Makes its name a button that sorts by it. */
  order?(one: T, other: T): number;
}

const { compare } = new Intl.Collator(undefined, { numeric: true });

/** Sorts by a text as a person does: by the letters of the language, and by the numbers in it. */
export const byText =
  <T,>(textOf: (of: T) => string) =>
  (one: T, other: T): number =>
    compare(textOf(one), textOf(other));

interface TableProps<T> {
  /** For a screen reader. */
  readonly caption: string;
  /** The first is the header of its row. All names differ. */
  readonly columns: readonly Column<T>[];
  readonly items: readonly T[];
  /** Rows that are shown; without it all. */
  readonly most?: number;
  readonly selected?: string | null;
  readonly className?: string;
  /** For a list that changes by itself: the filter that the reader chose. Its order stays while a person points at it. */
  readonly scope?: string;
  keyOf(item: T): string;
  /** Attributes of the row. */
  rowOf?(item: T): object;
}

/** The column that the address sorts by, and its order; `choose` sorts by one, and the other way round when it is pressed again. */
function useSort<T>(columns: readonly Column<T>[]) {
  const { sorted: sort = 0 } = useSearch({ strict: false });
  const put = usePut();
  const order = columns[Math.abs(sort) - 1]?.order;
  return {
    compare: order && ((one: T, other: T) => (sort > 0 ? order(one, other) : order(other, one))),
    directionOf: (at: number) => (Math.abs(sort) !== at + 1 ? 'none' : sort > 0 ? 'ascending' : 'descending'),
    choose: (at: number) => put({ sorted: sort === at + 1 ? -sort : at + 1 }),
  } as const;
}

/** A table whose rows fold into cards on a narrow screen. */
export function Table<T>(props: TableProps<T>) {
  const { caption, columns, items, most, selected, className = 'people', keyOf, rowOf, scope } = props;
  const { compare, directionOf, choose } = useSort(columns);
  const numClass = ({ isNum = false }: Column<T>) => (isNum ? { className: 'num' } : {});
  const nameOf = ({ name, isNameHidden = false, order }: Column<T>, at: number): ReactNode =>
    order === undefined ? (
      isNameHidden ? (
        <span className="hidden">{name}</span>
      ) : (
        name
      )
    ) : (
      <button type="button" className="sort" onClick={() => choose(at)}>
        {name}
        <Icon name="chevron-left" />
      </button>
    );
  const sorted = compare === undefined ? items : items.toSorted(compare);
  const { sorted: column = 0 } = useSearch({ strict: false });
  const held = useHeldRows(sorted, keyOf, `${column} ${scope}`);
  const texts = useWords().rows;
  return (
    <div className="scroll" {...(scope === undefined ? {} : held.frame)}>
      <RowsBar count={held.fresh.length} insert={held.insert} />
      <table className={`table folds ${className}`}>
        <caption className="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column, at) => (
              <th
                scope="col"
                key={column.name}
                {...numClass(column)}
                {...(column.order === undefined ? {} : { 'aria-sort': directionOf(at) })}
              >
                {nameOf(column, at)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {held.rows.slice(0, most).map(({ item, isGone }) => (
            <tr
              key={keyOf(item)}
              {...(selected === undefined ? {} : { 'data-selected': keyOf(item) === selected })}
              {...rowOf?.(item)}
              {...(isGone ? { className: 'gone', inert: true, 'data-gone': texts.gone } : {})}
            >
              {columns.map((column, at) =>
                at === 0 ? (
                  <th scope="row" key={column.name}>
                    {column.cell(item)}
                  </th>
                ) : (
                  <td
                    key={column.name}
                    {...numClass(column)}
                    {...(column.isBare === true ? {} : { 'data-label': column.name })}
                  >
                    {column.cell(item)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** What a list of the service is, as hooks of screens give it. */
interface Listed<T> {
  /** Undefined: not read yet. */
  readonly items: readonly T[] | undefined;
  /** When it was read, ms since 1970; 0: not yet. */
  readonly readMs: number;
  readonly error: Error | null;
  readonly more?: More;
}

interface More {
  readonly isThere: boolean;
  readonly isBusy: boolean;
  show(): void;
}

interface EmptyTexts {
  readonly icon: IconName;
  readonly title: string;
  readonly hint?: string;
}

/** Loading, failed, empty or the rows, and the button for more. */
export function ListView<T>({
  list: { items, readMs, error, more },
  empty: { icon, title, hint },
  moreText = '',
  children,
}: {
  readonly list: Listed<T>;
  readonly empty: EmptyTexts;
  readonly moreText?: string;
  readonly children: ReactNode;
}) {
  const nothing = (
    <Empty icon={icon} title={title}>
      {hint === undefined ? null : <p>{hint}</p>}
    </Empty>
  );
  return (
    <View
      error={error}
      readMs={readMs}
      empty={items?.length === 0 && more?.isThere !== true ? nothing : null}
    >
      {children}
      {more?.isThere === true ? (
        <div className="card-body">
          <ActionButton className="button secondary" isOff={more.isBusy} onPress={more.show}>
            {moreText}
          </ActionButton>
        </div>
      ) : null}
    </View>
  );
}

interface ListCardProps<T> extends Omit<TableProps<T>, 'items'> {
  readonly title: string;
  readonly list: Listed<T>;
  readonly empty: EmptyTexts;
  /** Beside the title. */
  readonly head?: ReactNode;
  /** Above the rows. */
  readonly above?: ReactNode;
  readonly moreText?: string;
}

export function ListCard<T>({ title, list, empty, head, above, moreText = '', ...table }: ListCardProps<T>) {
  return (
    <Card title={title} head={head} isBare>
      {above}
      <ListView list={list} empty={empty} moreText={moreText}>
        <Table {...table} items={list.items ?? []} />
      </ListView>
    </Card>
  );
}

interface ListDetailProps<T> extends ListCardProps<T> {
  /** The button for a new one and its form; undefined: this user makes none. */
  readonly create?:
    | { readonly name: DialogName; readonly text: string; readonly form: ReactNode }
    | undefined;
  readonly selected: string | null;
  /** In place of a detail: nothing is chosen, or what was is gone. */
  readonly none: { readonly label: string; readonly pick: string; readonly gone: string };
  detail(item: T): ReactNode;
}

export function ListDetail<T>({ create, none, detail, ...list }: ListDetailProps<T>) {
  const { opened } = useDialog();
  const { head, selected, keyOf } = list;
  const { items } = list.list;
  const chosen = items?.find((item) => keyOf(item) === selected);
  return (
    <div className="split">
      <ListCard
        {...list}
        head={
          create === undefined ? (
            head
          ) : (
            <>
              {head}
              <DialogButton name={create.name} icon="plus" className="button primary push">
                {create.text}
              </DialogButton>
            </>
          )
        }
      />
      {chosen === undefined ? (
        <aside className="card not-narrow" aria-label={none.label}>
          <Empty
            icon={list.empty.icon}
            title={selected === null || items === undefined ? none.pick : none.gone}
          />
        </aside>
      ) : (
        detail(chosen)
      )}
      {create !== undefined && opened === create.name ? create.form : null}
    </div>
  );
}

interface Paged<P, T> {
  readonly queryKey: readonly unknown[];
  /** @param cursor of the page that follows; empty for the first. */
  read(cursor: { readonly cursor?: string }, signal: AbortSignal): Promise<P>;
  itemsOf(page: P): readonly T[];
  /** When it is read again, ms. @param pages how many are shown. */
  againMs?(pages: number): number | false;
}

type Page = { readonly next?: string | null | undefined; readonly more?: boolean | undefined };

/** A list of the service page after page. */
export function usePages<P extends Page, T>({ queryKey, read, itemsOf, againMs }: Paged<P, T>) {
  const { data, error, dataUpdatedAt, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => read(pageParam === null ? {} : { cursor: pageParam }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next, more }) => (more === false ? null : next),
    refetchInterval: ({ state }) => againMs?.(state.data?.pages.length ?? 0) ?? false,
  });
  return {
    pages: data?.pages,
    items: data?.pages.flatMap(itemsOf),
    readMs: dataUpdatedAt,
    error,
    more: { isThere: hasNextPage, isBusy: isFetchingNextPage, show: (): void => void fetchNextPage() },
  };
}
