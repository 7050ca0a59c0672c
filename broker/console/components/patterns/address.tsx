// What a screen has in its address: its members and their change, the dialog that it names, and the filters, tabs and links that change one.
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ActionButton } from '../action-button.tsx';
import { Chips } from '../chips.tsx';
import { Icon, type IconName } from '../icon.tsx';

/** Members that addresses of screens hold; each screen has some of them. */
const useAddress = () => useSearch({ strict: false });

type Members = ReturnType<typeof useAddress>;
export type AddressChange = { readonly [K in keyof Members]?: Members[K] | undefined };

/**
 * Changes members in place; undefined takes one out. A change that is made of what the address holds is a function: at a second press the screen may
 * still show the address of before the first.
 */
export function usePut(): (change: AddressChange | ((before: Members) => AddressChange)) => void {
  const navigate = useNavigate();
  return (change) => {
    const search = (before: Members) => ({
      ...before,
      ...(typeof change === 'function' ? change(before) : change),
    });
    void navigate({ to: '.', search: search as never, replace: true, resetScroll: false });
  };
}

export type DialogName = NonNullable<Members['open']>;

/** The dialog that the address names. */
export function useDialog() {
  const { open } = useAddress();
  const put = usePut();
  return {
    opened: open ?? null,
    /** @param about what the dialog is about. */
    open: (name: DialogName, about: AddressChange = {}): void => put({ ...about, open: name }),
    close: (): void =>
      put({ open: undefined, session: undefined, unit: undefined, revoke: undefined, passkey: undefined }),
  };
}

interface DialogButtonProps {
  readonly name: DialogName;
  readonly about?: AddressChange;
  readonly icon?: IconName;
  readonly className?: string;
  /** What it is about, where the text alone does not say so. */
  readonly label?: string;
  readonly isOff?: boolean;
  readonly children: string;
}

/** Opens a dialog, which the address then names. */
export function DialogButton({ name, about, icon, label, isOff = false, ...props }: DialogButtonProps) {
  const { className = 'button secondary', children } = props;
  const dialog = useDialog();
  return (
    <ActionButton
      className={className}
      aria-haspopup="dialog"
      {...(label === undefined ? {} : { 'aria-label': label })}
      isOff={isOff}
      onPress={() => dialog.open(name, about)}
    >
      {icon === undefined ? null : <Icon name={icon} />}
      {children}…
    </ActionButton>
  );
}

interface AddressChipsProps<T extends string> {
  readonly label: string;
  readonly member: keyof Members;
  readonly values: readonly T[];
  /** Counts while the address has none. */
  readonly first: T;
  /** Members that another choice takes out. */
  readonly clears?: AddressChange;
  content(value: T): ReactNode;
}

/** A choice of one of a few that stands in the address. */
export function AddressChips<T extends string>(props: AddressChipsProps<T>) {
  const { member, first, clears, ...chips } = props;
  const put = usePut();
  const chosen = (useAddress()[member] ?? first) as T;
  return (
    <Chips
      {...chips}
      chosen={chosen}
      onChoose={(one) => put({ ...clears, [member]: one === first ? undefined : one })}
    />
  );
}

interface TabsProps<T extends string> {
  readonly label: string;
  readonly values: readonly T[];
  readonly chosen: T;
  content(value: T): ReactNode;
  /** The address of one. */
  search(value: T): AddressChange;
}

export function Tabs<T extends string>({ label, values, chosen, content, search }: TabsProps<T>) {
  return (
    <nav className="tabs page-tabs" aria-label={label}>
      {values.map((one) => (
        <Link
          key={one}
          to="."
          search={search(one) as never}
          {...(one === chosen ? { 'aria-current': 'page' as const } : {})}
        >
          {content(one)}
        </Link>
      ))}
    </nav>
  );
}

interface ItemLinkProps {
  readonly search: AddressChange;
  readonly isChosen: boolean;
  readonly note?: ReactNode;
  readonly children: ReactNode;
}

/** Shows one of the list beside it. */
export function ItemLink({ search, isChosen, note, children }: ItemLinkProps) {
  return (
    <>
      <Link
        to="."
        search={search as never}
        resetScroll={false}
        {...(isChosen ? { 'aria-current': true as const } : {})}
      >
        {children}
      </Link>
      {note === undefined ? null : <span className="note">{note}</span>}
    </>
  );
}
