// The head of the panel of a zone or route: its name, and the buttons that change or delete it.
import type { ToOptions } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { Button } from 'react-aria-components';
import { zoneWords } from '../../../../build/words/zone.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Icon, type IconName } from '../../components/icon.tsx';
import { CopyLink } from '../../components/patterns/copy-link.tsx';
import { Notice } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { useFailure } from '../../components/view.tsx';
import { AskDialog } from './parts.tsx';
import type { Changes } from './use-change.ts';

interface ShapeHeadProps {
  readonly icon: IconName;
  readonly name: string;
  /** The line below the name; empty for none. */
  readonly detail: string;
  /** What is wrong with the shape. */
  readonly warning?: ReactNode;
  readonly mayChange: boolean;
  /** Its own address. */
  readonly to: ToOptions;
  /** Shown to a reader who may not change it. */
  readonly viewer: string;
  readonly changes: Omit<Changes<never>, 'run'>;
  /** What a deletion means. */
  readonly children: ReactNode;
  onClose(): void;
  onEdit(): void;
  onDelete(): void;
}

export function ShapeHead(props: ShapeHeadProps) {
  const { icon, name, detail, warning, mayChange, viewer, changes, children } = props;
  const { zones: texts, common } = useWords(zoneWords);
  const [isAsking, setAsking] = useState(false);
  const failure = useFailure(changes.failure, texts.failed);
  const isOff = changes.isDown || changes.isBusy;
  return (
    <div className="panel-head">
      <div className="row">
        <Icon name={icon} isLarge />
        <h2>{name}</h2>
        <Button className="button square push" aria-label={common.close} onPress={props.onClose}>
          <Icon name="x" />
        </Button>
      </div>
      <div className="row">
        <CopyLink to={props.to} what={name} />
      </div>
      {detail === '' ? null : <p className="muted">{detail}</p>}
      {warning}
      {mayChange ? (
        <div className="row wrap">
          <ActionButton className="button secondary" isOff={isOff} onPress={props.onEdit}>
            {texts.edit}
          </ActionButton>
          <ActionButton className="button secondary" isOff={isOff} onPress={() => setAsking(true)}>
            {texts.remove}
          </ActionButton>
          {changes.isDown ? <span className="muted">{texts.off}</span> : null}
        </div>
      ) : (
        <Notice tone="look" icon="lock" title={viewer} />
      )}
      <AskDialog
        isOpen={isAsking}
        title={texts.removeTitle({ name })}
        confirm={texts.removeConfirm({ name })}
        isOff={isOff}
        onClose={() => {
          changes.reset();
          setAsking(false);
        }}
        onConfirm={props.onDelete}
      >
        {children}
        {failure}
      </AskDialog>
    </div>
  );
}
