// What the palette finds at the service: zones, routes, drivers, people and rules, read once something is typed.
import { useQuery } from '@tanstack/react-query';
import { type ToOptions, useNavigate } from '@tanstack/react-router';
import type { IconName } from '../components/icon.tsx';
import { useWords } from '../components/use.ts';
import { call } from '../service/call.ts';
import { useDrivers } from '../service/reading/drivers.ts';
import { useRole } from '../service/role.ts';
import { bestOf } from '../state/shell/palette.ts';
import { zoneName } from '../state/zones/zone-name.ts';

/** Of each kind. */
const findsMost = 5;
/** What is older is read again, ms. */
const freshMs = 60_000;

interface Find {
  readonly id: string;
  readonly name: string;
  readonly to: ToOptions;
}

const none: readonly never[] = [];

/** @param isAdmin users and rules are read by administrators only. */
function useAll(isTyped: boolean, isAdmin: boolean) {
  const own = { staleTime: freshMs, enabled: isTyped };
  const ofAdmin = { ...own, enabled: isTyped && isAdmin };
  const zones = useQuery({
    queryKey: ['geozones'],
    queryFn: ({ signal }) => call('getGeozones', { signal }),
    ...own,
  });
  const routes = useQuery({
    queryKey: ['routes'],
    queryFn: ({ signal }) => call('getRoutes', { signal }),
    ...own,
  });
  const users = useQuery({
    queryKey: ['people', 'users'],
    queryFn: ({ signal }) => call('getAllUsers', { signal }),
    ...ofAdmin,
  });
  const rules = useQuery({
    queryKey: ['rules'],
    queryFn: ({ signal }) => call('getRules', { signal }),
    ...ofAdmin,
  });
  return { zones, routes, drivers: useDrivers(isTyped), users, rules };
}

/** Sections with what fits best, and the kinds that could not be read. */
export function useFinds(text: string, close: () => void) {
  const { pages } = useWords();
  const navigate = useNavigate();
  const isTyped = text.trim() !== '';
  const { zones, routes, drivers, users, rules } = useAll(isTyped, useRole() === 'admin');
  const kinds: readonly {
    readonly title: string;
    readonly icon: IconName;
    readonly error: Error | null;
    readonly all: readonly Find[];
  }[] = [
    {
      title: pages.zones.title,
      icon: 'hexagon',
      error: zones.error,
      all: Object.values(zones.data?.geozones ?? {}).map((zone) => ({
        id: zone.geozoneID,
        name: zoneName(zone),
        to: { to: '/zones', search: { zone: zone.geozoneID } },
      })),
    },
    {
      title: pages.routes.title,
      icon: 'route',
      error: routes.error,
      all: (routes.data?.routes ?? none).map(({ routeID, routeDisplayName }) => ({
        id: routeID,
        name: routeDisplayName || routeID,
        to: { to: '/routes', search: { route: routeID } },
      })),
    },
    {
      title: pages.drivers.title,
      icon: 'key-round',
      error: drivers.error,
      all: (drivers.items ?? none).map(({ driverID, driverDisplayName }) => ({
        id: driverID,
        name: driverDisplayName,
        to: { to: '/drivers', search: { driver: driverID } },
      })),
    },
    {
      title: pages.people.title,
      icon: 'users',
      error: users.error,
      all: (users.data?.users ?? none).map(({ userID, userDisplayName }) => ({
        id: userID,
        name: userDisplayName || userID,
        to: { to: '/people', search: { list: 'users', user: userID } },
      })),
    },
    {
      title: pages.rules.title,
      icon: 'bell-ring',
      error: rules.error,
      all: (rules.data?.rules ?? none).map(({ ruleID, ruleDisplayName }) => ({
        id: ruleID,
        name: ruleDisplayName || ruleID,
        to: { to: '/rules', search: { rule: ruleID } },
      })),
    },
  ];
  if (!isTyped) return { sections: none, unread: none };
  return {
    sections: kinds.map(({ title, icon, all }) => ({
      title,
      actions: bestOf(all, text, ({ name, id }) => [name, id], findsMost).map(({ id, name, to }) => ({
        id: `${icon} ${id}`,
        icon,
        text: name,
        run(): void {
          close();
          void navigate(to as never);
        },
      })),
    })),
    unread: kinds.filter(({ error }) => error !== null).map(({ title }) => title),
  };
}
