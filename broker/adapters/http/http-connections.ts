// Connections of the HTTP side, bounded in all and for each source, so that no source takes them from others, nor the file
// handles from the vehicles. Some more are kept for health checks, which are answered whatever the others do. A proxy that is
// trusted stands for many sources and is bounded by the whole number only.
import type { Server } from 'node:http';
import { BlockList, isIPv6, type Socket } from 'node:net';
import type { Clock, Log } from '../../../src/ports.ts';
import { networkOf } from '../../core/accounts/source-network.ts';

export interface ConnectionLimits {
  /** Open connections; more are closed at once. */
  readonly all: number;
  /** Of one source address, or IPv6 network. */
  readonly ofSource: number;
  /** Above both, for health checks alone: in all and of one source. */
  readonly reserved: number;
  readonly reservedOfSource: number;
}

/** A connection for health checks is cut after this long. */
const reservedMs = 5000;
/** Refused connections are logged at most this often, with their number. */
const logMs = 60_000;

/** Addresses and networks, as in a setting. */
export function createAddressList(entries: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = '', bits] = entry.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (address) => {
    const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
    return list.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4');
  };
}

/** Numbers by key that vanish at 0. */
function createCounts() {
  const counts = new Map<string, number>();
  return {
    of: (key: string): number => counts.get(key) ?? 0,
    change(key: string, by: 1 | -1): void {
      const count = (counts.get(key) ?? 0) + by;
      if (count > 0) counts.set(key, count);
      else counts.delete(key);
    },
  };
}

/** The two ends of a connection: the same for a TLS socket and the one that it speaks through. */
const nameOf = ({ remoteAddress = '', remotePort = 0 }: Socket): string => `${remoteAddress} ${remotePort}`;

export interface BoundConnections {
  /** True for a connection that may ask for the health of the service and for nothing else. */
  isReserved(socket: Socket): boolean;
  /** Open connections, without those for health checks. */
  open(): number;
}

interface Bounds {
  readonly limits: ConnectionLimits;
  readonly isTrusted: (address: string) => boolean;
  readonly clock: Clock;
  readonly log: Log;
}

/** Bounds the connections of a server from now on. */
export function boundConnections(
  server: Server,
  { limits, isTrusted, clock, log }: Bounds,
): BoundConnections {
  const [open, kept] = [createCounts(), createCounts()];
  const reserved = new Set<string>();
  let total = 0;
  let refused = 0;
  let loggedMs = Number.NEGATIVE_INFINITY;
  const recordRefused = (source: string): void => {
    refused += 1;
    if (clock.monoMs() - loggedMs < logMs) return;
    log.warn('http_connections_refused', { source, ofSource: open.of(source), open: total, refused });
    loggedMs = clock.monoMs();
    refused = 0;
  };
  /** What gives the place back; null when there is none. */
  const take = (socket: Socket, source: string): (() => void) | null => {
    const isFull = total >= limits.all || (open.of(source) >= limits.ofSource && !isTrusted(source));
    if (!isFull) {
      total += 1;
      open.change(source, 1);
      return () => {
        total -= 1;
        open.change(source, -1);
      };
    }
    recordRefused(source);
    if (reserved.size >= limits.reserved || kept.of(source) >= limits.reservedOfSource) return null;
    const name = nameOf(socket);
    const cancel = clock.after(reservedMs, () => void socket.destroy());
    reserved.add(name);
    kept.change(source, 1);
    return () => {
      cancel();
      reserved.delete(name);
      kept.change(source, -1);
    };
  };
  server.maxConnections = limits.all + limits.reserved;
  server.on('connection', (socket: Socket) => {
    const giveBack = take(socket, networkOf(socket.remoteAddress ?? ''));
    if (giveBack === null || socket.destroyed) {
      giveBack?.();
      socket.destroy();
    } else socket.once('close', giveBack);
  });
  return {
    isReserved: (socket) => reserved.size > 0 && reserved.has(nameOf(socket)),
    open: () => total,
  };
}
