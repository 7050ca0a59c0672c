// The simulated boards answer as real ones do: golden frames of libmodbus and pymodbus, exceptions, command words,
// timing, power-up and faults. Its frames are written here by hand and never made by the agent's master.
import { describe, expect, it } from 'vitest';
import { createVirtualClock, type VirtualClock } from '../../simulator/clock.ts';
import { createSeededEntropy } from '../../simulator/core/random.ts';
import { type Board, createBoard } from '../../simulator/hardware/board.ts';
import { type BoardName, boardNames } from '../../simulator/hardware/board-maps.ts';
import { isSoundFrame, sealFrame } from '../../simulator/hardware/modbus-slave.ts';

interface Bus {
  readonly clock: VirtualClock;
  readonly board: Board;
  /** Sends a frame and gives what came back within a second, as hex. */
  readonly ask: (frame: readonly number[]) => string;
  readonly sent: Uint8Array[];
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

function createBus(name: BoardName, seed = 'bus'): Bus {
  const clock = createVirtualClock();
  const sent: Uint8Array[] = [];
  const entropy = createSeededEntropy(seed);
  const board = createBoard({ name, clock, entropy, send: (bytes) => sent.push(bytes) });
  const ask = (frame: readonly number[]): string => {
    const from = sent.length;
    board.receive(sealFrame(frame));
    clock.advance(1000);
    return hex(Buffer.concat(sent.slice(from)));
  };
  return { clock, board, ask, sent };
}

describe('frames', () => {
  // Recorded between libmodbus and pymodbus.
  it.each([
    ['01 02 00 00 00 08', '79cc'],
    ['01 05 00 03 ff 00', '7c3a'],
    ['01 0f 00 00 00 08 01 4d', '3ea0'],
    ['01 04 00 00 00 08', 'f1cc'],
    ['09 03 00 00 00 01', '8542'],
  ])('the checksum of %s is %s', (bytes, crc) => {
    const frame = sealFrame([...Buffer.from(bytes.replaceAll(' ', ''), 'hex')]);
    expect(hex(frame.subarray(-2))).toBe(crc);
    expect(isSoundFrame(frame)).toBe(true);
  });

  it('a flipped bit makes a frame unsound, and the board stays silent and counts it', () => {
    const { board, clock, sent } = createBus('generic');
    const frame = sealFrame([1, 2, 0, 0, 0, 8]);
    frame[2] = 1;
    board.receive(frame);
    clock.advance(1000);
    expect(sent).toEqual([]);
    expect(board.counts()).toMatchObject({ requests: 0, unsound: 1 });
  });
});

describe('generic board', () => {
  it('reads inputs and switches relays, golden frames', () => {
    const { board, ask } = createBus('generic');
    board.setSignal('externalPower', false);
    board.setSignal('panic', true);
    board.setSignal('cargoDoor', true);
    board.setSignal('externalPower', true);
    expect(ask([1, 2, 0, 0, 0, 8])).toBe(hex(sealFrame([1, 2, 1, 0b0010_1010])));
    expect(ask([1, 5, 0, 0, 0xff, 0])).toBe(hex(sealFrame([1, 5, 0, 0, 0xff, 0])));
    expect(ask([1, 1, 0, 0, 0, 8])).toBe(hex(sealFrame([1, 1, 1, 1])));
    expect(board.isEnergised('enginecutoff')).toBe(true);
    expect(ask([1, 15, 0, 0, 0, 8, 1, 0x4d])).toBe('010f00000008540d');
    expect(ask([1, 1, 0, 0, 0, 8])).toBe(hex(sealFrame([1, 1, 1, 0x4d])));
  });

  it('answers exceptions 1, 2 and 3', () => {
    const { ask } = createBus('generic');
    expect(ask([1, 0x2b, 0, 0])).toBe(hex(sealFrame([1, 0xab, 1])));
    expect(ask([1, 2, 0, 5, 0, 8])).toBe(hex(sealFrame([1, 0x82, 2])));
    expect(ask([1, 2, 0, 0, 0, 0])).toBe(hex(sealFrame([1, 0x82, 3])));
    expect(ask([1, 5, 0, 0, 0x12, 0x34])).toBe(hex(sealFrame([1, 0x85, 3])));
    expect(ask([1, 5, 0, 9, 0xff, 0])).toBe(hex(sealFrame([1, 0x85, 2])));
  });

  it('does not answer another unit, nor a broadcast, which it obeys', () => {
    const { ask, board } = createBus('generic');
    expect(ask([9, 1, 0, 0, 0, 8])).toBe('');
    expect(ask([0, 5, 0, 1, 0xff, 0])).toBe('');
    expect(board.isEnergised('cargoaccess')).toBe(true);
  });

  it('takes two frames without 3.5 characters of silence between them for one bad frame', () => {
    const { board, clock, sent } = createBus('generic');
    board.receive(sealFrame([1, 1, 0, 0, 0, 8]));
    clock.advance(2);
    board.receive(sealFrame([1, 1, 0, 0, 0, 8]));
    clock.advance(100);
    expect(sent).toEqual([]);
    expect(board.counts().unsound).toBe(1);
  });

  it('gives voltages as millivolts', () => {
    const { board, ask } = createBus('generic');
    board.setFuel(0.62);
    board.setSupplyVolts(13.8);
    expect(ask([1, 4, 0, 0, 0, 2])).toBe(hex(sealFrame([1, 4, 4, 0x0c, 0x1c, 0x11, 0xf8]))); // 3100, 4600
  });
});

describe('boards with ways of their own', () => {
  it('Eletechsup: command words are not what is read, registers start at 1, no broadcast', () => {
    const { board, ask } = createBus('eletechsup');
    expect(ask([1, 6, 0, 1, 1, 0])).toBe(hex(sealFrame([1, 6, 0, 1, 1, 0])));
    expect(ask([1, 3, 0, 1, 0, 2])).toBe(hex(sealFrame([1, 3, 4, 0, 1, 0, 0])));
    ask([1, 6, 0, 2, 4, 0]); // latch: the others fall off
    expect([board.isEnergised('enginecutoff'), board.isEnergised('cargoaccess')]).toEqual([false, true]);
    ask([0, 6, 0, 0, 8, 0]);
    expect(board.isEnergised('cargoaccess')).toBe(true);
    expect(ask([2, 3, 0, 0x81, 0, 8]).slice(0, 6)).toBe('020310');
  });

  it('Eletechsup: 0x0600 + s is on for s seconds', () => {
    const { board, ask, clock } = createBus('eletechsup');
    ask([1, 6, 0, 1, 6, 3]);
    expect(board.isEnergised('enginecutoff')).toBe(true);
    clock.advance(2100);
    expect(board.isEnergised('enginecutoff')).toBe(false);
    expect(board.relayLog().changes.map((change) => change.cause)).toEqual(['FC06', 'flash end']);
  });

  it('Waveshare: flash, all relays, and an input that switches a relay by itself when the mode is not normal', () => {
    const { board, ask } = createBus('waveshare-relay-d');
    ask([1, 5, 0, 0xff, 0xff, 0]);
    expect(ask([1, 1, 0, 0, 0, 8])).toBe(hex(sealFrame([1, 1, 1, 0xff])));
    ask([1, 5, 0, 0xff, 0, 0]);
    ask([1, 5, 2, 0, 0, 7]);
    expect(board.isEnergised('enginecutoff')).toBe(false);
    expect(board.relayLog().changes.at(-1)?.cause).toBe('flash end');
    ask([1, 6, 0x10, 0, 0, 1]);
    board.setSignal('ignition', true);
    expect(board.isEnergised('enginecutoff')).toBe(true);
    expect(board.relayLog().changes.at(-1)?.cause).toBe('input 0');
  });

  it('Waveshare: two units answer on one bus', () => {
    const { ask } = createBus('waveshare-io-analog');
    expect(ask([1, 2, 0, 0, 0, 8]).slice(0, 4)).toBe('0102');
    expect(ask([2, 4, 0, 0, 0, 2]).slice(0, 6)).toBe('020404');
    expect(ask([1, 4, 0, 0, 0, 2])).toBe(hex(sealFrame([1, 0x84, 1])));
  });

  it('ADAM-4150: outputs from 0x10, seven inputs', () => {
    const { board, ask } = createBus('adam-4150');
    ask([1, 5, 0, 0x10, 0xff, 0]);
    expect(board.isEnergised('enginecutoff')).toBe(true);
    expect(ask([1, 2, 0, 0, 0, 8])).toBe(hex(sealFrame([1, 0x82, 2])));
  });
});

describe.each(boardNames)('%s', (name) => {
  it('loses its relays and its answer with the power, and writes down why', () => {
    const { board, clock, sent } = createBus(name);
    const energise =
      name === 'eletechsup' ? [1, 6, 0, 1, 1, 0] : [1, 5, 0, name === 'adam-4150' ? 16 : 0, 0xff, 0];
    board.receive(sealFrame(energise));
    clock.advance(6); // heard and done, not yet answered
    board.setPower(false);
    clock.advance(1000);
    expect(sent).toEqual([]);
    board.setPower(true);
    expect(board.isEnergised('enginecutoff')).toBe(false);
    const log = board
      .relayLog()
      .changes.map(({ feature, energised, cause }) => ({ feature, energised, cause }));
    expect(log.at(-1)).toEqual({ feature: 'enginecutoff', energised: false, cause: 'power' });
    expect(log).toHaveLength(2);
  });
});

describe('faults', () => {
  const read = [1, 1, 0, 0, 0, 8];
  it('late: the answer comes, later', () => {
    const { board, clock, sent } = createBus('generic');
    board.setFaults({ lateMs: 350 });
    board.receive(sealFrame(read));
    clock.advance(340);
    expect(sent).toHaveLength(0);
    clock.advance(30);
    expect(sent).toHaveLength(1);
  });

  it('silent: the relay moves, no answer comes; stuck: the answer comes, the relay does not move', () => {
    const { board, ask } = createBus('generic');
    board.setFaults({ silent: true });
    expect(ask([1, 5, 0, 0, 0xff, 0])).toBe('');
    expect(board.isEnergised('enginecutoff')).toBe(true);
    board.setFaults({ silent: false, stuck: true });
    expect(ask([1, 5, 0, 0, 0, 0])).not.toBe('');
    expect(board.isEnergised('enginecutoff')).toBe(true);
  });

  it('lost, garbled and cut: as often as set, the same for the same seed, never the good answer', () => {
    const run = (seed: string): string[] => {
      const { board, ask } = createBus('generic', seed);
      board.setFaults({ lost: 0.3, garbled: 0.3, cut: 0.2 });
      return Array.from({ length: 400 }, () => ask(read));
    };
    const answers = run('a');
    const good = answers.filter((answer) => answer === hex(sealFrame([1, 1, 1, 0]))).length;
    expect(answers).toEqual(run('a'));
    expect(answers).not.toEqual(run('b'));
    expect(answers.filter((answer) => answer === '').length).toBeGreaterThan(80);
    expect(good).toBeGreaterThan(110);
    expect(good).toBeLessThan(210);
  });

  it('echo: the request comes back before the answer', () => {
    const { board, ask } = createBus('generic');
    board.setFaults({ echo: true });
    expect(ask(read)).toBe(hex(sealFrame(read)) + hex(sealFrame([1, 1, 1, 0])));
  });

  it('the log of the relays is capped and says so', () => {
    const { ask, board } = createBus('generic');
    for (let round = 0; round < 600; round += 1) {
      ask([1, 5, 0, 0, 0xff, 0]);
      ask([1, 5, 0, 0, 0, 0]);
    }
    const { changes, forgotten } = board.relayLog();
    expect([changes.length, forgotten]).toEqual([1000, 200]);
  });
});
