// The ports of an agent that can be killed as by `kill -9`: from that moment nothing gets in or out, no timer runs and no
// connection is closed properly. Its disk is not among them and keeps its content.
import type { AgentPorts } from '../agent/agent.ts';
import type { ByteLink, Clock, Log, MqttLink, OpenByteLink, OpenMqttLink } from '../src/ports.ts';

export interface KillablePorts {
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

function killableClock(clock: Clock, life: Life): Clock {
  return {
    monoMs: () => clock.monoMs(),
    utcMs: () => clock.utcMs(),
    after: (delayMs, run) =>
      clock.after(delayMs, () => {
        if (!life.isOver) run();
      }),
  };
}

function killableLog(log: Log, life: Life): Log {
  return {
    debug: (event, fields) => void (life.isOver || log.debug(event, fields)),
    info: (event, fields) => void (life.isOver || log.info(event, fields)),
    warn: (event, fields) => void (life.isOver || log.warn(event, fields)),
    error: (event, fields) => void (life.isOver || log.error(event, fields)),
    with: (fields) => killableLog(log.with(fields), life),
  };
}

/** The system closes the connections of a dead process. */
function killableByteLinks(open: OpenByteLink, life: Life): OpenByteLink {
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

function killableMqttLinks(open: OpenMqttLink, life: Life): OpenMqttLink {
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
export function createKillablePorts(ports: AgentPorts): KillablePorts {
  const life: Life = { isOver: false, lines: new Set(), links: new Set() };
  const clock = killableClock(ports.clock, life);
  return {
    clock,
    ports: {
      ...ports,
      clock,
      log: killableLog(ports.log, life),
      openByteLink: killableByteLinks(ports.openByteLink, life),
      openMqttLink: killableMqttLinks(ports.openMqttLink, life),
    },
    die() {
      life.isOver = true;
      for (const line of life.lines) void line.close();
      for (const link of life.links) link.destroy('the process was killed');
    },
  };
}
