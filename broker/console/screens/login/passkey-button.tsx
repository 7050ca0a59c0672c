// Begins the login by passkey; only where the browser can.
import { Button } from 'react-aria-components';
import { Icon } from '../../components/icon.tsx';
import { useWords } from '../../components/use.ts';

interface PasskeyButtonProps {
  readonly className?: string;
  readonly isOff: boolean;
  onPress(): void;
}

export function PasskeyButton({ className = '', isOff, onPress }: PasskeyButtonProps) {
  const { login } = useWords();
  if (window.PublicKeyCredential === undefined) return null;
  return (
    <Button className={`button secondary ${className}`} isDisabled={isOff} onPress={onPress}>
      <Icon name="key-round" />
      {login.passkey}
    </Button>
  );
}
