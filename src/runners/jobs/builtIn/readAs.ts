import type { Actor } from '../../../domain/engine/core.ts';
import type { Projection } from '../../../projections/engine/define.ts';
import type { reader } from '../../../projections/engine/reader.ts';

/**
 * Reads a document by its id or name, as it is now. Throws `not_found` if there is none that the actor may read, and
 * `conflict` if several have the name.
 */
export type ReadAs = <Doc>(projection: Projection<Doc>, idOrName: string, actor: Actor) => Promise<Doc>;

type Needs = Pick<ReturnType<typeof reader>, 'entry'> & {
  /** Resolves once the read models show all that this node has acknowledged. */
  readonly catchUp: () => Promise<unknown> | undefined;
};

export const readAs =
  ({ entry, catchUp }: Needs): ReadAs =>
  async (projection, idOrName, actor) => {
    await catchUp();
    return JSON.parse((await entry(projection as Projection, idOrName, actor)).text);
  };
