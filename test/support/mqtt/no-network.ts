// A vehicle without a network: every attempt to connect fails a little later.
import type { OpenMqttLink } from '../../../src/ports.ts';

export const openNoNetwork: OpenMqttLink = (_, handlers) => {
  const never = new Promise<never>(() => undefined);
  setImmediate(() => handlers.onDown('no network'));
  return {
    publish: () => never,
    subscribe: () => never,
    close: () => Promise.resolve(),
    destroy: () => undefined,
  };
};
