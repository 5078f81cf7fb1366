import { lruCache } from '@automation-platform/concurrency';
import type { Aggregate } from '../../domain/engine/core.ts';
import { defined } from '../../domain/engine/defined.ts';
import type { NameState } from '../../domain/engine/names.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import type { TamperedStreams } from '../../store/tampered.ts';
import { claimsOn } from './claims.ts';
import type { Streams } from './streams.ts';

const mostKnown = 10_000;

/** Answers requests with an error where read models show, or lack, data because another program has tampered with a stream. */
export const tamperedGuard = (streams: Streams, tampered: TamperedStreams) => {
  const notThere = lruCache<true>(mostKnown);

  const bearerOf = async (
    { category: kind }: Aggregate,
    name: string,
    parent: string | undefined,
  ): Promise<string | undefined> => {
    const { state } = await streams.load(claimsOn(defined({ kind, name, parent })));
    return (state as NameState).claim?.owner;
  };

  const look = async (aggregate: Aggregate, idOrName: string, parent: string | undefined): Promise<void> => {
    await streams.load(`${aggregate.category}-${idOrName}`);
    const bearer = await bearerOf(aggregate, idOrName, parent);
    if (bearer !== undefined) await streams.load(bearer);
  };

  return {
    /** Throws if this node knows that the document's stream is tampered. */
    refuseTampered: async ({ category }: Aggregate, id: string): Promise<void> => {
      const stream = `${category}-${id}`;
      if (tampered.has(stream)) await streams.load(stream);
    },
    /**
     * Throws if a missing document may be missing because its stream is tampered. After a scavenge of EventStoreDB,
     * rebuilt read models lack streams that were deleted in it. Reads the log, once for each name.
     */
    refuseLost: async (aggregate: Aggregate, idOrName: string, parent?: string): Promise<void> => {
      const key = JSON.stringify([aggregate.category, idOrName, parent]);
      if (notThere.has(key) && !tampered.has(`${aggregate.category}-${idOrName}`)) return;
      await look(aggregate, idOrName, parent).catch((error: unknown) => {
        // An event that cannot be read is no loss: if the document exists, it is parked.
        if (!(error instanceof RequestError && error.code === 'internal')) throw error;
      });
      notThere.set(key, true);
    },
  };
};

export type TamperedGuard = ReturnType<typeof tamperedGuard>;
