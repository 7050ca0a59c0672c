// The bad luck of a simulation: which faults a seed has, how often and how hard, and its operators, who send commands.
// A seed enables a random part of all faults (swarm testing), because some hide behind others.

import type { SeededEntropy } from '../../../simulator/core/random.ts';
import { noBoardFaults, noiseKinds } from '../../../simulator/hardware/board.ts';
import { noPipeFaults } from '../../../simulator/hardware/pipe.ts';
import { statusCodes } from '../../../src/core/events/status-codes.ts';
import type { Fleet } from './virtual-fleet.ts';

interface FaultKind {
  readonly name: string;
  /** Mean pause between two, and longest duration, seconds. */
  readonly everyS: number;
  readonly lastsS: number;
  /** It disturbs the way from the panic button to the disk. */
  readonly isNear?: boolean;
  begin(fleet: Fleet, luck: SeededEntropy): void;
  end(fleet: Fleet): void;
}

const boardFault = (
  name: string,
  faults: (luck: SeededEntropy) => Parameters<Fleet['board']['setFaults']>[0],
  lastsS = 20,
): FaultKind => ({
  name,
  everyS: 60,
  lastsS,
  isNear: true,
  begin: (fleet, luck) => fleet.board.setFaults(faults(luck)),
  end: (fleet) => fleet.board.setFaults(noBoardFaults),
});

const kinds: readonly FaultKind[] = [
  boardFault('board late', (luck) => ({ lateMs: luck.integer(50, 1200) })),
  boardFault('board loses', (luck) => ({ lost: luck.fraction() * 0.7 })),
  boardFault('board garbles', (luck) => ({ garbled: luck.fraction() * 0.7 })),
  boardFault('board cuts short', (luck) => ({ cut: luck.fraction() * 0.7 })),
  boardFault('board silent', () => ({ silent: true })),
  boardFault('noise on the line', (luck) => ({
    noise: noiseKinds[luck.integer(0, noiseKinds.length - 1)] ?? null,
  })),
  boardFault('relays stuck', () => ({ stuck: true }), 60),
  {
    name: 'board power',
    everyS: 120,
    lastsS: 5,
    isNear: true,
    begin: (fleet) => fleet.board.setPower(false),
    end: (fleet) => fleet.board.setPower(true),
  },
  {
    name: 'board cable out',
    everyS: 120,
    lastsS: 30,
    isNear: true,
    begin: (fleet) => fleet.boardCable.unplug(),
    end: (fleet) => fleet.boardCable.plug(),
  },
  {
    name: 'gnss cable out',
    everyS: 120,
    lastsS: 60,
    begin: (fleet) => fleet.gnssCable.unplug(),
    end: (fleet) => fleet.gnssCable.plug(),
  },
  {
    name: 'gnss garbled',
    everyS: 120,
    lastsS: 60,
    begin: (fleet, luck) => fleet.gnssCable.setFaults({ garble: luck.fraction(), loss: luck.fraction() / 2 }),
    end: (fleet) => fleet.gnssCable.setFaults(noPipeFaults),
  },
  {
    name: 'tunnel',
    everyS: 90,
    lastsS: 120,
    begin: (fleet) => fleet.gnss.setTunnel(true),
    end: (fleet) => fleet.gnss.setTunnel(false),
  },
  {
    name: 'jammed',
    everyS: 120,
    lastsS: 120,
    begin: (fleet) => fleet.gnss.setJammed(true),
    end: (fleet) => fleet.gnss.setJammed(false),
  },
  {
    name: 'spoofed',
    everyS: 120,
    lastsS: 90,
    begin: (fleet, luck) =>
      fleet.gnss.setSpoof({
        northMps: luck.integer(-300, 300) / luck.integer(1, 30),
        eastMps: luck.integer(-5, 5),
      }),
    end: (fleet) => fleet.gnss.setSpoof(null),
  },
  {
    name: 'position frozen',
    everyS: 120,
    lastsS: 60,
    begin: (fleet) => void (fleet.gnssLies.mode = 'frozen'),
    end: (fleet) => void (fleet.gnssLies.mode = 'none'),
  },
  {
    name: 'receiver repeats itself',
    everyS: 120,
    lastsS: 60,
    begin: (fleet) => void (fleet.gnssLies.mode = 'repeats'),
    end: (fleet) => void (fleet.gnssLies.mode = 'none'),
  },
  {
    name: 'connection cut',
    everyS: 60,
    lastsS: 1,
    begin: (fleet) => fleet.broker.cut('carrier lost'),
    end: () => undefined,
  },
  {
    name: 'no network',
    everyS: 120,
    lastsS: 120,
    begin(fleet) {
      fleet.broker.network.isUp = false;
      fleet.broker.cut('no network');
    },
    end: (fleet) => void (fleet.broker.network.isUp = true),
  },
  {
    name: 'half open',
    everyS: 120,
    lastsS: 90,
    begin: (fleet) => void (fleet.broker.network.isHalfOpen = true),
    end: (fleet) => void (fleet.broker.network.isHalfOpen = false),
  },
  {
    name: 'slow network',
    everyS: 90,
    lastsS: 120,
    begin: (fleet, luck) => void (fleet.broker.network.latencyMs = luck.integer(100, 18_000)),
    end: (fleet) => void (fleet.broker.network.latencyMs = 20),
  },
  {
    name: 'broker dead',
    everyS: 150,
    lastsS: 60,
    begin: (fleet) => fleet.broker.kill(),
    end: (fleet) => (fleet.broker.ledger() === null ? fleet.broker.start() : undefined),
  },
  {
    name: 'clock steps',
    everyS: 90,
    lastsS: 1,
    begin: (fleet, luck) => fleet.agentClock()?.step(luck.integer(-1e8, 1e8)),
    end: () => undefined,
  },
  {
    name: 'disk slow',
    everyS: 90,
    lastsS: 40,
    isNear: true,
    begin: (fleet, luck) => void (fleet.disk.wear.slowestMs = luck.integer(50, 4000)),
    end: (fleet) => void (fleet.disk.wear.slowestMs = 5),
  },
  {
    name: 'disk fails',
    everyS: 200,
    lastsS: 90,
    isNear: true,
    begin: (fleet) => void (fleet.disk.wear.isFailing = true),
    end: (fleet) => void (fleet.disk.wear.isFailing = false),
  },
  {
    name: 'disk fails at times',
    everyS: 120,
    lastsS: 90,
    isNear: true,
    begin: (fleet, luck) => void (fleet.disk.wear.failures = luck.fraction() * 0.5),
    end: (fleet) => void (fleet.disk.wear.failures = 0),
  },
];

