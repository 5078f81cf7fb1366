import { median } from './compare.ts';
import { cpuSeconds, startProgram } from './processes.ts';
import type { Load, Loaded, Order } from './programs/load.ts';

/** Something that answers HTTP here. */
export type Server = { readonly pid: number; readonly port: number };

/**
 * The load generator with its requests. `run` goes on where the last run against the same server ended, and keeps how
 * busy both sides were, by the name of the contestant.
 */
export const loader = (requests: readonly Uint8Array[]) => {
  const program = startProgram('load');
  program.tell({ requests } satisfies Order);
  const shares = new Map<string, { client: number[]; server: number[] }>();
  const next = new Map<number, number>();

  return {
    run: async (
      name: string,
      { pid, port }: Server,
      load: Omit<Load, 'port' | 'from'>,
    ): Promise<Loaded & { readonly first: number; readonly rate: number }> => {
      const from = next.get(pid) ?? 0;
      const before = cpuSeconds(pid);
      const loaded = await program.ask<Loaded>({ load: { ...load, port, from } } satisfies Order);
      next.set(pid, (from + loaded.count) % requests.length);
      const busy = shares.get(name) ?? { client: [], server: [] };
      shares.set(name, busy);
      busy.client.push(loaded.cpu);
      busy.server.push(((cpuSeconds(pid) - before) / loaded.milliseconds) * 1000);
      return { ...loaded, first: from, rate: (loaded.count / loaded.milliseconds) * 1000 };
    },
    /** How busy both sides were, in words. */
    shares: (): string =>
      [...shares]
        .map(([name, { client, server }]) => {
          const [own, other] = [median(client), median(server)];
          return `${name}: server ${other.toFixed(2)}, load generator ${own.toFixed(2)}${own > 0.95 ? ' (saturated)' : ''}`;
        })
        .join('; '),
    stop: program.stop,
  };
};

export type Loader = ReturnType<typeof loader>;
