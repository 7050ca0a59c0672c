// The vehicles at one place, whose marks lie on each other: a list, worst first, of those that are there now.
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { Button, Dialog, Heading, ListBox, ListBoxItem, Modal, ModalOverlay } from 'react-aria-components';
import { mapWords } from '../../../../build/words/map.ts';
import { Icon } from '../../components/icon.tsx';
import { Mark } from '../../components/mark.tsx';
import { Age, codeText } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { stateNameOf, type Vehicle } from '../../state/fleet.ts';
import { parseHere, vehiclesHere } from '../../state/here.ts';
import { without } from '../../state/search.ts';

/** Rows of the list; the rest is counted. */
const rowsMost = 100;

function HereRow({ vehicle }: { readonly vehicle: Vehicle }) {
  const words = useWords();
  const { alarm, driver, description } = vehicle;
  return (
    <>
      <Mark vehicle={vehicle} />
      <span className="name cut-off">{vehicle.name}</span>
      <span className="line cut-off">
        {alarm === null ? '' : `${codeText(alarm.statusCode, words)} · `}
        {words.state[stateNameOf(vehicle)]}
        {driver === '' && description === '' ? '' : ` · ${driver || description}`}
      </span>
      <span className="age">
        <Age at={vehicle.heartbeatS} isBare />
      </span>
    </>
  );
}

/** The list that the address asks for. @param among the vehicles that the screen shows. */
export function HereList({ among }: { readonly among: readonly Vehicle[] }) {
  const { here: texts, common } = useWords(mapWords);
  const navigate = useNavigate({ from: '/live' });
  const { here } = useSearch({ from: '/shell/live' });
  const place = useMemo(() => parseHere(here), [here]);
  const all = useMemo(() => (place === null ? [] : vehiclesHere(among, place)), [among, place]);
  return (
    <ModalOverlay
      className="overlay"
      isDismissable
      isOpen={place !== null}
      onOpenChange={(isOpen) => {
        if (!isOpen) void navigate({ search: (before) => without(before, 'here'), replace: true });
      }}
    >
      <Modal className="modal small-modal">
        <Dialog className="dialog">
          <header>
            <Icon name="truck" isLarge />
            <Heading slot="title">{texts.title({ count: all.length })}</Heading>
            <Button className="button square push" slot="close" aria-label={common.close}>
              <Icon name="x" />
            </Button>
          </header>
          <ListBox
            className="here-list"
            aria-label={texts.list}
            autoFocus="first"
            items={all.slice(0, rowsMost)}
            onAction={(key) =>
              void navigate({
                search: (before) => ({ ...without(before, 'here'), vehicle: String(key) }),
              })
            }
            renderEmptyState={() => <p className="empty">{texts.none}</p>}
          >
            {(vehicle) => (
              <ListBoxItem className="vehicle" id={vehicle.id} textValue={vehicle.name}>
                <HereRow vehicle={vehicle} />
              </ListBoxItem>
            )}
          </ListBox>
          {all.length > rowsMost ? (
            <p className="body faint">{texts.more({ count: all.length - rowsMost })}</p>
          ) : null}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
