// The routes of the account: list, map, and the panel or the editor of one. What is shown stands in the address.
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo } from 'react';
import type { PlannedRoute } from '../../api/operations.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { FindField } from '../../components/find-field.tsx';
import { Icon } from '../../components/icon.tsx';
import { MapTools } from '../../components/map-tools.tsx';
import { Empty, numberText } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { View } from '../../components/view.tsx';
import { connection } from '../../service/live.ts';
import { without } from '../../state/search.ts';
import { lengthOf, newRoute, routeName, routesFound, wayOf } from '../../state/zones/route-view.ts';
import { draftText, routePointsMost } from '../../state/zones/zone-draft.ts';
import { type DraftEdit, useDraft } from '../zones/use-draft.ts';
import { useShapeMap } from '../zones/use-shape-map.ts';
import { RouteEditor } from './editor.tsx';
import { RoutePanel } from './panel.tsx';
import { useRoutes } from './use-routes.ts';

/** Rows in the document; a search finds the others. */
const rowsMost = 300;

function Row({ route, isSelected }: { readonly route: PlannedRoute; readonly isSelected: boolean }) {
  const { routes: texts, trips } = useWords();
  const length = useMemo(() => lengthOf(wayOf(route)), [route]);
  return (
    <Link
      className="vehicle"
      to="/routes"
      search={(before) => ({ ...without(without(before, 'edit'), 'shape'), route: route.routeID })}
      {...(isSelected ? { 'aria-current': true as const } : {})}
    >
      <Icon name="route" />
      <span className="name cut-off">{routeName(route)}</span>
      <span className="speed">
        <bdi>
          {numberText(length / 1000, 1)} {trips.km}
        </bdi>
      </span>
      <span className="line cut-off">{texts.vehicles(route.deviceIDs.length)}</span>
    </Link>
  );
}

function List({
  routes,
  mayChange,
}: {
  readonly routes: readonly PlannedRoute[];
  readonly mayChange: boolean;
}) {
  const { routes: texts, zones } = useWords();
  const navigate = useNavigate({ from: '/routes' });
  const { find = '', route: selected } = useSearch({ from: '/shell/routes' });
  const found = useMemo(() => routesFound(routes, find), [routes, find]);
  const { state } = useValue(connection);
  return (
    <>
      <header>
        <div className="row">
          <h2 id="routes-title">{texts.title}</h2>
          <span className="faint">{numberText(routes.length)}</span>
          {mayChange ? (
            <ActionButton
              className="button secondary small push"
              isOff={state !== 'live'}
              onPress={() =>
                void navigate({
                  search: (before) => ({
                    ...without(before, 'route'),
                    edit: 'new' as const,
                    shape: draftText(newRoute),
                  }),
                })
              }
            >
              <Icon name="plus" />
              {texts.new}
            </ActionButton>
          ) : null}
        </div>
        <FindField
          label={texts.find}
          value={find}
          onChange={(text) =>
            void navigate({
              search: (before) => (text === '' ? without(before, 'find') : { ...before, find: text }),
              replace: true,
            })
          }
        />
      </header>
      {found.length === 0 ? (
        <Empty icon="route" title={routes.length === 0 ? texts.empty : texts.noMatch}>
          {routes.length === 0 ? <p>{mayChange ? texts.emptyHint : texts.viewer}</p> : null}
        </Empty>
      ) : (
        <ul className="list" aria-label={texts.list}>
          {found.slice(0, rowsMost).map((route) => (
            <li key={route.routeID}>
              <Row route={route} isSelected={route.routeID === selected} />
            </li>
          ))}
          {found.length > rowsMost ? <li className="empty">{zones.more(found.length - rowsMost)}</li> : null}
        </ul>
      )}
    </>
  );
}

/** The map: the vehicles, and the route that is selected or drawn. */
function useRouteMap(route: PlannedRoute | undefined, edit: DraftEdit) {
  const { routes: texts } = useWords();
  const navigate = useNavigate({ from: '/routes' });
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
    onPlace: (place) => void navigate({ search: (before) => ({ ...before, at: place }), replace: true }),
  });
}

export function RoutesScreen() {
  const words = useWords();
  const { routes: texts, live } = words;
  const navigate = useNavigate({ from: '/routes' });
  const { route: selected, edit: editing, shape } = useSearch({ from: '/shell/routes' });
  const { routes, isLoaded, error, mayChange } = useRoutes();
  const edit = useDraft({
    shape,
    first: newRoute,
    most: routePointsMost,
    onShape: (text) => void navigate({ search: (before) => ({ ...before, shape: text }), replace: true }),
  });
  const route = routes.find(({ routeID }) => routeID === selected);
  const { host, map, isImpossible } = useRouteMap(route, edit);
  useEffect(() => {
    document.title = `${texts.title} · ${words.common.brand}`;
  }, [texts, words]);
  const isEditing =
    isLoaded &&
    mayChange &&
    (editing === 'new' || (editing === 'change' && route?.hasUpdateRoutePrivileges === true));
  const close = (id: string | null): void =>
    void navigate({
      search: (before) => {
        const rest = without(without(before, 'edit'), 'shape');
        return id === null ? rest : { ...rest, route: id };
      },
      replace: true,
    });
  return (
    <main className={isEditing || route !== undefined ? 'live' : 'live alone'} id="main">
      <h1 className="hidden">{texts.title}</h1>
      <section className="vehicles" aria-labelledby="routes-title">
        <View error={error} isLoaded={isLoaded} empty={null}>
          <List routes={routes} mayChange={mayChange} />
        </View>
      </section>
      <div className="map">
        {isImpossible ? (
          <Empty icon="map" title={live.noWebgl} />
        ) : (
          <>
            <div className="map-host" ref={host} dir="ltr" />
            <MapTools
              map={map}
              fitText={route === undefined ? live.fit : texts.fit}
              onFit={() => (route === undefined ? map?.fit() : map?.fitDraft())}
            />
          </>
        )}
      </div>
      {isEditing ? (
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
      )}
      {isLoaded && selected !== undefined && route === undefined ? (
        <p className="hidden" role="status">
          {texts.missing(selected)}
        </p>
      ) : null}
    </main>
  );
}
