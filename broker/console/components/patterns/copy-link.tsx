// Copies the address of what is shown. A link carries no rights: it shows what its reader may see.
import { type ToOptions, useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { findWords } from '../../../../build/words/find.ts';
import { Icon } from '../icon.tsx';
import { useWords } from '../use.ts';

interface CopyLinkProps {
  readonly to: ToOptions;
  /** What it leads to, in words. */
  readonly what: string;
  /** Without its text. */
  readonly isSmall?: boolean;
}

export function CopyLink({ to, what, isSmall = false }: CopyLinkProps) {
  const { link: texts } = useWords(findWords).find;
  const router = useRouter();
  const [outcome, setOutcome] = useState<{ readonly address: string; readonly isCopied: boolean } | null>(
    null,
  );
  const copy = async (): Promise<void> => {
    const { href } = router.buildLocation(to as never);
    const address = new URL(router.history.createHref(href), window.location.origin).href;
    try {
      // Absent without TLS, and refused by some browsers.
      await navigator.clipboard.writeText(address);
      setOutcome({ address, isCopied: true });
    } catch {
      setOutcome({ address, isCopied: false });
    }
  };
  const isCopied = outcome?.isCopied === true;
  return (
    <>
      <Button
        className={isSmall ? 'button small square' : 'button secondary'}
        aria-label={texts.copyOf({ what })}
        onPress={() => void copy()}
      >
        <Icon name={isCopied ? 'check' : 'copy'} />
        {isSmall ? null : isCopied ? texts.copied : texts.copy}
      </Button>
      <span className="hidden" role="status">
        {isCopied ? texts.copied : ''}
      </span>
      {outcome === null || isCopied ? null : (
        <label className="field" role="alert">
          {texts.notCopied}
          <input
            className="input"
            dir="ltr"
            readOnly
            value={outcome.address}
            onFocus={({ currentTarget }) => currentTarget.select()}
          />
        </label>
      )}
    </>
  );
}
