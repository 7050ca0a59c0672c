// The addresses of the console. What a screen shows is in its address: filter, selection, place and zoom of the map, period.
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import { reportKinds, sorts } from '../../src/core/reports/columns.ts';
import { AlarmsScreen } from './screens/alarms/alarms.tsx';
import { LoginScreen } from './screens/login/login.tsx';
import { takeLoginAgain } from './service/login-again.ts';
import { session } from './service/session.ts';
import { NotFound, ScreenFailed } from './shell/failed.tsx';
import { Shell } from './shell/shell.tsx';
import { accountDialogs } from './state/account/account-address.ts';
import { type AuditSearch, actionOf } from './state/account/audit-view.ts';
import { inboxFilters } from './state/account/inbox-view.ts';
import { alarmFilters } from './state/alarm-view.ts';
import {
  deviceDialogs,
  deviceFilters,
  deviceTabs,
  listDialogs,
  parsePicked,
  settingTables,
  silences,
} from './state/device-view.ts';
import { filters } from './state/fleet.ts';
import { parseCut } from './state/orders/cut-view.ts';
import { peopleDialogs, peopleLists } from './state/people-view.ts';
import { phases, releaseDialogs } from './state/releases/release-address.ts';
import { parseVehicles } from './state/reports/report-view.ts';
import { scheduleDialogs } from './state/reports/schedule-address.ts';
import { deliveryFilters, ruleDialogs, ruleLists } from './state/rules/rule-address.ts';
import { shareFilters, shareKinds } from './state/shares/share-view.ts';
import { eventKinds, ranges, vehicleTabs } from './state/vehicle-view.ts';
import { parseDraft, routePointsMost } from './state/zones/zone-draft.ts';
import { withWords } from './words/word-set.ts';

type Given = Readonly<Record<string, unknown>>;

/** A text of at most 200 characters; what else stands in the address counts as absent. */
const textOf = (value: unknown): string | undefined =>
  (typeof value === 'string' || typeof value === 'number') &&
  String(value) !== '' &&
  String(value).length <= 200
    ? String(value)
    : undefined;

/** Epoch seconds; what else stands in the address counts as absent. */
const epochOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 && value < 1e11 ? value : undefined;

const oneOf = <T extends string>(values: readonly T[], value: unknown): T | undefined =>
  values.find((one) => one === value);

const pickedOf = (value: unknown): string | undefined => {
  const ids = parsePicked(typeof value === 'string' || typeof value === 'number' ? String(value) : '');
  return ids.length === 0 ? undefined : ids.join(',');
};

/**
 * As what a screen gets: a member that is absent is undefined and not left out, for what the address holds in its place would show
 * through (the router lays what is checked over what was given).
 */
const named = <T extends object>(members: T) => members as { [K in keyof T]?: Exclude<T[K], undefined> };

/** Paths of this console only: a link cannot lead to another host. */
const nextOf = (value: unknown): string | undefined => {
  const text = textOf(value);
  return text !== undefined && /^\/(?![/\\])/.test(text) ? text : undefined;
};

const root = createRootRoute({ notFoundComponent: NotFound, errorComponent: ScreenFailed });

const login = createRoute({
  getParentRoute: () => root,
  path: '/login',
  validateSearch: ({ next }: Given) => named({ next: nextOf(next) }),
  component: LoginScreen,
});

const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  beforeLoad: ({ location }) => {
    if (session.get() === null)
      throw redirect({ to: '/login', search: { next: location.href }, replace: true });
  },
  component: Shell,
});

const start = createRoute({
  getParentRoute: () => shell,
  path: '/',
  beforeLoad: () => {
    if (takeLoginAgain(new URLSearchParams(window.location.search)))
      throw redirect({ to: '/login-again', replace: true });
    throw redirect({ to: '/live', replace: true });
  },
});

const live = createRoute({
  getParentRoute: () => shell,
  path: '/live',
  validateSearch: ({ filter, find, vehicle, at, here }: Given) =>
    named({
      filter: oneOf(filters, filter),
      find: textOf(find),
      vehicle: textOf(vehicle),
      at: textOf(at),
      here: textOf(here),
    }),
  component: lazyRouteComponent(() => withWords(import('./screens/live/live.tsx')), 'LiveScreen'),
});

const alarmList = createRoute({
  getParentRoute: () => shell,
  path: '/alarms',
  validateSearch: ({ show, alarm, pick }: Given) =>
    named({ show: oneOf(alarmFilters, show), alarm: textOf(alarm), pick: pickedOf(pick) }),
  component: AlarmsScreen,
});

