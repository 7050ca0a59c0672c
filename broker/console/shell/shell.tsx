// The frame of every screen behind the login: bar, navigation, palette, keys, and the live picture that all screens share.
import { Link, Outlet, useRouter } from '@tanstack/react-router';
import { Suspense, useCallback, useEffect, useState } from 'react';
import { Button } from 'react-aria-components';
import { Icon, type IconName, Logo } from '../components/icon.tsx';
import { codeText, numberText } from '../components/texts.tsx';
import { lazyPart, useValue, useWords } from '../components/use.ts';
import { alarms, followFleet, vehicles } from '../service/live.ts';
import { followOrderEnds } from '../service/orders/order-ends.ts';
import { useOrderChanges, useOwnApprovals } from '../service/orders.ts';
import { session } from '../service/session.ts';
import { followSound } from '../service/sound.ts';
import { withWords } from '../words/word-set.ts';
import { ThemeButton, UserButton } from './bar-menus.tsx';
import { ConnectionStatus, Pulse, StaleNotice } from './connection.tsx';
import { FurtherPages } from './further-pages.tsx';
import { NewVersion } from './new-version.tsx';
import { useShortcuts } from './shortcuts.ts';
import { useIsPractice } from './use-is-practice.ts';

const PracticeMark = lazyPart(async () => (await withWords(import('./practice-mark.tsx'))).PracticeMark);
const PracticeStrip = lazyPart(async () => (await withWords(import('./practice-mark.tsx'))).PracticeStrip);
const KeysDialog = lazyPart(async () => (await withWords(import('./keys-dialog.tsx'))).KeysDialog);
const Toasts = lazyPart(async () => (await withWords(import('./toasts/toasts.tsx'))).Toasts);
const Palette = lazyPart(async () => (await withWords(import('./palette.tsx'))).Palette);

function NavigationLink({
  to,
  icon,
  text,
  count = 0,
  countText = '',
}: {
  readonly to: '/live' | '/alarms' | '/approvals';
  readonly icon: IconName;
  readonly text: string;
  readonly count?: number;
  /** The count in words. */
  readonly countText?: string;
}) {
  return (
    <Link to={to} activeProps={{ 'aria-current': 'page' }}>
      <Icon name={icon} isLarge />
      {text}
      {count === 0 ? null : (
        <>
          <span className="hidden">{countText}</span>
          <span className={to === '/approvals' ? 'count quiet' : 'count'} aria-hidden="true">
            {count > 99 ? '99+' : numberText(count)}
          </span>
        </>
      )}
    </Link>
  );
}

/** The link to the approvals with what waits for this user, and the announcement of each that is new. */
function ApprovalsLink() {
  const texts = useWords().pages.approvals;
  const fleet = useValue(vehicles);
  const own = useOwnApprovals();
  const newest = own[0];
  useOrderChanges(null);
  return (
    <>
      <NavigationLink
        to="/approvals"
        icon="user-check"
        text={texts.title}
        count={own.length}
        countText={texts.count({ count: own.length })}
      />
      <span className="hidden" role="status">
        {newest === undefined
          ? ''
          : texts.announce({
              vehicle: fleet.get(newest.deviceID)?.name ?? newest.deviceID,
              user: newest.requestedBy,
            })}
      </span>
    </>
  );
}

/** Announces each alarm that becomes new, with its name and vehicle. */
function AlarmAnnouncer() {
  const words = useWords();
  const open = useValue(alarms);
  const [said, setSaid] = useState('');
  const [sinceS] = useState(() => Math.floor(Date.now() / 1000));
  useEffect(() => {
    const newest = [...open.values()]
      .filter(({ alarmState, opened }) => alarmState === 'new' && opened >= sinceS)
      .toSorted((one, other) => other.opened - one.opened)[0];
    if (newest !== undefined)
      setSaid(
        words.alarms.announce({
          alarm: codeText(newest.statusCode, words),
          vehicle: newest.deviceDisplayName,
        }),
      );
  }, [open, words, sinceS]);
  return (
    <p className="hidden" role="alert">
      {said}
    </p>
  );
}

function Bar({ openPalette, showKeys }: { openPalette(): void; showKeys(): void }) {
  const { shell, common } = useWords();
  const present = useValue(session);
  return (
    <header className="bar">
      <Link className="brand" to="/live">
        <Logo />
        {common.brand}
      </Link>
      <span className="account">{present?.accountID}</span>
      <Suspense>{useIsPractice() ? <PracticeMark /> : null}</Suspense>
      <Button className="search" onPress={openPalette} aria-haspopup="dialog">
        <Icon name="search" />
        <span className="cut-off">{shell.searchLong}</span>
        <kbd>Ctrl K</kbd>
      </Button>
      <Pulse />
      <Button
        className="button square more"
        aria-label={shell.search}
        aria-haspopup="dialog"
        onPress={openPalette}
      >
        <Icon name="search" isLarge />
      </Button>
      <ThemeButton />
      <UserButton onKeys={showKeys} />
    </header>
  );
}

export function Shell() {
  const { shell, common } = useWords();
  const router = useRouter();
  const present = useValue(session);
  const open = useValue(alarms);
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const [areKeysOpen, setKeysOpen] = useState(false);
  const openPalette = useCallback(() => setPaletteOpen(true), []);
  const showKeys = useCallback(() => setKeysOpen(true), []);
  useShortcuts({ openPalette, showKeys });
  const hasPractice = useIsPractice();
  const token = present?.token ?? null;
  useEffect(() => {
    if (token === null) {
      const { href } = router.state.location;
      void router.navigate({ to: '/login', search: { next: href }, replace: true });
      return undefined;
    }
    const leaveOrders = followOrderEnds();
    const leaveFleet = followFleet();
    const leaveSound = followSound();
    return () => {
      leaveSound();
      leaveFleet();
      leaveOrders();
    };
  }, [token, router]);
  const newAlarms = [...open.values()].filter(({ alarmState }) => alarmState === 'new').length;
  return (
    <>
      <a className="hidden skip" href="#main">
        {common.skip}
      </a>
      <div className="shell">
        <Bar openPalette={openPalette} showKeys={showKeys} />
        <nav className="rail" aria-label={shell.main}>
          <NavigationLink to="/live" icon="map" text={shell.live} />
          <NavigationLink
            to="/alarms"
            icon="bell"
            text={shell.alarms}
            count={newAlarms}
            countText={shell.newAlarms({ count: newAlarms })}
          />
          <ApprovalsLink />
          <FurtherPages />
        </nav>
        <div className="content">
          <Suspense>{hasPractice ? <PracticeStrip /> : null}</Suspense>
          <StaleNotice />
          <NewVersion />
          <Outlet />
        </div>
      </div>
      <ConnectionStatus />
      <AlarmAnnouncer />
      <Suspense>
        <Toasts />
      </Suspense>
      <Suspense>
        <Palette isOpen={isPaletteOpen} onOpenChange={setPaletteOpen} showKeys={showKeys} />
      </Suspense>
      <Suspense>
        <KeysDialog isOpen={areKeysOpen} onOpenChange={setKeysOpen} />
      </Suspense>
    </>
  );
}
