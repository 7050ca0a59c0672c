// A list and what it has of one of its rows beside it: loading, failed, empty or its rows, the button for a new one, and more rows.
import { useInfiniteQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ActionButton } from '../action-button.tsx';
import type { IconName } from '../icon.tsx';
import { Empty } from '../texts.tsx';
import { View } from '../view.tsx';
import { DialogButton, type DialogName, useDialog } from './address.tsx';
import { Card } from './page.tsx';

interface Column<T> {
  readonly name: string;
  readonly isNum?: boolean;
  /** Needs no name before it where a row is a card. */
  readonly isBare?: boolean;
  /** Its name is for a screen reader alone: a column of buttons. */
  readonly isNameHidden?: boolean;
  cell(item: T): ReactNode;
}

interface TableProps<T> {
  /** For a screen reader. */
  readonly caption: string;
  /** The first is the header of its row. All names differ. */
  readonly columns: readonly Column<T>[];
  readonly items: readonly T[];
  readonly selected?: string | null;
  keyOf(item: T): string;
  /** Attributes of the row. */
  rowOf?(item: T): object;
}

/** A table whose rows fold into cards on a narrow screen. */
export function Table<T>(props: TableProps<T>) {
  const { caption, columns, items, selected, keyOf, rowOf } = props;
  const numClass = ({ isNum = false }: Column<T>) => (isNum ? { className: 'num' } : {});
  return (
    <div className="scroll">
      <table className="table folds people">
        <caption className="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th scope="col" key={column.name} {...numClass(column)}>
                {column.isNameHidden === true ? <span className="hidden">{column.name}</span> : column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr
              key={keyOf(item)}
              {...(selected === undefined ? {} : { 'data-selected': keyOf(item) === selected })}
              {...rowOf?.(item)}
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