const vehicle = createRoute({
  getParentRoute: () => shell,
  path: '/vehicle/$deviceID',
  validateSearch: ({ tab, range, kind, event, from, to, time, at, command, cut, unlock, share }: Given) =>
    named({
      tab: oneOf(vehicleTabs, tab),
      range: oneOf(ranges, range),
      kind: oneOf(eventKinds, kind),
      event: textOf(event),
      from: epochOf(from),
      to: epochOf(to),
      time: epochOf(time),
      at: textOf(at),
      command: textOf(command),
      cut: parseCut(textOf(cut)) === null ? undefined : textOf(cut),
      unlock: parseCut(textOf(unlock)) === null ? undefined : textOf(unlock),
      share: oneOf(shareKinds, share),
    }),
  component: lazyRouteComponent(() => withWords(import('./screens/vehicle/vehicle.tsx')), 'VehicleScreen'),
});

const loginAgain = createRoute({
  getParentRoute: () => shell,
  path: '/login-again',
  component: lazyRouteComponent(() => withWords(import('./screens/cut/login-again.tsx')), 'LoginAgainScreen'),
});

const approvalList = createRoute({
  getParentRoute: () => shell,
  path: '/approvals',
  validateSearch: ({ request }: Given) => named({ request: textOf(request) }),
  component: lazyRouteComponent(
    () => withWords(import('./screens/approvals/approvals.tsx')),
    'ApprovalsScreen',
  ),
});

const deviceList = createRoute({
  getParentRoute: () => shell,
  path: '/devices',
  validateSearch: ({ link, find, rows, open, silent, pick }: Given) =>
    named({
      silent: oneOf(silences, silent),
      pick: pickedOf(pick),
      link: oneOf(deviceFilters, link),
      find: textOf(find),
      rows: epochOf(rows),
      open: oneOf(listDialogs, open),
    }),
  component: lazyRouteComponent(() => withWords(import('./screens/devices/devices.tsx')), 'DevicesScreen'),
});

const device = createRoute({
  getParentRoute: () => shell,
  path: '/devices/$deviceID',
  validateSearch: ({ part, open, table, entry }: Given) =>
    named({
      entry: textOf(entry),
      part: oneOf(deviceTabs, part),
      open: oneOf(deviceDialogs, open),
      table: oneOf(settingTables, table),
    }),
  component: lazyRouteComponent(() => withWords(import('./screens/devices/device.tsx')), 'DeviceScreen'),
});

const people = createRoute({
  getParentRoute: () => shell,
  path: '/people',
  validateSearch: ({ list, user, group, session: ofSession, open }: Given) =>
    named({
      list: oneOf(peopleLists, list),
      user: textOf(user),
      group: textOf(group),
      session: textOf(ofSession),
      open: oneOf(peopleDialogs, open),
    }),
  component: lazyRouteComponent(() => withWords(import('./screens/people/people.tsx')), 'PeopleScreen'),
});

const ruleList = createRoute({
  getParentRoute: () => shell,
  path: '/rules',
  validateSearch: ({ list, rule, state, open }: Given) =>
    named({
      list: oneOf(ruleLists, list),
      rule: textOf(rule),
      state: oneOf(deliveryFilters, state),
      open: oneOf(ruleDialogs, open),
    }),
  component: lazyRouteComponent(() => withWords(import('./screens/rules/rules.tsx')), 'RulesScreen'),
});

const releaseList = createRoute({
  getParentRoute: () => shell,
  path: '/releases',
  validateSearch: ({ release, open, unit, phase, stage }: Given) =>
    named({
      release: textOf(release),
      open: oneOf(releaseDialogs, open),
      unit: textOf(unit),
      phase: oneOf(phases, phase),
      stage:
        typeof stage === 'number' && Number.isInteger(stage) && stage > 0 && stage < 100 ? stage : undefined,
    }),
  component: lazyRouteComponent(() => withWords(import('./screens/releases/releases.tsx')), 'ReleasesScreen'),
});

const zoneList = createRoute({
  getParentRoute: () => shell,
  path: '/zones',
  validateSearch: ({ find, zone, at, edit, shape }: Given) =>
    named({
      find: textOf(find),
      zone: textOf(zone),
      at: textOf(at),
      edit: oneOf(['new', 'change'] as const, edit),
      shape: typeof shape === 'string' && parseDraft(shape) !== null ? shape : undefined,
    }),
  component: lazyRouteComponent(() => withWords(import('./screens/zones/zones.tsx')), 'ZonesScreen'),
});

