// A button that opens a menu. It stands with the screen; its menu is loaded when the pointer or the focus comes to it, at the latest by a press.
import { type ReactNode, type RefObject, Suspense, useId, useRef, useState } from 'react';
import { Button, type ButtonProps } from 'react-aria-components';
import { type LoadPart, loadAhead } from '../../words/word-set.ts';

/** What a menu takes from its button, for `MenuPopover`. */
export interface MenuOfButton {
  readonly buttonID: string;
  readonly triggerRef: RefObject<HTMLButtonElement | null>;
  readonly isOpen: boolean;
  /** What has the focus first; true: the menu itself. */
  readonly focus: 'first' | 'last' | true;
  onOpenChange(isOpen: boolean): void;
}

interface MenuButtonProps extends Omit<ButtonProps, 'id' | 'ref'> {
  readonly load: LoadPart<unknown>;
  /** The menu, a `lazyPart` of what is loaded. */
  menu(of: MenuOfButton): ReactNode;
}

export function MenuButton({ load, menu, ...button }: MenuButtonProps) {
  const buttonID = useId();
  const triggerRef = useRef<HTMLButtonElement>(null);
  const [isWanted, setWanted] = useState(false);
  const [isOpen, setOpen] = useState(false);
  const [focus, setFocus] = useState<MenuOfButton['focus']>(true);
  const open = (on: MenuOfButton['focus']): void => {
    setFocus(on);
    setWanted(true);
    setOpen(true);
  };
  const ahead = (): void => loadAhead(load);
  return (
    <>
      <Button
        {...button}
        id={buttonID}
        ref={triggerRef}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onHoverStart={ahead}
        onFocus={ahead}
        onPress={({ pointerType }) =>
          open(pointerType === 'keyboard' || pointerType === 'virtual' ? 'first' : true)
        }
        onKeyDown={(event) => {
          if (event.key === 'ArrowDown') open('first');
          else if (event.key === 'ArrowUp') open('last');
          else return event.continuePropagation();
          event.preventDefault();
        }}
      />
      <Suspense>
        {isWanted ? menu({ buttonID, triggerRef, isOpen, focus, onOpenChange: setOpen }) : null}
      </Suspense>
    </>
  );
}
