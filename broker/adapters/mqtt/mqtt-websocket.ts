// MQTT over WebSocket (MQTT 3.1.1 chapter 6, RFC 6455): from the upgrade to a stream. A browser page is admitted only from a listed origin: the
// network of its user must not give it access to the broker.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { createWebSocketStream, WebSocketServer } from 'ws';
import type { Log } from '../../../src/ports.ts';

const path = '/mqtt';
/** Subprotocols (MQTT-6.0.0-3); some clients of 3.1.1 still request `mqttv3.1`. */
const subprotocols = ['mqtt', 'mqttv3.1'] as const;
/** Maximum size of one message, bytes: a full packet, and more packets that a client puts into the same message. */
const messageMost = 128 * 1024;

/** Answers any request to this port other than a WebSocket upgrade. */
export function answerPlainHttp(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(426, { connection: 'close', upgrade: 'websocket', 'content-type': 'text/plain' });
  response.end(`This port speaks MQTT over WebSocket at ${path}.\n`);
}

/** Status code of a refusal; null: none. */
function refusalOf(
  request: IncomingMessage,
  origins: readonly string[],
): { status: string; why: string } | null {
  const { origin, 'sec-websocket-protocol': asked = '' } = request.headers;
  if ((request.url ?? '').split('?', 1)[0] !== path) return { status: '404 Not Found', why: 'unknown path' };
  if (origin !== undefined && !origins.includes(origin))
    return { status: '403 Forbidden', why: 'origin not allowed' };
  const names = asked.split(',').map((name) => name.trim());
  if (subprotocols.some((name) => names.includes(name))) return null;
  return { status: '400 Bad Request', why: 'subprotocol mqtt not asked for' };
}

type Upgrade = (request: IncomingMessage, head: Buffer, onStream: (stream: Duplex) => void) => void;

/** @param origins such as `https://fleet.example.com`; compared exactly. */
export function createUpgrader(origins: readonly string[], log: Log): Upgrade {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: messageMost,
    handleProtocols: (asked) => subprotocols.find((name) => asked.has(name)) ?? false,
  });
  return (request, head, onStream) => {
    const { socket } = request;
    const refusal = refusalOf(request, origins);
    if (refusal !== null) {
      const origin = (request.headers.origin ?? '').slice(0, 200);
      log.info('websocket_refused', { address: socket.remoteAddress ?? '', origin, reason: refusal.why });
      socket.end(`HTTP/1.1 ${refusal.status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    server.handleUpgrade(request, socket, head, (websocket) => {
      // MQTT-6.0.0-1: a text message is a fault.
      websocket.on('message', (_data, isBinary) => {
        if (!isBinary) websocket.terminate();
      });
      const stream = createWebSocketStream(websocket);
      stream.on('error', () => undefined);
      onStream(stream);
    });
  };
}
