import { RequestError } from '../../domain/engine/requestError.ts';
import { bounded } from '../../domain/engine/secretFields.ts';
import type { Bundle } from '../../domain/prebuilts/prebuiltSchemas.ts';
import {
  matching,
  type Part,
  type Plan,
  type PrebuiltImport,
  type PrebuiltState,
} from '../../domain/prebuilts/prebuilts.ts';
import type { Preparing, Tools } from '../engine/define.ts';
import type { Imports } from '../engine/kinds.ts';

/** The request to install a package, and the installed version of it. */
export type Installing = Pick<Preparing<PrebuiltState, PrebuiltImport>, 'input' | 'state' | 'actor' | 'now' | 'newId'>;

/** The resources as they are after the installation. */
const plannedOf = () => {
  const states = new Map<string, unknown>();
  const ids = new Map<string, string>();
  return {
    add: (
      { collection: { collection }, command: { aggregate } }: Imports,
      id: string,
      name: string,
      state: unknown,
    ): void => {
      states.set(`${aggregate.category}-${id}`, state);
      ids.set(`${collection} ${name}`, id).set(`${collection}/${id}`, id);
    },
    /** Tools that show the platform after the installation, because documents of a package may refer to each other. */
    within: (tools: Tools): Tools => ({
      ...tools,
      state: async (aggregate, id) =>
        (states.get(`${aggregate.category}-${id}`) as never) ?? tools.state(aggregate, id),
      find: async (of, idOrName) => {
        const { collection } = of;
        const known = ids.get(`${collection}/${idOrName}`) ?? ids.get(`${collection} ${idOrName}`);
        if (known !== undefined) return known;
        const id = await tools.find(of, idOrName);
        // If the package contains the document, it gives the document another name.
        return ids.has(`${collection}/${id}`) ? undefined : id;
      },
    }),
  };
};

/**
 * The streams and names of the documents. `reserve` throws `invalid` if another document of the package has one of
 * them; `release` gives up those of a document that is refused.
 */
const reservations = () => {
  const taken = new Map<string, number>();
  return {
    reserve: (index: number, keys: readonly string[]): void => {
      for (const key of keys) {
        const earlier = taken.get(key);
        if (earlier !== undefined && earlier !== index)
          throw new RequestError(
            'invalid',
            `The documents of bundles ${earlier} and ${index} have an id or name in common`,
          );
        taken.set(key, index);
      }
    },
    release: (index: number): void => {
      for (const [key, holder] of taken) if (holder === index) taken.delete(key);
    },
  };
};

/** An unfinished plan. Each document adds to it. */
export const newDraft = (request: Installing, given: Tools) => {
  const tools = { ...given, seal: bounded(given.seal) };
  const planned = plannedOf();
  return {
    request,
    tools,
    /** The tools as they are after the installation. */
    world: planned.within(tools),
    add: planned.add,
    ...reservations(),
    installedAs: matching(request.state),
    sealed: [...request.input.prebuilt.bundles] as Bundle[],
    parts: [] as Part[],
    removed: [] as Plan['removed'][number][],
    /** By index of the document in the package. */
    installed: [] as (Plan['installed'][number] | undefined)[],
  };
};

export type Draft = ReturnType<typeof newDraft>;

/** Throws `conflict` if another document than the one with the id has the name. */
export const onlyFor = (id: string, holder: string | undefined, name: string, path = '/name'): void => {
  if (holder !== undefined && holder !== id)
    throw new RequestError('conflict', `The name ${JSON.stringify(name)} is taken`, { path });
};
