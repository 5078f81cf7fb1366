import { randomUUID } from 'node:crypto';
import { createClient } from 'redis';
import { projections } from '../../src/projections/all.ts';
import type { ReadStore } from '../../src/projections/engine/port.ts';
import { collectionsOf } from '../../src/projections/engine/projector.ts';
import { runProjections } from '../../src/projections/engine/run.ts';
import { collections } from '../../src/projections/index/collections.ts';
import { memoryReadStore } from '../../src/projections/index/memory.ts';
import { redisReadStore } from '../../src/projections/redis/redis.ts';
import { redisStep } from '../../src/projections/redis/redisConnection.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';

// A whole log projected into an empty Redis: a process of its own for each measurement, which takes one order.

export type Projecting = { readonly by: 'projections' | 'batches'; readonly file: string; readonly url: string };

const catchUp = 5000;
const specs = collectionsOf(projections);

/** Projects the whole log into read models. Milliseconds. */
const project = async (file: string, model: ReadStore): Promise<number> => {
  const store = await openSqliteStore({ file });
  const start = performance.now();
  const run = runProjections({
    store,
    model,
    projections,
    catchUp,
    log: (message, about) => process.stderr.write(`${message} ${JSON.stringify(about)}\n`),
  });
  run.start();
  await run.reached(await store.head(), 600_000);
  const took = performance.now() - start;
  await run.stop();
  await model.close();
  await store.close();
  return took;
};

const byProjections = (file: string, url: string): Promise<number> =>
  project(file, redisReadStore({ url, prefix: randomUUID(), collections: specs }));

/** The batches that a projection writes, as the commands that write them. */
const batchesOf = async (file: string): Promise<readonly (readonly (readonly string[])[])[]> => {
  const batches: (readonly string[])[][] = [];
  const memory = memoryReadStore({ collections: specs });
  const nothing = collections<never>(specs);
  await project(file, {
    ...memory,
    apply: (changes, from, to) => {
      const [written, , , ...values] = redisStep(changes, nothing);
      const documents = Array.from(
        { length: Number(written) },
        (_, n) => values.slice(3 * n, 3 * n + 3) as [field: string, text: string, rest: string],
      );
      batches.push([
        ...documents.flatMap(([field, text, rest], n) => [
          ['HSET', 'texts', field, text],
          ['HSET', 'index', field, rest],
          ['XADD', 'notices', `${to.position}-${n + 1}`, field, rest],
        ]),
        ['XTRIM', 'notices', 'MAXLEN', '~', '10000'],
        ['HSET', 'meta', 'position', String(to.position), 'event', to.event],
      ]);
      return memory.apply(changes, from, to);
    },
  });
  return batches;
};

/** The same batches, each a MULTI, one after the other. Milliseconds. */
const byBatches = async (file: string, url: string): Promise<number> => {
  const batches = await batchesOf(file);
  const prefix = `{${randomUUID()}}:`;
  const client = createClient({ url });
  await client.connect();
  const start = performance.now();
  for (const batch of batches) {
    const multi = client.multi();
    for (const [name, key, ...rest] of batch) multi.addCommand([name!, prefix + key, ...rest]);
    await multi.exec();
  }
  const took = performance.now() - start;
  client.destroy();
  return took;
};

process.on('message', async ({ by, file, url }: Projecting) => {
  process.send!(await (by === 'projections' ? byProjections : byBatches)(file, url));
});
