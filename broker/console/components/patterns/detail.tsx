// The details of one object: its facts as pairs, and the changes that are offered, each with its dialog.
import type { ReactNode } from 'react';
import type { IconName } from '../icon.tsx';
import { useWords } from '../use.ts';
import { DialogButton, type DialogName, useDialog } from './address.tsx';

interface PairsProps {
  /** One with null is left out. */
  readonly rows: readonly (readonly [name: string, value: ReactNode])[];
}

export function Pairs({ rows }: PairsProps) {
  return (
    <dl className="pairs">
      {rows.map(([name, value]) =>
        value === null ? null : (
          <div className="pair" key={name}>
            <dt>{name}</dt>
            <dd>{typeof value === 'string' ? <bdi>{value}</bdi> : value}</dd>
          </div>
        ),
      )}
    </dl>
  );
}

/** A text, or the word for none. */
export function OrNone({ children }: { readonly children: string }) {
  const { common } = useWords();
  return children === '' ? <span className="muted">{common.none}</span> : <bdi>{children}</bdi>;
}

interface Action {
  readonly name: DialogName;
  readonly text: string;
  readonly icon?: IconName;
  readonly className?: string;
  readonly isOff?: boolean;
  /** Mounted while the address names it. */
  readonly dialog: ReactNode;
}

/** Buttons, and the dialog that the address names. */
export function Actions({ of }: { readonly of: readonly (Action | null)[] }) {
  const { opened } = useDialog();
  const offered = of.filter((one) => one !== null);
  return (
    <>
      <div className="row wrap">
        {offered.map((one) => (
          <DialogButton key={one.name} {...one}>
            {one.text}
          </DialogButton>
        ))}
      </div>
      {offered.find(({ name }) => name === opened)?.dialog}
    </>
  );
}
