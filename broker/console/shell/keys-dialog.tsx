// The keys of the console, and the switch for those without Ctrl or Alt.
import { Button, Dialog, Heading, Modal, ModalOverlay, Switch } from 'react-aria-components';
import { Icon } from '../components/icon.tsx';
import { useValue, useWords } from '../components/use.ts';
import type { Page } from './pages.tsx';
import { setSingleKeys, singleKeys } from './single-keys.ts';

export function KeysDialog({
  pages,
  isOpen,
  onOpenChange,
}: {
  readonly pages: readonly Page[];
  readonly isOpen: boolean;
  onOpenChange(open: boolean): void;
}) {
  const { shell, common, keys: texts } = useWords();
  const isOn = useValue(singleKeys);
  const rows = [
    [shell.openPalette, ['Ctrl K', '/']],
    ...pages.flatMap(({ go, key }) => (key === undefined ? [] : [[go, [`g ${key}`]] as const])),
    [texts.restore, ['Shift R']],
    [texts.middle, ['Enter']],
    [shell.showKeys, ['?']],
    [common.close, ['Esc']],
  ] as const;
  return (
    <ModalOverlay className="overlay" isDismissable isOpen={isOpen} onOpenChange={onOpenChange}>
      <Modal className="modal small-modal">
        <Dialog className="dialog">
          <header>
            <Icon name="keyboard" isLarge />
            <Heading slot="title">{shell.keys}</Heading>
            <Button className="button square push" slot="close" aria-label={common.close}>
              <Icon name="x" />
            </Button>
          </header>
          <div className="body">
            <dl className="pairs keys">
              {rows.map(([text, keys]) => (
                <div key={text}>
                  <dt>{text}</dt>
                  <dd>
                    {keys.map((one) => (
                      <kbd key={one}>{one}</kbd>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
            <Switch className="switch" isSelected={isOn} onChange={setSingleKeys}>
              <span className="track" />
              <span>
                {shell.singleKeys}
                <small>{shell.singleKeysHint}</small>
              </span>
            </Switch>
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
