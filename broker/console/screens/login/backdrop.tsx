// The land behind the form of the login: a map without any place of this fleet.

/** Streets of the town behind the form, in the frame of its picture. */
const streets = Array.from({ length: 15 }, (_, at) => `M-40 ${at * 62 - 40} L760 ${at * 62 - 240}`);
const crossings = Array.from({ length: 13 }, (_, at) => `M${at * 68 - 160} -20 L${at * 68 + 60} 920`);
const roads = [
  'M-40 330 L760 130',
  'M-40 578 L760 378',
  'M112 -20 L332 920',
  'M452 -20 L672 920',
  'M-40 170 C 160 230, 240 400, 420 470 S 640 500, 760 440',
];
const motorway = 'M520 -20 C 540 120, 500 250, 530 360 S 560 500, 470 540 S 180 610, -40 620';
const river = 'M600 -20 C 560 120, 650 240, 640 380 S 600 520, 640 700';

export function Backdrop() {
  return (
    <div className="map" aria-hidden="true">
      <svg viewBox="0 0 720 900" preserveAspectRatio="xMidYMid slice" fill="none">
        <rect width="720" height="900" fill="var(--map-land)" />
        <path
          d="M345 70 L478 37 L512 168 L382 202Z M40 330 L160 300 L188 420 L70 450Z"
          fill="var(--map-park)"
        />
        <path d="M180 455 L470 382 L500 510 L210 585Z" fill="var(--map-built)" />
        <path d={river} stroke="var(--map-park)" strokeWidth="70" />
        <path d={[...streets, ...crossings].join(' ')} stroke="var(--map-street)" strokeWidth="3" />
        <path d={river} stroke="var(--map-water)" strokeWidth="26" />
        <path d={roads.join(' ')} stroke="var(--map-casing)" strokeWidth="9" />
        <path d={roads.join(' ')} stroke="var(--map-road)" strokeWidth="7" />
        <path d={motorway} stroke="var(--map-casing)" strokeWidth="13" />
        <path d={motorway} stroke="var(--map-motorway)" strokeWidth="10" />
        <path
          d="M-20 690 Q110 600 230 650 T400 640 Q520 590 590 640 T740 590 V920 H-20Z"
          fill="var(--map-water)"
          stroke="var(--map-casing)"
          strokeWidth="2"
        />
        <path d="M150 780 Q260 735 380 748 T520 762 Q420 800 300 800 T150 780Z" fill="var(--map-park)" />
      </svg>
    </div>
  );
}
