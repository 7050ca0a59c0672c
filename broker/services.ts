// What the HTTP side works with beyond the broker itself, made in one place for the program and for tests, and the
// background work that belongs to it. Everything here stops in `close`.
import type { ApiServices } from './api/operation.ts';
import type { BrokerServices } from './broker.ts';
import { createLoginThrottle } from './core/login-throttle.ts';
import type { Passwords } from './core/password.ts';

export interface ServicesOptions {
  readonly broker: BrokerServices;
  readonly passwords: Passwords;
}

export interface Services {
  readonly api: ApiServices;
  /** Ends the background work; the store is still open. */
  close(): Promise<void>;
}

/** Starts what the HTTP side needs. */
export function createServices({ broker, passwords }: ServicesOptions): Services {
  return {
    api: { ...broker, passwords, throttle: createLoginThrottle() },
    async close() {
      await Promise.resolve();
    },
  };
}
