// The ports of an agent that can be killed as `kill -9` kills a process: from that moment on nothing gets in or out, no timer runs,
// and nobody says goodbye. What it had written stays on its disk, which is not in here.
import type { AgentPorts } from '../agent/agent.ts';
import type { ByteLink, Clock, Log, MqttLink, OpenByteLink, OpenMqttLink } from '../src/ports.ts';

export interface Mortal {
  readonly ports: AgentPorts;
  /** Of the process; the vehicle's own clock goes on. */
  readonly clock: Clock;
  die(): void;
}

interface Life {
  isOver: boolean;
  readonly lines: Set<ByteLink>;
  readonly links: Set<MqttLink>;
}

const never = <T>(): Promise<T> => new Promise(() => undefined);

function mortalClock(clock: Clock, life: Life): Clock {
  return {
    monoMs: () => clock.monoMs(),
    utcMs: () => clock.utcMs(),
    after: (delayMs, run) =>
      clock.after(delayMs, () => {
        if (!life.isOver) run();
      }),
  };
}

function mortalLog(log: Log, life: Life): Log {
  return {
    debug: (event, fields) => void (life.isOver || log.debug(event, fields)),
    info: (event, fields) => void (life.isOver || log.info(event, fields)),
    warn: (event, fields) => void (life.isOver || log.warn(event, fields)),
    error: (event, fields) => void (life.isOver || log.error(event, fields)),
    with: (fields) => mortalLog(log.with(fields), life),
  };
}

/** The system closes what a dead process had open. */
function mortalLines(open: OpenByteLink, life: Life): OpenByteLink {
  return async (settings, handlers) => {
    const line = await open(settings, {
      onBytes: (bytes) => void (life.isOver || handlers.onBytes(bytes)),
      onDown: (reason) => void (life.isOver || handlers.onDown(reason)),
    });
    life.lines.add(line);
    if (life.isOver) await line.close();
    return {
      write: (bytes) => !life.isOver && line.write(bytes),
      close() {
        life.lines.delete(line);
        return line.close();
      },
    };
  };
}

function mortalLinks(open: OpenMqttLink, life: Life): OpenMqttLink {
  return (options, handlers) => {
    const link = open(options, {
      onUp: () => void (life.isOver || handlers.onUp()),
      onMessage(message, acknowledge) {
        if (!life.isOver) handlers.onMessage(message, () => void (life.isOver || acknowledge()));
      },
      onDown(reason, isSilent) {
        life.links.delete(link);
        if (!life.isOver) handlers.onDown(reason, isSilent);
      },
    });
    life.links.add(link);
    return {
      publish: (message) => (life.isOver ? never() : link.publish(message)),
      subscribe: (topics) => (life.isOver ? never() : link.subscribe(topics)),
      close() {
        if (life.isOver) return never();
        life.links.delete(link);
        return link.close();
      },
      destroy: (reason) => link.destroy(reason),
    };
  };
}

/** @param ports as `createAgent` takes them. */
export function createMortal(ports: AgentPorts): Mortal {
  const life: Life = { isOver: false, lines: new Set(), links: new Set() };
  const clock = mortalClock(ports.clock, life);
  return {
    clock,
    ports: {
      ...ports,
      clock,
      log: mortalLog(ports.log, life),
      openByteLink: mortalLines(ports.openByteLink, life),
      openMqttLink: mortalLinks(ports.openMqttLink, life),
    },
    die() {
      life.isOver = true;
      for (const line of life.lines) void line.close();
      for (const link of life.links) link.destroy('the process was killed');
    },
  };
}