export interface Chaos {
  readonly faults: readonly string[];
  readonly counts: { commands: number; cancels: number; replays: number; panics: number };
  stop(): void;
}

/** What disturbs the panic button just now, and when something last did. */
interface Nearness {
  active: number;
  changes: number;
  lastMs: number;
}

interface Rig {
  readonly fleet: Fleet;
  readonly near: Nearness;
  readonly counts: Chaos['counts'];
  isOver: boolean;
}

/** Calls `run` again and again after pauses of `meanS` on average, until the chaos is over. */
function again(rig: Rig, pace: { meanS: number; luck: SeededEntropy }, run: () => void): void {
  const delayMs = -Math.log(1 - pace.luck.fraction()) * pace.meanS * 1000;
  rig.fleet.clock.after(delayMs, () => {
    if (rig.isOver) return;
    run();
    again(rig, pace, run);
  });
}

function noteNear(rig: Rig, change: 1 | -1): void {
  rig.near.active += change;
  rig.near.changes += 1;
  rig.near.lastMs = rig.fleet.clock.monoMs();
}

function unleash(rig: Rig, kind: FaultKind, luck: SeededEntropy): void {
  const { fleet } = rig;
  let isOn = false;
  again(rig, { meanS: kind.everyS, luck }, () => {
    const lastsMs = luck.fraction() * kind.lastsS * 1000;
    if (isOn) return;
    isOn = true;
    fleet.truth.note(`fault begins: ${kind.name}`);
    if (kind.isNear === true) noteNear(rig, 1);
    kind.begin(fleet, luck);
    fleet.clock.after(lastsMs, () => {
      isOn = false;
      if (rig.isOver) return;
      if (kind.isNear === true) noteNear(rig, -1);
      kind.end(fleet);
      fleet.truth.note(`fault ends: ${kind.name}`);
    });
  });
}

/** Kills the agent, now and then in a row, and most of all while a relay is being driven. */
function unleashKiller(rig: Rig, luck: SeededEntropy): void {
  const { fleet } = rig;
  let isDown = false;
  const restart = (): void => {
    isDown = false;
    if (rig.isOver) return;
    noteNear(rig, -1);
    fleet.startAgent().catch(() => kill());
  };
  const kill = (): void => {
    if (isDown || rig.isOver) return;
    isDown = true;
    noteNear(rig, 1);
    fleet.killAgent();
    fleet.clock.after(200 + luck.fraction() ** 3 * 60_000, restart);
    if (luck.chance(0.2)) fleet.clock.after(3000 + luck.integer(0, 4000), kill);
  };
  again(rig, { meanS: 150, luck }, kill);
  let seen = 0;
  again(rig, { meanS: 0.2, luck }, () => {
    const last = fleet.truth.orders();
    if (last === seen) return;
    seen = last;
    if (luck.chance(0.15)) fleet.clock.after(luck.fraction() * 300, kill);
  });
}

