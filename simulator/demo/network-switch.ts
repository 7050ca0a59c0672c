// The network of one simulated vehicle as a switch. Off: the connection is lost as in a tunnel, without a farewell, and none can be made.
import type { Clock, MqttLink, OpenMqttLink } from '../../src/ports.ts';

export interface NetworkSwitch {
  /** Opens links for the vehicle; while it is off each of them fails. */
  readonly open: OpenMqttLink;
  set(isOn: boolean): void;
  isOn(): boolean;
}

const reason = 'no network';

/** A link that comes up never. */
function deadLink(clock: Clock, onDown: (why: string) => void): MqttLink {
  const cancel = clock.after(0, () => onDown(reason));
  const never = (): Promise<never> => new Promise(() => undefined);
  return {
    publish: never,
    subscribe: never,
    close: async () => cancel(),
    destroy: () => undefined,
  };
}

/** @param open how links are made while it is on. */
export function createNetworkSwitch(clock: Clock, open: OpenMqttLink): NetworkSwitch {
  const links = new Set<MqttLink>();
  let isOn = true;
  return {
    open(options, handlers) {
      if (!isOn) return deadLink(clock, (why) => handlers.onDown(why));
      const link = open(options, {
        onUp: () => handlers.onUp(),
        onMessage: (message, acknowledge) => handlers.onMessage(message, acknowledge),
        onDown(why, isSilent) {
          links.delete(link);
          handlers.onDown(why, isSilent);
        },
      });
      links.add(link);
      return link;
    },
    set(wanted) {
      isOn = wanted;
      if (!isOn) for (const link of links) link.destroy(reason);
    },
    isOn: () => isOn,
  };
}
