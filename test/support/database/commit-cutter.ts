// A stretch of network between a client and a PostgreSQL server's socket that can be cut at the worst moments: just
// before a commit reaches the server, or after the server has carried it out and before its answer arrives.
import { rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface CommitCutter {
  /** What happens to the next commits, first one first. */
  cut(...moments: readonly ('before' | 'after')[]): void;
  /** Commits that were cut. */
  cuts(): number;
  close(): Promise<void>;
}

const socketName = '.s.PGSQL.5432';
/** The server commits meanwhile; its answer is dropped. */
const commitMs = 300;

/** Listens on a socket of its own in `folder`, in front of the one in `serverFolder`. */
export async function startCommitCutter(folder: string, serverFolder: string): Promise<CommitCutter> {
  const plan: ('before' | 'after')[] = [];
  let count = 0;
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(join(serverFolder, socketName));
    let isCut = false;
    let name: string | null = null;
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        near.destroy();
        far.destroy();
        sockets.delete(socket);
      });
    }
    near.on('data', (bytes: Buffer) => {
      // A commit is prepared once in a session, and named afterwards.
      name = /(s\d+)\0COMMIT\0/.exec(bytes.toString('latin1'))?.[1] ?? name;
      if (name !== null && bytes.includes(`\0${name}\0`) && plan.length > 0) {
        count += 1;
        isCut = true;
        if (plan.shift() === 'before') return void near.destroy();
        far.write(bytes);
        void sleep(commitMs).then(() => near.destroy());
        return;
      }
      far.write(bytes);
    });
    far.on('data', (bytes: Buffer) => {
      if (!isCut) near.write(bytes);
    });
  });
  const path = join(folder, socketName);
  await new Promise<void>((resolve) => void server.listen(path, resolve));
  return {
    cut: (...moments) => void plan.push(...moments),
    cuts: () => count,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
      rmSync(path, { force: true });
    },
  };
}