/** Drivers and tow trucks that move off at the worst of moments: when a command says that it executes. */
function unleashDriver(rig: Rig, luck: SeededEntropy): void {
  const { fleet } = rig;
  let seen = 0;
  again(rig, { meanS: 0.02, luck }, () => {
    const count = fleet.truth.executions();
    if (count === seen) return;
    seen = count;
    const isTowed = luck.chance(0.2);
    if (luck.chance(0.5))
      fleet.clock.after(luck.fraction() ** 2 * (luck.chance(0.5) ? 80 : 1500), () =>
        fleet.world.goOff(isTowed),
      );
  });
}

function sendCommands(rig: Rig, luck: SeededEntropy): void {
  const { fleet, counts } = rig;
  let issuers = 0;
  const withdrawLater = (commandID: string): void => {
    fleet.clock.after(luck.integer(1, 20_000), () => {
      counts.cancels += 1;
      fleet.truth.note(`operator cancels ${commandID}`);
      const request = { accountID: 'acme', commandID, issuer: 'operator' };
      fleet.broker
        .ledger()
        ?.cancel(request)
        .catch(() => undefined);
    });
  };
  again(rig, { meanS: 12 + luck.fraction() * 90, luck }, () => {
    const ledger = fleet.broker.ledger();
    if (ledger === null) return;
    issuers += 1;
    counts.commands += 1;
    const command = {
      accountID: 'acme',
      deviceID: 'truck-1',
      feature: luck.chance(0.7) ? 'enginecutoff' : 'cargoaccess',
      state: luck.chance(0.65) ? '1' : '0',
      issuer: `operator-${issuers}`,
      reason: 'simulation',
      ttlS: luck.integer(10, luck.chance(0.3) ? 30 : 300),
    } as const;
    fleet.truth.note(`operator: ${command.feature} ${command.state} for ${command.ttlS} s`);
    void ledger
      .request(command)
      .then(({ commandID }) => (luck.chance(0.15) ? withdrawLater(commandID) : undefined))
      .catch(() => undefined);
  });
  again(rig, { meanS: 40, luck }, () => {
    counts.replays += 1;
    fleet.broker.replay();
  });
}

const pressLeastMs = 100;
const pressStoredMs = 400;

/** I8: a press on a healthy vehicle is on disk at once. */
function pressPanic(rig: Rig, luck: SeededEntropy): void {
  const { fleet, near, counts } = rig;
  let freeAtMs = 0;
  again(rig, { meanS: 45, luck }, () => {
    const atMs = fleet.clock.monoMs();
    if (atMs < freeAtMs) return;
    freeAtMs = atMs + 6000;
    const { changes } = near;
    const isCalm = near.active === 0 && atMs - near.lastMs > 15_000 && fleet.agent() !== null;
    fleet.board.setSignal('panic', true);
    fleet.clock.after(pressLeastMs + luck.integer(0, 300), () => fleet.board.setSignal('panic', false));
    fleet.clock.after(pressStoredMs + 100, () => {
      if (!isCalm || near.changes !== changes) return;
      counts.panics += 1;
      const isStored = fleet.truth.stored.some(
        ({ event, atMs: storedMs }) =>
          event.statusCode === statusCodes.PANIC_ON.code &&
          storedMs >= atMs &&
          storedMs <= atMs + pressStoredMs,
      );
      if (!isStored) fleet.truth.breach(`I8: the panic pressed at ${atMs} ms is not on disk`);
    });
  });
}

/** Lets the faults of this seed loose. */
export function unleashChaos(fleet: Fleet): Chaos {
  const luck = fleet.entropy.stream('chaos');
  const rig: Rig = {
    fleet,
    near: { active: 0, changes: 0, lastMs: 0 },
    counts: { commands: 0, cancels: 0, replays: 0, panics: 0 },
    isOver: false,
  };
  const share = luck.fraction() ** 0.7;
  const chosen = kinds.filter(() => luck.chance(share * 0.8));
  for (const kind of chosen) unleash(rig, kind, luck.stream(kind.name));
  const isKilled = luck.chance(0.7);
  if (isKilled) unleashKiller(rig, luck.stream('killer'));
  if (luck.chance(0.7)) unleashDriver(rig, luck.stream('driver'));
  sendCommands(rig, luck.stream('operators'));
  pressPanic(rig, luck.stream('panic'));
  return {
    faults: [...chosen.map(({ name }) => name), ...(isKilled ? ['kill -9'] : [])],
    counts: rig.counts,
    stop() {
      rig.isOver = true;
    },
  };
}
