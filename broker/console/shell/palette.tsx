// The palette (Ctrl/Cmd+K): vehicles, pages and actions in one place, by keyboard.
import { useNavigate, useParams, useRouter, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import {
  Autocomplete,
  Dialog,
  Header,
  Input,
  Menu,
  MenuItem,
  MenuSection,
  Modal,
  ModalOverlay,
  SearchField,
} from 'react-aria-components';
import { Icon, type IconName } from '../components/icon.tsx';
import { Mark } from '../components/mark.tsx';
import { useWorstFirst } from '../components/rows/use-worst-first.ts';
import { useValue, useWords } from '../components/use.ts';
import { connection, vehicles } from '../service/live.ts';
import { askSafe } from '../service/orders/safe-orders.ts';
import { matchesText, mayHave, pendingOrderOf, type Vehicle } from '../state/fleet.ts';
import { orderSearch, type Relay } from '../state/orders/cut-view.ts';
import { signOut } from './menus.tsx';
import type { Page } from './pages.tsx';

interface Action {
  readonly id: string;
  readonly icon: IconName;
  readonly text: string;
  readonly keys?: string;
  run(): void;
}

const vehiclesMost = 12;

const relayIcons = {
  enginecutoff: { safe: 'power', open: 'power-off' },
  cargoaccess: { safe: 'lock', open: 'lock-open' },
} as const;

/**
 * Actions of the vehicle that is open on the screen: a cut or an unlock opens its dialog, a restore or a lock is asked at once. Those of the
 * engine first.
 */
function useVehicleActions(close: () => void): readonly Action[] {
  const words = useWords();
  const navigate = useNavigate();
  const { deviceID } = useParams({ strict: false });
  const { vehicle: selected } = useSearch({ strict: false });
  const vehicle = useValue(vehicles).get(deviceID ?? selected ?? '');
  const { state } = useValue(connection);
  if (vehicle === undefined || !vehicle.mayCommand) return [];
  const { id, name } = vehicle;
  const actionsOf = (relay: Relay): readonly Action[] => {
    const texts = words.relays[relay];
    const icons = relayIcons[relay];
    const isPending = pendingOrderOf(vehicle, relay) !== null;
    const safe: Action = {
      id: `${relay} 0`,
      icon: icons.safe,
      text: `${texts.safe} · ${name}`,
      run() {
        close();
        void askSafe({ deviceID: id, relay });
      },
    };
    if (!isPending && state !== 'live') return [safe];
    const open: Action = {
      id: `${relay} 1`,
      icon: icons.open,
      text: isPending ? `${texts.watch} · ${name}` : texts.title({ vehicle: name }),
      run() {
        close();
        void navigate({
          to: '/vehicle/$deviceID',
          params: { deviceID: id },
          search: orderSearch(relay, 'ask'),
        });
      },
    };
    return [safe, open];
  };
  return [...actionsOf('enginecutoff'), ...(mayHave(vehicle, 'cargoaccess') ? actionsOf('cargoaccess') : [])];
}

interface PaletteProps {
  readonly pages: readonly Page[];
  readonly isOpen: boolean;
  readonly text: string;
  setText(text: string): void;
  onOpenChange(isOpen: boolean): void;
  showKeys(): void;
}

function useActions({ pages, showKeys }: PaletteProps, close: () => void): readonly Action[] {
  const { shell } = useWords();
  const router = useRouter();
  const ofVehicle = useVehicleActions(close);
  const go = (run: () => unknown) => () => {
    close();
    run();
  };
  return [
    ...ofVehicle,
    ...pages.map(({ to, icon, go: text, key, place }): Action => {
      const run = (): unknown =>
        place === 'tab'
          ? window.open(`${router.basepath}${to}`, '_blank', 'noopener')
          : router.navigate({ to });
      return { id: to, icon, text, run: go(run), ...(key === undefined ? {} : { keys: `g ${key}` }) };
    }),
    { id: 'keys', icon: 'keyboard', text: shell.keys, keys: '?', run: go(showKeys) },
    { id: 'out', icon: 'log-out', text: shell.signOut, run: go(signOut) },
  ];
}

/** The first ones that match; nothing is looked at after them. */
function firstMatches(sorted: readonly Vehicle[], text: string): readonly Vehicle[] {
  const found: Vehicle[] = [];
  for (const vehicle of sorted) {
    if (found.length === vehiclesMost) break;
    if (matchesText(vehicle, text)) found.push(vehicle);
  }
  return found;
}

function Results({
  text,
  actions,
  close,
}: {
  readonly text: string;
  readonly actions: readonly Action[];
  close(): void;
}) {
  const words = useWords();
  const navigate = useNavigate();
  const sorted = useWorstFirst();
  const found = useMemo(() => firstMatches(sorted, text), [sorted, text]);
  const shown = actions.filter((action) => action.text.toLowerCase().includes(text.trim().toLowerCase()));
  const act = (key: string): void => {
    const action = actions.find(({ id }) => `action ${id}` === key);
    if (action !== undefined) return action.run();
    close();
    void navigate({ to: '/vehicle/$deviceID', params: { deviceID: key.slice('vehicle '.length) } });
  };
  return (
    <Menu
      aria-label={words.shell.search}
      className="palette-list"
      onAction={(key) => act(String(key))}
      renderEmptyState={() => <p className="empty">{words.shell.nothingFound({ text })}</p>}
    >
      {found.length === 0 ? null : (
        <MenuSection>
          <Header>{words.shell.vehicles}</Header>
          {found.map((vehicle) => (
            <MenuItem key={vehicle.id} id={`vehicle ${vehicle.id}`} textValue={vehicle.name}>
              <Mark vehicle={vehicle} />
              <span>{vehicle.name}</span>
              <span className="muted cut-off">{vehicle.driver || vehicle.description}</span>
            </MenuItem>
          ))}
        </MenuSection>
      )}
      {shown.length === 0 ? null : (
        <MenuSection>
          <Header>{words.shell.actions}</Header>
          {shown.map(({ id, icon, text: label, keys }) => (
            <MenuItem key={id} id={`action ${id}`} textValue={label}>
              <Icon name={icon} />
              <span>{label}</span>
              {keys === undefined ? null : <kbd className="push">{keys}</kbd>}
            </MenuItem>
          ))}
        </MenuSection>
      )}
    </Menu>
  );
}

export function Palette(props: PaletteProps) {
  const { isOpen, onOpenChange, text, setText } = props;
  const { shell } = useWords();
  const close = (): void => {
    onOpenChange(false);
    setText('');
  };
  const actions = useActions(props, close);
  return (
    <ModalOverlay
      className="overlay"
      isDismissable
      isOpen={isOpen}
      onOpenChange={(open) => (open ? onOpenChange(true) : close())}
    >
      <Modal className="palette">
        <Dialog aria-label={shell.search}>
          <Autocomplete inputValue={text} onInputChange={setText}>
            <SearchField aria-label={shell.searchLong} autoFocus>
              <Input className="input" placeholder={shell.searchLong} />
            </SearchField>
            <Results text={text} actions={actions} close={close} />
          </Autocomplete>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
