// The palette (Ctrl/Cmd+K): vehicles, orders, pages, zones and what else the service has, in one place, by keyboard.
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
import { findWords } from '../../../build/words/find.ts';
import { Icon, type IconName } from '../components/icon.tsx';
import { Mark } from '../components/mark.tsx';
import { useWorstFirst } from '../components/rows/use-worst-first.ts';
import { useValue, useWords } from '../components/use.ts';
import { connection, vehicles } from '../service/live.ts';
import { askSafe } from '../service/orders/safe-orders.ts';
import { mayHave, pendingOrderOf, type Vehicle } from '../state/fleet.ts';
import { orderSearch, type Relay } from '../state/orders/cut-view.ts';
import { bestOf, isSameName, type TypedOrder, typedOrder } from '../state/shell/palette.ts';
import { useFinds } from './finds.ts';
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

/** Actions of a vehicle and relay: first the restore or lock, which is asked at once, then the cut or unlock, which opens its dialog. */
function useOrders(close: () => void): (vehicle: Vehicle, relay: Relay) => readonly [Action, ...Action[]] {
  const words = useWords();
  const navigate = useNavigate();
  const { state } = useValue(connection);
  return (vehicle, relay) => {
    const { id, name } = vehicle;
    const texts = words.relays[relay];
    const icons = relayIcons[relay];
    const isPending = pendingOrderOf(vehicle, relay) !== null;
    const safe: Action = {
      id: `${relay} 0 ${id}`,
      icon: icons.safe,
      text: `${texts.safe} · ${name}`,
      run() {
        close();
        void askSafe({ deviceID: id, relay });
      },
    };
    if (!isPending && state !== 'live') return [safe];
    const open: Action = {
      id: `${relay} 1 ${id}`,
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
}

/** Actions of the vehicle that is open on the screen, those of the engine first. */
function useVehicleActions(close: () => void): readonly Action[] {
  const { deviceID } = useParams({ strict: false });
  const { vehicle: selected } = useSearch({ strict: false });
  const vehicle = useValue(vehicles).get(deviceID ?? selected ?? '');
  const ordersOf = useOrders(close);
  if (vehicle === undefined || !vehicle.mayCommand) return [];
  return [
    ...ordersOf(vehicle, 'enginecutoff'),
    ...(mayHave(vehicle, 'cargoaccess') ? ordersOf(vehicle, 'cargoaccess') : []),
  ];
}

const ordersMost = 5;

const namesOf = ({ name, id }: Vehicle): readonly string[] => [name, id];

/**
 * Actions of an order that is typed with a vehicle. A restore or a lock is asked at once, as its button does: so the whole name must be typed.
 * A cut or an unlock has its dialog.
 */
function useTypedOrders(
  typed: TypedOrder | null,
  sorted: readonly Vehicle[],
  close: () => void,
): readonly Action[] {
  const ordersOf = useOrders(close);
  const navigate = useNavigate();
  if (typed === null) return [];
  const { relay, isSafe, name } = typed;
  const named = bestOf(
    sorted.filter((vehicle) => vehicle.mayCommand && mayHave(vehicle, relay)),
    name,
    namesOf,
    ordersMost,
  );
  if (!isSafe) return named.flatMap((vehicle) => ordersOf(vehicle, relay).slice(1));
  return named
    .filter((vehicle) => namesOf(vehicle).some((one) => isSameName(one, name)))
    .map((vehicle) => {
      const [safe] = ordersOf(vehicle, relay);
      // A typed order never acts: its button stands there.
      const run = (): void => {
        close();
        void navigate({ to: '/vehicle/$deviceID', params: { deviceID: vehicle.id } });
      };
      return { ...safe, run };
    });
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

/** Vehicles that match, those by name first. */
const vehiclesFound = (sorted: readonly Vehicle[], text: string): readonly Vehicle[] =>
  bestOf(sorted, text, ({ name, id, driver, description }) => [name, id, driver, description], vehiclesMost);

interface ActionSectionProps {
  readonly title: string;
  readonly actions: readonly Action[];
}

const idOf = ({ id }: Pick<Action, 'id'>): string => `action ${id}`;

function ActionSection({ title, actions }: ActionSectionProps) {
  if (actions.length === 0) return null;
  return (
    <MenuSection>
      <Header>{title}</Header>
      {actions.map((action) => (
        <MenuItem key={action.id} id={idOf(action)} textValue={action.text}>
          <Icon name={action.icon} />
          <span>{action.text}</span>
          {action.keys === undefined ? null : <kbd className="push">{action.keys}</kbd>}
        </MenuItem>
      ))}
    </MenuSection>
  );
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
  const { find } = useWords(findWords);
  const typed = typedOrder(text, find.palette.verbs);
  const orders = useTypedOrders(typed, sorted, close);
  const finds = useFinds(text, close);
  const name = typed?.name;
  const found = useMemo(() => {
    const all = vehiclesFound(sorted, text);
    return all.length === 0 && name !== undefined ? vehiclesFound(sorted, name) : all;
  }, [sorted, text, name]);
  const shown = actions.filter((action) => action.text.toLowerCase().includes(text.trim().toLowerCase()));
  const act = (key: string): void => {
    const action = [...actions, ...orders, ...finds.sections.flatMap((section) => section.actions)].find(
      (one) => idOf(one) === key,
    );
    if (action !== undefined) return action.run();
    close();
    void navigate({ to: '/vehicle/$deviceID', params: { deviceID: key.slice('vehicle '.length) } });
  };
  return (
    <>
      {finds.unread.length === 0 ? null : (
        <p className="muted" role="status">
          {find.palette.notRead({ what: finds.unread.join(', ') })}
        </p>
      )}
      <Menu
        aria-label={words.shell.search}
        className="palette-list"
        onAction={(key) => act(String(key))}
        renderEmptyState={() => <p className="empty">{words.shell.nothingFound({ text })}</p>}
      >
        <ActionSection title={words.shell.actions} actions={orders} />
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
        <ActionSection title={words.shell.actions} actions={shown} />
        {finds.sections.map((section) => (
          <ActionSection key={section.title} {...section} />
        ))}
      </Menu>
    </>
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
