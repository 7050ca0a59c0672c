// The keys of the console, and the switch for those without Ctrl or Alt.
import { Button, Dialog, Heading, Modal, ModalOverlay, Switch } from 'react-aria-components';
import { Icon } from '../components/icon.tsx';
import { useValue, useWords } from '../components/use.ts';
import { useRole } from '../service/role.ts';
import { setSingleKeys, singleKeys } from './single-keys.ts';
import { useIsPractice } from './use-is-practice.ts';

export function KeysDialog({
  isOpen,
  onOpenChange,
}: {
  readonly isOpen: boolean;
  onOpenChange(open: boolean): void;
}) {
  const { shell, common, keys: texts, pages } = useWords();
  const isOn = useValue(singleKeys);
  const rows = [
    [shell.openPalette, ['Ctrl K', '/']],
    [shell.goLive, ['g m']],
    [shell.goAlarms, ['g a']],
    [pages.approvals.go, ['g p']],
    [pages.devices.go, ['g d']],
    [pages.settings.go, ['g s']],
    [pages.people.go, ['g u']],
    [pages.zones.go, ['g z']],
    [pages.routes.go, ['g o']],
    [pages.reports.go, ['g r']],
    [pages.rules.go, ['g n']],
    [pages.releases.go, ['g f']],
    [pages.shares.go, ['g h']],
    ...(useIsPractice() ? ([[pages.practice.go, ['g w']]] as const) : []),
    [pages.inbox.go, ['g i']],
    ...(useRole() === 'admin' ? ([[pages.audit.go, ['g x']]] as const) : []),
    [pages.account.go, ['g c']],
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
