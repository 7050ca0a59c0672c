// The order book of the simulator: which order a contact moved for, whatever was ordered meanwhile.
import { describe, expect, it } from 'vitest';
import { createOrderBook, type OrderBook } from '../../simulator/core/ledger/order-book.ts';

const relay = 'enginecutoff';
const withdraw = `withdraw:${relay}`;

function order(book: OrderBook, token: string, energised: boolean): void {
  book.record('relay_order', { relay, energised, order: token });
}
const done = (book: OrderBook, token: string, outcome: string): void =>
  book.record('relay_order_done', { relay, order: token, outcome, reason: outcome });
const mover = (book: OrderBook, energised: boolean, cause = 'FC05'): string | null =>
  book.tokenOf({ feature: relay, energised, cause });

/** A cut whose order is taken back before the board has heard it, as its vehicle logs it. */
function takenBack(): OrderBook {
  const book = createOrderBook();
  order(book, 'drive:c1', true);
  book.record('relay_order_withdrawn', { relay, reason: 'ignition is unknown' });
  order(book, withdraw, false);
  done(book, 'drive:c1', 'unknown');
  return book;
}

describe('a contact', () => {
  it('that closes when its order has been taken back on the wires closes for that order', () => {
    const book = takenBack();
    expect(mover(book, true)).toBe('drive:c1');
    expect(mover(book, false)).toBe(withdraw);
  });

  it('that closes after it was read back open closes for no command', () => {
    const book = takenBack();
    done(book, withdraw, 'confirmed');
    expect(mover(book, true)).toBe(null);
    expect(mover(book, false)).toBe(withdraw);
  });

  it.each(['unknown', 'mismatch'])(
    'may still close for it while the outcome of the order back is: %s',
    (outcome) => {
      const book = takenBack();
      done(book, withdraw, outcome);
      expect(mover(book, true)).toBe('drive:c1');
    },
  );

  it('closes for no command when its order never reached the board', () => {
    const book = createOrderBook();
    order(book, 'drive:c1', true);
    order(book, withdraw, false);
    done(book, 'drive:c1', 'refused');
    expect(mover(book, true)).toBe(null);
  });

  it('closes for no command after a restore was confirmed, whatever was ordered before', () => {
    const book = createOrderBook();
    order(book, 'drive:c1', true);
    done(book, 'drive:c1', 'confirmed');
    order(book, 'drive:c2', false);
    done(book, 'drive:c2', 'confirmed');
    expect(mover(book, true)).toBe(null);
  });

  it.each(['power', 'flash end', 'input 3'])('that moves by itself moves for that alone: %s', (cause) => {
    expect(mover(takenBack(), true, cause)).toBe(cause);
  });

  it('of another relay has its own orders', () => {
    expect(takenBack().tokenOf({ feature: 'cargoaccess', energised: true, cause: 'flash' })).toBe(null);
  });
});

it('knows what the vehicle has called confirmed', () => {
  const book = takenBack();
  const isConfirmed = (): boolean => book.isConfirmed('drive:c1');
  expect(isConfirmed()).toBe(false);
  book.record('command', { commandID: 'c1', state: 'armed', reason: 'the relay did not follow: read back' });
  expect(isConfirmed()).toBe(false);
  book.record('command', { commandID: 'c1', state: 'confirmed' });
  expect(isConfirmed()).toBe(true);
  expect(book.isConfirmed(null)).toBe(false);
});
