// The last picture, with its age above everything: where the vehicles were and how they were. There is no session here and no command.
import { lazy, Suspense, useEffect, useMemo, useState } from 'react';
import { Icon, Logo } from '../components/icon.tsx';
import { Mark } from '../components/mark.tsx';
import { VirtualList } from '../components/rows/virtual-list.tsx';
import { codeText, Empty, placeText, spanText, timeText } from '../components/texts.tsx';
import { useNow, useTitle, useValue, useWords } from '../components/use.ts';
import { removePicture } from '../service/session.ts';
import { severityOf, stateOf, type Vehicle } from '../state/fleet.ts';
import { ageOf, type Picture, pictureLimits, vehiclesOf } from '../state/offline/picture.ts';
import { offlineWords } from '../words/offline/words.ts';
import { withWords } from '../words/word-set.ts';
import { isAsking, tryReturn } from './return.ts';

const OfflineMap = lazy(async () => ({
  default: (await withWords(import('./offline-map.tsx'))).OfflineMap,
}));

const rowPx = 56;

/** What the picture is worth: never silent, never small. */
function Warning({ picture }: { readonly picture: Picture | null }) {
  const words = useWords(offlineWords);
  const { offline: texts } = words;
  const now = useNow();
  const asking = useValue(isAsking);
  if (picture === null)
    return (
      <div className="offline-warning">
        <Icon name="wifi-off" />
        <div>
          <h1>{texts.title}</h1>
          <p role="status">{asking ? texts.asking : texts.again}</p>
        </div>
      </div>
    );
  const age = ageOf(picture, now * 1000);
  const time = timeText(picture.atMs / 1000);
  return (
    <div className="offline-warning" data-at={picture.atMs}>
      <Icon name="wifi-off" />
      <div>
        <h1>{texts.asOf(time)}</h1>
        <strong className="offline-age">
          {age === null ? texts.ageUnknown : words.age.ago(spanText(age, words))}
        </strong>
        <p role="status">{asking ? texts.asking : texts.again}</p>
      </div>
    </div>
  );
}

function Row({ vehicle, isClockRight }: { readonly vehicle: Vehicle; readonly isClockRight: boolean }) {
  const words = useWords(offlineWords);
  const now = useNow();
  const { place, alarm, fixS, name } = vehicle;
  const severity = severityOf(vehicle);
  return (
    <div className="offline-row">
      <Mark vehicle={vehicle} />
      <span className="name cut-off">
        <bdi>{name}</bdi>
      </span>
      <span className="state">{words.offline.was[stateOf(vehicle)]}</span>
      <span className="line cut-off">
        {alarm === null ? null : (
          <span className={severity === 'look' ? 'look strong' : 'act strong'}>
            {codeText(alarm.statusCode, words)} ·{' '}
          </span>
        )}
        {place === null ? words.vehicle.noPosition : <bdi>{placeText(place[1], place[0])}</bdi>}
      </span>
      <span className="age">
        {fixS === 0 ? null : isClockRight ? (
          <bdi>{words.age.ago(spanText(now - fixS, words))}</bdi>
        ) : (
          timeText(fixS)
        )}
      </span>
    </div>
  );
}

function Vehicles({ picture }: { readonly picture: Picture }) {
  const { offline: texts } = useWords(offlineWords);
  const vehicles = useMemo(() => vehiclesOf(picture), [picture]);
  const isClockRight = ageOf(picture, useNow() * 1000) !== null;
  if (vehicles.length === 0) return <Empty icon="truck" title={texts.noVehicles} />;
  return (
    <div className="offline-list">
      <h2>{texts.vehicles(picture.total)}</h2>
      {picture.total > vehicles.length ? (
        <p className="muted">{texts.shown(vehicles.length, picture.total)}</p>
      ) : null}
      <VirtualList
        items={vehicles}
        rowPx={rowPx}
        // It scrolls, so it can be reached by keyboard.
        frame={{
          className: 'list',
          tabIndex: 0,
          role: 'region',
          'aria-label': texts.vehicles(picture.total),
        }}
        label={texts.vehicles(picture.total)}
        keyOf={({ id }) => id}
        row={(vehicle) => <Row vehicle={vehicle} isClockRight={isClockRight} />}
      />
    </div>
  );
}

/** The picture, until it is removed or too old. */
function usePicture(first: Picture | null) {
  const [picture, setPicture] = useState(first);
  const now = useNow();
  const remove = (): void => {
    removePicture();
    setPicture(null);
  };
  const isOld = picture !== null && now * 1000 - picture.atMs > pictureLimits.ageMs;
  useEffect(() => {
    if (!isOld) return;
    removePicture();
    setPicture(null);
  }, [isOld]);
  return { picture: isOld ? null : picture, remove };
}

export function OfflinePage({ first }: { readonly first: Picture | null }) {
  const { offline: texts, common } = useWords(offlineWords);
  const { picture, remove } = usePicture(first);
  useTitle(texts.title);
  return (
    <main className="offline">
      <header className="row wrap">
        <span className="brand">
          <Logo />
          {common.brand}
        </span>
        {picture === null ? null : (
          <span className="account">
            <bdi>{picture.userID}</bdi> · <bdi>{picture.accountID}</bdi>
          </span>
        )}
      </header>
      <Warning picture={picture} />
      <div className="row wrap">
        <button type="button" className="button primary" onClick={() => void tryReturn()}>
          {texts.tryNow}
        </button>
        {picture === null ? null : (
          <button type="button" className="button secondary" onClick={remove}>
            {texts.remove}
          </button>
        )}
      </div>
      {picture === null ? (
        <Empty icon="map" title={texts.none}>
          <p>{texts.noneHint}</p>
        </Empty>
      ) : (
        <>
          <p className="muted">{texts.noCommands}</p>
          <Suspense>
            <OfflineMap picture={picture} />
          </Suspense>
          <Vehicles picture={picture} />
        </>
      )}
    </main>
  );
}
