// The keys of the console, and the switch for those without Ctrl or Alt.
import { Button, Dialog, Heading, Modal, ModalOverlay, Switch } from 'react-aria-components';
import { Icon } from '../components/icon.tsx';
import { useValue, useWords } from '../components/use.ts';
import { setSingleKeys, singleKeys } from './single-keys.ts';
import { useIsPractice } from './use-is-practice.ts';

export function KeysDialog({
  isOpen,
  onOpenChange,
}: {
  readonly isOpen: boolean;
  onOpenChange(open: boolean): void;
}) {
  const words = useWords();
  const { shell, account, common, approvals, cut, devices, here, inbox } = words;
  const { people, reports, routes, rules, settings, shares, zones } = words;
  const isOn = useValue(singleKeys);
  const rows = [
    [shell.openPalette, ['Ctrl K', '/']],
    [shell.goLive, ['g m']],
    [shell.goAlarms, ['g a']],
    [approvals.go, ['g p']],
    [devices.go, ['g d']],
    [settings.go, ['g s']],
    [people.go, ['g u']],
    [zones.go, ['g z']],
    [routes.go, ['g o']],
    [reports.go, ['g r']],
    [rules.go, ['g n']],
    [shares.go, ['g h']],
    ...(useIsPractice() ? ([[words.practice.go, ['g w']]] as const) : []),
    [inbox.go, ['g i']],
    [account.go, ['g c']],
    [cut.restore.key, ['Shift R']],
    [here.middle, ['Enter']],
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
