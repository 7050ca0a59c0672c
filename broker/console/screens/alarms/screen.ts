// The alarms, which the first load holds.
import { createRoute } from '@tanstack/react-router';
import { useValue, useWords } from '../../components/use.ts';
import { alarms } from '../../service/live.ts';
import { type Badge, screen, shellRoute } from '../../shell/screen.ts';
import { alarmFilters } from '../../state/alarm-view.ts';
import { oneOf, picked, searchOf, text } from '../../state/search.ts';
import { AlarmsScreen } from './alarms.tsx';

function useBadge(): Badge {
  const { pages } = useWords();
  const count = [...useValue(alarms).values()].filter(({ alarmState }) => alarmState === 'new').length;
  return { count, text: pages.alarms.count({ count }), isQuiet: false };
}

const list = createRoute({
  getParentRoute: () => shellRoute,
  path: '/alarms',
  validateSearch: searchOf({ show: oneOf(alarmFilters), alarm: text, pick: picked }),
  component: AlarmsScreen,
});

export const alarmsScreen = screen({
  routes: [list],
  links: [{ to: '/alarms', icon: 'bell', key: 'a', place: 'first', useBadge }],
});
