// The routes of the account: list, map, and the panel or the editor of one. What is shown stands in the address.

import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { routeWords } from '../../../../build/words/route.ts';
import type { PlannedRoute } from '../../api/operations.ts';
import { Icon } from '../../components/icon.tsx';
import { usePut } from '../../components/patterns/address.tsx';
import { amountText } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { without } from '../../state/search.ts';
import { lengthOf, newRoute, routeName, routesFound, wayOf } from '../../state/zones/route-view.ts';
import { routePointsMost } from '../../state/zones/zone-address.ts';
import { draftText } from '../../state/zones/zone-draft.ts';
import { ShapeFrame } from '../zones/shape-frame.tsx';
import { ShapeList } from '../zones/shape-list.tsx';
import { type DraftEdit, useDraft } from '../zones/use-draft.ts';
import { useShapeMap } from '../zones/use-shape-map.ts';
import { RouteEditor } from './editor.tsx';
import { RoutePanel } from './panel.tsx';
import { useRoutes } from './use-routes.ts';

const titleID = 'routes-title';

function Row({ route, isSelected }: { readonly route: PlannedRoute; readonly isSelected: boolean }) {
  const words = useWords(routeWords);
  const { routes: texts } = words;
  const length = useMemo(() => lengthOf(wayOf(route)), [route]);
  return (
    <Link
      className="vehicle"
      to="/routes"
      search={(before) => ({ ...without(without(before, 'edit'), 'shape'), route: route.routeID })}
      {...(isSelected ? { 'aria-current': true as const } : {})}
    >
      <Icon name="route" />
      <span className="name">{routeName(route)}</span>
      <span className="speed">
        <bdi>{amountText(length / 1000, 'km', words, 1)}</bdi>
      </span>
      <span className="line cut-off">{texts.vehicles({ count: route.deviceIDs.length })}</span>
    </Link>
  );
}

function List({ routes, readMs, error, mayChange }: ReturnType<typeof useRoutes>) {
  const { pages, routes: texts } = useWords(routeWords);
  const navigate = useNavigate({ from: '/routes' });
  const put = usePut();
  const { find = '', route: selected } = useSearch({ from: '/shell/routes' });
  return (
    <ShapeList
      titleID={titleID}
      icon="route"
      texts={{ ...texts, title: pages.routes.title }}
      all={routes}
      readMs={readMs}
      error={error}
      find={find}
      mayChange={mayChange}
      search={routesFound}
      idOf={({ routeID }) => routeID}
      row={(route) => <Row route={route} isSelected={route.routeID === selected} />}
      onNew={() =>
        void navigate({
          search: (before) => ({ ...without(before, 'route'), edit: 'new', shape: draftText(newRoute) }),
        })
      }
      onFind={(text) => put({ find: text || undefined })}
    />
  );
}

/** The map: the vehicles, and the route that is selected or drawn. */
function useRouteMap(route: PlannedRoute | undefined, edit: DraftEdit) {
  const { routes: texts } = useWords(routeWords);
  const put = usePut();
  const { edit: editing, shape, at } = useSearch({ from: '/shell/routes' });
  const selected = useMemo(
    () => (route === undefined ? undefined : { id: route.routeID, shape: wayOf(route) }),
    [route],
  );
  return useShapeMap({
    name: texts.map,
    edit,
    isEditing: editing !== undefined,
    shape,
    at,
    selected,
    onPlace: (place) => put({ at: place }),
  });
}

export function RoutesScreen() {
  const { pages, routes: texts } = useWords(routeWords);
  const put = usePut();
  const { route: selected, edit: editing, shape } = useSearch({ from: '/shell/routes' });
  const known = useRoutes();
  const { routes, isLoaded, error, mayChange } = known;
  const edit = useDraft({
    shape,
    first: newRoute,
    most: routePointsMost,
    onShape: (text) => put({ shape: text }),
  });
  const route = routes.find(({ routeID }) => routeID === selected);
  const opened = useRouteMap(route, edit);
  const { map } = opened;
  const isEditing =
    isLoaded &&
    mayChange &&
    (editing === 'new' || (editing === 'change' && route?.hasUpdateRoutePrivileges === true));
  const close = (id: string | null): void =>
    put({ edit: undefined, shape: undefined, ...(id === null ? {} : { route: id }) });
  return (
    <ShapeFrame
      titleID={titleID}
      texts={{ ...texts, title: pages.routes.title }}
      opened={opened}
      isLoaded={isLoaded}
      error={error}
      list={<List {...known} />}
      selected={selected}
      isFound={route !== undefined}
      side={
        isEditing ? (
          <RouteEditor
            key={editing === 'new' ? '' : route?.routeID}
            edit={edit}
            route={editing === 'new' ? undefined : route}
            routes={routes}
            middle={map === null ? null : () => map.middle()}
            onClose={close}
          />
        ) : route === undefined ? null : (
          <RoutePanel key={route.routeID} route={route} />
        )
      }
    />
  );
}
