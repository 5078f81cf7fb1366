import assert from 'node:assert/strict';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { note } from '../cluster.ts';
import { killedAt } from '../killing.ts';
import { type Server, startServer } from '../process.ts';

export const fsyncs = 'fsync,fdatasync';
const soak = process.env.SOAK_ROUNDS !== undefined;

type Steps = {
  /** The system calls at which a process is killed. */
  readonly calls?: string;
  /** How many calls lie between one kill and the next; in the soak tests each call is tried. */
  readonly apart?: (n: number) => number;
};

/**
 * Kills processes at their first call, and at later ones, until one outlives the work. `round` starts a process with this
 * limit, asserts what it leaves, and returns true if the process came to the end of its work.
 */
export const sweepKills = async (
  round: (n: number, limit: string) => Promise<boolean>,
  { calls = fsyncs, apart = () => 4 }: Steps = {},
): Promise<void> => {
  let kills = 0;
  for (let n = 1; !(await round(n, killedAt(calls, n))); n += soak ? 1 : apart(n)) kills++;
  assert.ok(kills > 0, `no kill at ${calls}`);
  note(`${kills} kills at ${calls}`);
};

type Work = Steps & {
  /** Holds the folder `base`, which each round copies to `data`. */
  readonly folder: string;
  readonly base?: string;
  readonly settings?: Record<string, string> | (() => Promise<Record<string, string>>);
  /** Does the work until the service dies. Returns true once it is done. */
  readonly use: (killed: Server, n: number) => Promise<boolean>;
  /** Asserts what the next service makes of it; `isDone` is what `use` returned, false where the service did not start. */
  readonly look: (next: Server, isDone: boolean, n: number) => Promise<void>;
};

/** Kills a service at its calls while it does a work, and looks at what the next service on the same data shows. */
export const sweepServiceKills = async ({ folder, base = 'base', settings = {}, use, look, ...steps }: Work) => {
  const data = join(folder, 'data');
  let server: Server | undefined;
  try {
    await sweepKills(async (n, limit) => {
      rmSync(data, { recursive: true, force: true });
      cpSync(join(folder, base), data, { recursive: true });
      const own = typeof settings === 'function' ? await settings() : settings;
      const killed = await startServer(data, own, limit).catch(() => undefined);
      server = killed;
      const isDone = killed !== undefined && (await use(killed, n));
      const lived = isDone && killed.child.exitCode === null && killed.child.signalCode === null;
      await killed?.stop('SIGKILL');
      const next = await startServer(data, own);
      server = next;
      await look(next, isDone, n);
      await next.stop();
      return lived;
    }, steps);
  } finally {
    await server?.stop('SIGKILL');
  }
};
