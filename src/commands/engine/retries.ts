import type { Aggregate } from '../../domain/engine/core.ts';
import type { NameState } from '../../domain/engine/names.ts';
import { splitStream } from '../../store/event.ts';
import { claimsOn } from './claims.ts';
import type { Streams } from './streams.ts';

/** What a path says of a resource: its id or name, and where names are unique within a parent, that one's. */
export type Called = { readonly aggregate: Aggregate; readonly idOrName: string; readonly within?: Called };

/**
 * Finds what a request was about that is sent again under its Idempotency-Key. By then the resource may be gone or have
 * another name, and another resource may have the old one: so all that ever bore the name are asked for the key.
 */
export const retries = (streams: Streams) => {
  const answered = async ({ category }: Aggregate, id: string, key: string): Promise<boolean> =>
    (await streams.refresh(`${category}-${id}`)).keys.has(key);

  /** Ids that an id or a name has ever meant: itself, then the latest bearers. */
  const everMeant = async (aggregate: Aggregate, idOrName: string, parent?: string): Promise<readonly string[]> => {
    const name = { kind: aggregate.category, name: idOrName };
    const { state } = await streams.refresh(claimsOn(parent === undefined ? name : { ...name, parent }));
    const bearers = (state as NameState).bearers
      .map(splitStream)
      .filter(({ category }) => category === aggregate.category);
    return [idOrName, ...bearers.map(({ id }) => id)];
  };

  return {
    /** Whether a resource has carried out the request with this key. */
    answered,
    /** The id of the resource that has carried it out; undefined: none of those that the path can have meant. */
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
