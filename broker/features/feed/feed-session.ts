// One connection to the target of a feed. What it has acknowledged counts also when the connection ends.
import { AppError } from '../../../src/core/errors.ts';
import type { Cancel, Clock, MqttLink, MqttMessage } from '../../../src/ports.ts';
import type { FeedTarget } from '../../ports/feed-targets.ts';
import type { Publication } from './core/feed-format.ts';

/** A target that acknowledges nothing for this long is dead. */
const silentMs = 30_000;

export interface Sent {
  /** So many, from the first one on, were acknowledged. */
  readonly count: number;
  /** Why it is not all; null: it is. */
  readonly fault: AppError | null;
}

export interface FeedSession {
  isUp(): boolean;
  /** Never rejects; one at a time. */
  send(publications: readonly Publication[]): Promise<Sent>;
  /** Ends it without a farewell, so that the target publishes the last will. */
  end(reason: string): void;
}

/** @throws AppError `unavailable` unless all of it is acknowledged. */
export async function sendAll(session: FeedSession, publications: readonly Publication[]): Promise<void> {
  const { fault } = await session.send(publications);
  if (fault !== null) throw fault;
}

const toMessage = ({ topic, payload, isRetained }: Publication): MqttMessage => ({
  topic,
  payload: new TextEncoder().encode(payload),
  qos: 1,
  retain: isRetained,
});

interface SessionPorts {
  readonly target: FeedTarget;
  readonly clock: Clock;
  /** Ends the session, also while it is being opened. */
  readonly until: AbortSignal;
}

/** @throws AppError `unavailable` when the target cannot be reached or refuses. */
export function openFeedSession(
  { target, clock, until }: SessionPorts,
  { clientID, offline }: { readonly clientID: string; readonly offline: Publication | null },
): Promise<FeedSession> {
  return new Promise((resolve, reject) => {
    const abort = (): void => link.destroy('the service ends');
    let down: AppError | null = null;
    /** Ends what is under way. */
    let fail = (fault: AppError): void => reject(fault);
    const send = (over: MqttLink, publications: readonly Publication[]): Promise<Sent> =>
      new Promise((done) => {
        const isAcknowledged = publications.map(() => false);
        let cancel: Cancel = () => undefined;
        const finish = (fault: AppError | null): void => {
          cancel();
          const first = isAcknowledged.indexOf(false);
          done({ count: first === -1 ? publications.length : first, fault });
        };
        if (down !== null || publications.length === 0) return finish(down);
        fail = finish;
        const watch = (): void => {
          cancel();
          cancel = clock.after(silentMs, () =>
            over.destroy(`no acknowledgement within ${silentMs / 1000} s`),
          );
        };
        watch();
        let left = publications.length;
        const publish = async (publication: Publication, at: number): Promise<void> => {
          await over.publish(toMessage(publication));
          isAcknowledged[at] = true;
          left -= 1;
          if (left === 0) finish(null);
          else watch();
        };
        for (const [at, publication] of publications.entries()) void publish(publication, at);
      });
    const link: MqttLink = target.open(clientID, offline && toMessage(offline), {
      onUp: () =>
        resolve({
          isUp: () => down === null,
          send: (publications) => send(link, publications),
          end: (reason) => link.destroy(reason),
        }),
      // It subscribes to nothing: whatever comes is not for it.
      onMessage: (_message, acknowledge) => acknowledge(),
      onDown(reason) {
        until.removeEventListener('abort', abort);
        down = new AppError('unavailable', reason);
        fail(down);
      },
    });
    if (until.aborted) abort();
    else until.addEventListener('abort', abort);
  });
}
