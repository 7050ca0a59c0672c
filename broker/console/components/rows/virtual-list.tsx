// A list of which only the rows in sight are in the document.
import { useVirtualizer } from '@tanstack/react-virtual';
import { type HTMLAttributes, type ReactNode, useCallback, useRef } from 'react';

interface VirtualListProps<T> {
  readonly items: readonly T[];
  /** Height of a row before it is measured. */
  readonly rowPx: number;
  /** What scrolls. */
  readonly frame: HTMLAttributes<HTMLDivElement>;
  /** Name of the list, where its frame has none. */
  readonly label?: string;
  keyOf(item: T): string;
  row(item: T): ReactNode;
}

export function VirtualList<T>({ items, rowPx, frame, label, keyOf, row }: VirtualListProps<T>) {
  const scroll = useRef<HTMLDivElement>(null);
  // Rows have no keys here: the list of a large fleet changes four times a second.
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroll.current,
    estimateSize: useCallback(() => rowPx, [rowPx]),
    overscan: 8,
  });
  return (
    <div {...frame} ref={scroll}>
      <ul aria-label={label} style={{ blockSize: rows.getTotalSize(), position: 'relative' }}>
        {rows.getVirtualItems().map(({ index, start }) => {
          const item = items[index];
          return item === undefined ? null : (
            <li
              key={keyOf(item)}
              ref={rows.measureElement}
              data-index={index}
              aria-setsize={items.length}
              aria-posinset={index + 1}
              className="virtual-row"
              style={{ transform: `translateY(${start}px)` }}
            >
              {row(item)}
            </li>
          );
        })}
      </ul>
    </div>
  );
}
