// What the panel and the editor of a zone share: its acts in words, and a dialog that asks before a change.
import type { ReactNode } from 'react';
import { Button, Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { zoneWords } from '../../../../build/words/zone.ts';
import { type ZoneSwitch, zoneSwitches } from '../../../../src/core/geo/geozone.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Icon } from '../../components/icon.tsx';
import { useWords } from '../../components/use.ts';
import { isNotice, type Moment, moments, needsLook, type ZoneAct } from '../../state/zones/zone-view.ts';
import type { WordsWith } from '../../words/word-set.ts';

const momentOf = (name: ZoneSwitch): Moment =>
  name.startsWith('arrival') || name.endsWith('Entry') ? 'arrival' : 'departure';

function actText(name: ZoneSwitch, { zones: texts }: WordsWith<[typeof zoneWords]>): string {
  const moment = momentOf(name);
  const does = isNotice(name)
    ? texts.does[name.startsWith('alarm') ? 'Alarm' : 'Alert']
    : texts.does[name.slice(moment.length) as ZoneAct];
  return `${texts.moments[moment]}: ${does}`;
}

export function ActList({ switches }: { readonly switches: ReadonlySet<ZoneSwitch> }) {
  const words = useWords(zoneWords);
  return (
    <ul className="stack tight">
      {zoneSwitches
        .filter((name) => switches.has(name))
        // An alarm is an alert too, and is said once.
        .filter(
          (name) => !name.startsWith('alert') || !switches.has(name.replace('alert', 'alarm') as ZoneSwitch),
        )
        .toSorted((one, other) => moments.indexOf(momentOf(one)) - moments.indexOf(momentOf(other)))
        .map((name) => (
          <li key={name} className="row">
            <Icon name={needsLook(name) ? 'lock' : isNotice(name) ? 'bell' : 'power'} />
            {actText(name, words)}
          </li>
        ))}
    </ul>
  );
}

interface AskDialogProps {
  readonly isOpen: boolean;
  readonly title: string;
  readonly confirm: string;
  readonly isOff: boolean;
  readonly children: ReactNode;
  onConfirm(): void;
  onClose(): void;
}

/** The consequence first; the focus begins on Cancel. */
export function AskDialog({ isOpen, title, confirm, isOff, children, onConfirm, onClose }: AskDialogProps) {
  const { common } = useWords();
  return (
    <ModalOverlay className="overlay" isOpen={isOpen} onOpenChange={(open) => (open ? undefined : onClose())}>
      <Modal className="modal small-modal">
        <Dialog className="dialog" role="alertdialog">
          <header>
            <Icon name="circle-alert" isLarge />
            <Heading slot="title">{title}</Heading>
          </header>
          <div className="body">{children}</div>
          <footer>
            <Button className="button secondary" onPress={onClose} autoFocus>
              {common.cancel}
            </Button>
            <ActionButton className="button primary" isOff={isOff} onPress={onConfirm}>
              {confirm}
            </ActionButton>
          </footer>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
