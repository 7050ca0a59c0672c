// The frame of every screen behind the login: bar, navigation, palette, keys, and the live picture that all screens share.
import { Link, Outlet, useRouter } from '@tanstack/react-router';
import { Suspense, useCallback, useEffect, useState } from 'react';
import { Button } from 'react-aria-components';
import { Icon, Logo } from '../components/icon.tsx';
import { codeText } from '../components/texts.tsx';
import { lazyPart, useHasStood, useValue, useWords } from '../components/use.ts';
import { alarms, alarmsBefore, followFleet, vehicles } from '../service/live.ts';
import { followOrderEnds } from '../service/orders/order-ends.ts';
import { followSentOrders } from '../service/orders/sent-watch.ts';
import { useOrderChanges, useOwnApprovals } from '../service/orders.ts';
import { holdScreen, session } from '../service/session.ts';
import { followSound } from '../service/sound.ts';
import { loadAhead, withWords } from '../words/word-set.ts';
import { loadMenus, ThemeButton, UserButton } from './bar-menus.tsx';
import { AccountZone, ConnectionStatus, Pulse, StaleNotice } from './connection.tsx';
import { FirstPalette, loadPalette } from './first-palette.tsx';
import { NewVersion } from './new-version.tsx';
import { type Page, useIsPractice, usePages } from './pages.tsx';
import { loadMoreMenu, Rail } from './rail.tsx';
import type { ScreenLink } from './screen.ts';
import { useShortcuts } from './shortcuts.ts';

const PracticeMark = lazyPart(async () => (await withWords(import('./practice-mark.tsx'))).PracticeMark);
const PracticeStrip = lazyPart(async () => (await withWords(import('./practice-mark.tsx'))).PracticeStrip);
const KeysDialog = lazyPart(async () => (await withWords(import('./keys-dialog.tsx'))).KeysDialog);
/** Loaded behind the first screen, so that they open without a wait, also while the service is away. */
const ahead = [loadMenus, loadMoreMenu, loadPalette];
const Toasts = lazyPart(async () => (await withWords(import('./toasts/toasts.tsx'))).Toasts);

/** Announces each request that waits for this user and is new. */
function ApprovalAnnouncer() {
  const texts = useWords().pages.approvals;
  const fleet = useValue(vehicles);
  const newest = useOwnApprovals()[0];
  useOrderChanges(null);
  return (
    <span className="hidden" role="status">
      {newest === undefined
        ? ''
        : texts.announce({
            vehicle: fleet.get(newest.deviceID)?.name ?? newest.deviceID,
            user: newest.requestedBy,
          })}
    </span>
  );
}

/** Announces each alarm that becomes new, with its name and vehicle. */
function AlarmAnnouncer() {
  const words = useWords();
  const open = useValue(alarms);
  const [said, setSaid] = useState('');
  const known = useValue(alarmsBefore);
  useEffect(() => {
    const newest = [...open.values()]
      .filter(({ alarmID, alarmState }) => alarmState === 'new' && known?.has(alarmID) === false)
      .toSorted((one, other) => other.opened - one.opened)[0];
    if (newest !== undefined)
      setSaid(
        words.alarms.announce({
          alarm: codeText(newest.statusCode, words),
          vehicle: newest.deviceDisplayName,
        }),
      );
  }, [open, words, known]);
  return (
    <p className="hidden" role="alert">
      {said}
    </p>
  );
}

const preload = (): void => loadAhead(loadPalette);

interface BarProps {
  readonly pages: readonly Page[];
  openPalette(): void;
  showKeys(): void;
}

function Bar({ pages, openPalette, showKeys }: BarProps) {
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
      <Button
        className="search"
        onPress={openPalette}
        onHoverStart={preload}
        onFocus={preload}
        aria-haspopup="dialog"
      >
        <Icon name="search" />
        <span className="cut-off">{shell.searchLong}</span>
        <kbd>Ctrl K</kbd>
      </Button>
      <AccountZone />
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
      <UserButton pages={pages.filter(({ place }) => place === 'user')} onKeys={showKeys} />
    </header>
  );
}

export function Shell({ links }: { readonly links: readonly ScreenLink[] }) {
  const { common } = useWords();
  const pages = usePages(links);
  const router = useRouter();
  const present = useValue(session);
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const [areKeysOpen, setKeysOpen] = useState(false);
  const openPalette = useCallback(() => setPaletteOpen(true), []);
  const showKeys = useCallback(() => setKeysOpen(true), []);
  useShortcuts({ links, openPalette, showKeys });
  const hasPractice = useIsPractice();
  const hasStood = useHasStood();
  useEffect(() => (hasStood ? ahead.forEach(loadAhead) : undefined), [hasStood]);
  useEffect(followSentOrders, []);
  // A new session of the same user goes on with the same picture.
  const user = present === null ? null : `${present.accountID}/${present.userID}`;
  useEffect(() => {
    if (user === null) {
      // Without what stands behind `#`: it may be a login code.
      const { pathname, searchStr } = router.state.location;
      void router.navigate({ to: '/login', search: { next: pathname + searchStr }, replace: true });
      return undefined;
    }
    const leaveOrders = followOrderEnds();
    const leaveFleet = followFleet();
    const leaveSound = followSound();
    const leaveScreen = holdScreen();
    return () => {
      leaveScreen();
      leaveSound();
      leaveFleet();
      leaveOrders();
    };
  }, [user, router]);
  return (
    <>
      <a className="hidden skip" href="#main">
        {common.skip}
      </a>
      <div className="shell">
        <Bar pages={pages} openPalette={openPalette} showKeys={showKeys} />
        <Rail pages={pages} />
        <div className="content">
          <Suspense>{hasPractice ? <PracticeStrip /> : null}</Suspense>
          <StaleNotice />
          <NewVersion />
          <Outlet />
        </div>
      </div>
      <ConnectionStatus />
      <AlarmAnnouncer />
      <ApprovalAnnouncer />
      <Suspense>{hasStood ? <Toasts /> : null}</Suspense>
      <FirstPalette pages={pages} isOpen={isPaletteOpen} onOpenChange={setPaletteOpen} showKeys={showKeys} />
      <Suspense>
        {areKeysOpen ? <KeysDialog pages={pages} isOpen onOpenChange={setKeysOpen} /> : null}
      </Suspense>
    </>
  );
}