const routeList = createRoute({
  getParentRoute: () => shell,
  path: '/routes',
  validateSearch: ({ find, route, at, edit, shape }: Given) =>
    named({
      find: textOf(find),
      route: textOf(route),
      at: textOf(at),
      edit: oneOf(['new', 'change'] as const, edit),
      shape: typeof shape === 'string' && parseDraft(shape, routePointsMost)?.type === 2 ? shape : undefined,
    }),
  component: lazyRouteComponent(() => withWords(import('./screens/routes/routes.tsx')), 'RoutesScreen'),
});

/** Ids with commas between them; what else stands in the address counts as absent. */
const vehiclesOf = (value: unknown): string | undefined => {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
  return text === undefined || (parseVehicles(text)?.length ?? 0) === 0 ? undefined : text;
};

const reports = createRoute({
  getParentRoute: () => shell,
  path: '/reports',
  validateSearch: ({ kind, vehicles, range, from, to, code, sort, rows }: Given) =>
    named({
      kind: oneOf(reportKinds, kind),
      vehicles: vehiclesOf(vehicles),
      range: oneOf(ranges, range),
      from: epochOf(from),
      to: epochOf(to),
      code:
        typeof code === 'number' && Number.isInteger(code) && code > 0 && code < 65_536 ? code : undefined,
      sort: oneOf(sorts, sort),
      rows: epochOf(rows),
    }),
  component: lazyRouteComponent(() => withWords(import('./screens/reports/reports.tsx')), 'ReportsScreen'),
});

const reportsByMail = createRoute({
  getParentRoute: () => shell,
  path: '/reports/mail',
  validateSearch: ({ schedule, open }: Given) =>
    named({ schedule: textOf(schedule), open: oneOf(scheduleDialogs, open) }),
  component: lazyRouteComponent(
    () => withWords(import('./screens/reports/by-mail.tsx')),
    'ReportsByMailScreen',
  ),
});

const practice = createRoute({
  getParentRoute: () => shell,
  path: '/practice',
  validateSearch: ({ vehicle: chosen }: Given) => named({ vehicle: textOf(chosen) }),
  component: lazyRouteComponent(() => withWords(import('./screens/practice/practice.tsx')), 'PracticeScreen'),
});

const settings = createRoute({
  getParentRoute: () => shell,
  path: '/settings',
  validateSearch: ({ table }: Given) => named({ table: oneOf(settingTables, table) }),
  component: lazyRouteComponent(() => withWords(import('./screens/settings/fleet.tsx')), 'SettingsScreen'),
});

const account = createRoute({
  getParentRoute: () => shell,
  path: '/account',
  validateSearch: ({ open }: Given) => named({ open: oneOf(accountDialogs, open) }),
  component: lazyRouteComponent(() => withWords(import('./screens/account/account.tsx')), 'AccountScreen'),
});

const inbox = createRoute({
  getParentRoute: () => shell,
  path: '/inbox',
  validateSearch: ({ show, vehicle: of }: Given) =>
    named({ show: oneOf(inboxFilters, show), vehicle: textOf(of) }),
  component: lazyRouteComponent(() => withWords(import('./screens/inbox/inbox.tsx')), 'InboxScreen'),
});

const audit = createRoute({
  getParentRoute: () => shell,
  path: '/audit',
  validateSearch: ({ actor, action, object, from, to }: Given): AuditSearch => ({
    actor: textOf(actor),
    action: actionOf(textOf(action)),
    object: textOf(object),
    from: epochOf(from),
    to: epochOf(to),
  }),
  component: lazyRouteComponent(() => withWords(import('./screens/audit/audit.tsx')), 'AuditScreen'),
});

const shareList = createRoute({
  getParentRoute: () => shell,
  path: '/shares',
  validateSearch: ({ show, vehicle: of, revoke }: Given) =>
    named({ show: oneOf(shareFilters, show), vehicle: textOf(of), revoke: textOf(revoke) }),
  component: lazyRouteComponent(() => withWords(import('./screens/shares/shares.tsx')), 'SharesScreen'),
});

export const router = createRouter({
  routeTree: root.addChildren([
    login,
    shell.addChildren([
      start,
      live,
      alarmList,
      approvalList,
      loginAgain,
      vehicle,
      deviceList,
      device,
      people,
      zoneList,
      routeList,
      reports,
      reportsByMail,
      settings,
      shareList,
      ruleList,
      releaseList,
      practice,
      account,
      inbox,
      audit,
    ]),
  ]),
  basepath: '/console',
  defaultErrorComponent: ScreenFailed,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
