// Icons under Lucide's names: our own drawings, 24 by 24, by stroke.
const paths = {
  activity: 'M3 12h4l3-8 4 16 3-8h4',
  ban: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM6 6l12 12',
  bell: 'M6 16V10a6 6 0 0 1 12 0v6l2 2H4zM10 21h4',
  'bell-ring': 'M6 16V10a6 6 0 0 1 12 0v6l2 2H4zM10 21h4M3 8a8 8 0 0 1 2-4M21 8a8 8 0 0 0-2-4',
  box: 'M3 7l9-4 9 4v10l-9 4-9-4zM3 7l9 4 9-4M12 11v10',
  check: 'M4 12l6 6L20 6',
  'circle-dashed':
    'M12 3a9 9 0 0 1 3.4.7M18.400 5.600A9 9 0 0 1 20.800 10M20.800 14a9 9 0 0 1-2.400 4.400M15.400 20.300a9 9 0 0 1-6.800 0M5.600 18.400A9 9 0 0 1 3.200 14M3.200 10a9 9 0 0 1 2.400-4.400M8.600 3.700A9 9 0 0 1 12 3',
  'circle-alert': 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 7v6M12 16.5v.1',
  'circle-check': 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM8 12l3 3 5-6',
  'circle-help':
    'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM9.5 9.5a2.5 2.5 0 1 1 3.5 2.3c-.7.3-1 .8-1 1.7M12 16.8v.1',
  'circle-x': 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM9 9l6 6M15 9l-6 6',
  'chevron-left': 'M15 5l-7 7 7 7',
  'flask-conical': 'M9 3h6M10 3v6L4.500 20h15L14 9V3M7.500 15h9',
  hexagon: 'M12 3l8 4.5v9L12 21l-8-4.5v-9z',
  hourglass: 'M6 3h12M6 21h12M7 3c0 5 4 6 5 9 1-3 5-4 5-9M7 21c0-5 4-6 5-9 1 3 5 4 5 9',
  inbox: 'M4 13l3-8h10l3 8v6H4zM4 13h5l1 3h4l1-3h5',
  keyboard: 'M3 6h18v12H3zM7 10v.1M11 10v.1M15 10v.1M7 14h10',
  'key-round': 'M8 10a5 5 0 1 0 0 10 5 5 0 0 0 0-10zM12 11l9-9M17 6l3 3',
  layers: 'M12 3l9 5-9 5-9-5zM3 12l9 5 9-5M3 16l9 5 9-5',
  link: 'M9 15l6-6M11 6l2-2a5 5 0 0 1 7 7l-2 2M13 18l-2 2a5 5 0 0 1-7-7l2-2',
  lock: 'M5 11h14v10H5zM8 11V7a4 4 0 0 1 8 0v4',
  'lock-open': 'M5 11h14v10H5zM8 11V7a4 4 0 0 1 7.6-1.7',
  'log-out': 'M10 4H4v16h6M9 12h12M17 8l4 4-4 4',
  map: 'M3 6l6-2 6 2 6-2v14l-6 2-6-2-6 2zM9 4v14M15 6v14',
  minus: 'M4 12h16',
  monitor: 'M3 4h18v13H3zM8 21h8M12 17v4',
  maximize: 'M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5',
  'octagon-alert': 'M8 2.500h8L21.500 8v8L16 21.500H8L2.500 16V8zM12 7v6M12 16.500v.1',
  plus: 'M12 4v16M4 12h16',
  power: 'M12 3v9M6.500 6.500a8 8 0 1 0 11 0',
  'power-off': 'M12 3v5M3 3l18 18M17.700 6.700a8 8 0 0 1 1.500 9M17 18.500A8 8 0 0 1 6.500 6.500',
  satellite: 'M5 9l4-4 10 10-4 4zM3 13l-1 1M13 3l1-1M4 20a4 4 0 0 1 4 0',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l5 5',
  'shield-check': 'M12 3l8 3v6c0 5-4 8-8 9-4-1-8-4-8-9V6zM8.500 12l2.500 2.500 4.500-5',
  signal: 'M4 20v-3M9 20v-7M14 20v-11M19 20V5',
  siren: 'M7 18v-6a5 5 0 0 1 10 0v6M5 21h14v-3H5zM12 2v2M4 5l1.500 1.500M20 5l-1.500 1.500',
  sliders: 'M4 6h9M17 6h3M4 12h3M11 12h9M4 18h11M19 18h1M15 4v4M9 10v4M17 16v4',
  'sun-moon':
    'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M5 19l2-2M17 7l2-2',
  table: 'M3 4h18v16H3zM3 10h18M3 15h18M10 4v16',
  'timer-off': 'M3 3l18 18M9 2h6M7 7.500A8 8 0 0 0 17.500 19M19.500 16A8 8 0 0 0 12 6M12 10v3',
  'triangle-alert': 'M12 3L2 20h20zM12 10v5M12 17.500v.1',
  truck:
    'M2 6h12v11H2zM14 10h4l4 4v3h-8zM7 16a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM17.500 16a2 2 0 1 0 0 4 2 2 0 0 0 0-4z',
  'undo-2': 'M9 5L4 10l5 5M4 10h10a6 6 0 0 1 0 12h-3',
  user: 'M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM5 21a7 7 0 0 1 14 0',
  'user-check': 'M9 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM2 21a7 7 0 0 1 14 0M16 11l2 2 4-4',
  users: 'M9 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM2 21a7 7 0 0 1 14 0M16 4a4 4 0 0 1 0 8M18 15a7 7 0 0 1 4 6',
  'volume-2': 'M4 9h4l5-5v16l-5-5H4zM16 9a4 4 0 0 1 0 6M18.500 6a8 8 0 0 1 0 12',
  'volume-x': 'M4 9h4l5-5v16l-5-5H4zM17 9l5 6M22 9l-5 6',
  'wifi-off':
    'M3 3l18 18M5 12a10 10 0 0 1 4-2.500M2 8.500a15 15 0 0 1 4-2.500M12 5a15 15 0 0 1 10 3.500M15.500 10A10 10 0 0 1 19 12M8.500 15.500a5 5 0 0 1 7 0M12 19v.1',
  x: 'M5 5l14 14M19 5L5 19',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  ellipsis: 'M5 12h.1M12 12h.1M19 12h.1',
  'hard-drive': 'M4 6h16v12H4zM4 12h16M7 15.1v.1M10 15.1v.1',
  upload: 'M12 16V4M7 9l5-5 5 5M4 20h16',
  download: 'M12 3v12M7 10l5 5 5-5M4 20h16',
  'message-square': 'M4 4h16v13H9l-5 4z',
  pause: 'M8 4v16M16 4v16',
  play: 'M7 4l13 8-13 8z',
  printer: 'M7 9V3h10v6M7 17H4V9h16v8h-3M7 14h10v7H7z',
  route:
    'M6 16a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM18 2a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM9 19h7a4 4 0 0 0 0-8H8a3 3 0 0 1 0-6h7',
  'refresh-cw': 'M20 11a8 8 0 0 0-14-4L3 10M3 4v6h6M4 13a8 8 0 0 0 14 4l3-3M21 20v-6h-6',
  'step-back': 'M19 4L8 12l11 8zM5 4v16',
  'step-forward': 'M5 4l11 8-11 8zM19 4v16',
} as const;

export type IconName = keyof typeof paths;

/** Those that point along the text: from right to left they point the other way. */
const directed: ReadonlySet<IconName> = new Set(['chevron-left', 'log-out', 'volume-2', 'volume-x']);

interface IconProps {
  readonly name: IconName;
  /** 20 px in place of 16. */
  readonly isLarge?: boolean;
  /** Words for it; without them it is decoration beside its word. */
  readonly label?: string;
}

export function Icon({ name, isLarge = false, label }: IconProps) {
  const named = label === undefined ? { 'aria-hidden': true as const } : { role: 'img', 'aria-label': label };
  const classes = ['icon', ...(isLarge ? ['l'] : []), ...(directed.has(name) ? ['directed'] : [])];
  return (
    <svg className={classes.join(' ')} viewBox="0 0 24 24" {...named}>
      <path d={paths[name]} />
    </svg>
  );
}

export function Logo() {
  return (
    <svg className="logo" viewBox="0 0 24 24" aria-hidden="true">
      <rect x="1" y="1" width="22" height="22" rx="6" fill="var(--ink-fill)" />
      <path d="M12 5l5.500 13.500L12 15.500 6.500 18.500z" fill="var(--on-ink)" />
    </svg>
  );
}
