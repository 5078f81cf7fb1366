import type { Aggregate } from '../../domain/engine/core.ts';
import type { NameState } from '../../domain/engine/names.ts';
import { splitStream } from '../../store/event.ts';
import { claimsOn } from './claims.ts';
import type { Streams } from './streams.ts';

/** A resource as a path names it: by id or name, and below its parent (`within`) if the name is unique only there. */
export type Called = { readonly aggregate: Aggregate; readonly idOrName: string; readonly within?: Called };

/**
 * Finds the resource of a request that is sent again under its Idempotency-Key. Meanwhile the resource may be deleted
 * or renamed, and another one may have its old name. So every resource that ever had the name is searched for the key.
 */
export const retries = (streams: Streams) => {
  const answered = async ({ category }: Aggregate, id: string, key: string): Promise<boolean> =>
    (await streams.refresh(`${category}-${id}`)).keys.has(key);

  /**
   * The ids that an id or a name may have stood for: the text itself as id, then all that ever had the name, the latest
   * first.
   */
  const everMeant = async (aggregate: Aggregate, idOrName: string, parent?: string): Promise<readonly string[]> => {
    const name = { kind: aggregate.category, name: idOrName };
    const { state } = await streams.refresh(claimsOn(parent === undefined ? name : { ...name, parent }));
    const bearers = (state as NameState).bearers
      .map(splitStream)
      .filter(({ category }) => category === aggregate.category);
    return [idOrName, ...bearers.map(({ id }) => id)];
  };

  return {
    /** True if the resource has carried out the request with this key. */
    answered,
    /** The ids of all resources that have carried out a request with the key, which called them by the name. */
    all: async (aggregate: Aggregate, name: string, key: string): Promise<readonly string[]> => {
      const ids: string[] = [];
      for (const id of new Set(await everMeant(aggregate, name))) if (await answered(aggregate, id, key)) ids.push(id);
      return ids;
    },
    /** The id of the resource that has carried out the request; undefined if none has. */
    find: async ({ aggregate, idOrName, within }: Called, key: string): Promise<string | undefined> => {
      const parents = within ? await everMeant(within.aggregate, within.idOrName) : [undefined];
      for (const parent of parents)
        for (const id of await everMeant(aggregate, idOrName, parent))
          if (await answered(aggregate, id, key)) return id;
      return undefined;
    },
  };
};

export type Retries = ReturnType<typeof retries>;
