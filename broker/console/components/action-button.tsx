// A button that keeps the focus while it cannot be pressed. A disabled one loses it, and a keyboard user would begin at the top of the page.
import { Button, type ButtonProps } from 'react-aria-components';

interface ActionButtonProps extends Omit<ButtonProps, 'isDisabled' | 'isPending'> {
  /** It is shown as disabled, and a press does nothing. */
  readonly isOff: boolean;
}

export function ActionButton({ isOff, ...props }: ActionButtonProps) {
  return <Button {...props} isPending={isOff} />;
}
