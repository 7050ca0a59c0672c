// The frame of a screen: the page with its title, cards with a title, and what stands in place of a content that is not for this user.
import { type ReactNode, useId } from 'react';
import { Empty, Loading } from '../texts.tsx';
import { useTitle } from '../use.ts';

interface PageProps {
  readonly title: string;
  /** Of the browser's tab, where it is another one. */
  readonly tabTitle?: string;
  /** Below the title. */
  readonly lead?: string;
  readonly children: ReactNode;
}

export function Page({ title, tabTitle = title, lead, children }: PageProps) {
  useTitle(tabTitle);
  return (
    <main className="page" id="main">
      <header className="page-head">
        <h1>{title}</h1>
        {lead === undefined ? null : <p>{lead}</p>}
      </header>
      {children}
    </main>
  );
}

interface CardProps {
  readonly title: ReactNode;
  /** Beside the title. */
  readonly head?: ReactNode;
  readonly isAside?: boolean;
  /** Its content has a frame of its own, from edge to edge. */
  readonly isBare?: boolean;
  readonly children: ReactNode;
}

export function Card({ title, head, isAside = false, isBare = false, children }: CardProps) {
  const id = useId();
  const Frame = isAside ? 'aside' : 'section';
  return (
    <Frame className="card" aria-labelledby={id}>
      <header className="wrap">
        <h2 id={id}>{title}</h2>
        {head}
      </header>
      {isBare ? children : <div className="card-body stack">{children}</div>}
    </Frame>
  );
}

interface GateProps {
  /** Null: not known yet. */
  readonly isOpen: boolean | null;
  readonly title: string;
  readonly hint?: string;
  readonly children: ReactNode;
}

/** Shows its content where the user may see it, else the title and hint. */
export function Gate({ isOpen, title, hint, children }: GateProps) {
  if (isOpen === true) return children;
  return (
    <section className="card">
      {isOpen === null ? (
        <Loading rows={5} />
      ) : (
        <Empty icon="lock" title={title}>
          {hint === undefined ? null : <p>{hint}</p>}
        </Empty>
      )}
    </section>
  );
}

/** @param role '' while it is not known. */
export const isOneOf = (role: string, ...roles: readonly string[]): boolean | null =>
  role === '' ? null : roles.includes(role);
