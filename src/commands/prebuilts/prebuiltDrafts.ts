import { RequestError } from '../../domain/engine/requestError.ts';
import { bounded } from '../../domain/engine/secretFields.ts';
import type { Part } from '../../domain/prebuilts/parts.ts';
import type { Bundle } from '../../domain/prebuilts/prebuiltSchemas.ts';
import type { Plan, Refused } from '../../domain/prebuilts/prebuilts.ts';
import type { Preparing, Tools } from '../engine/define.ts';
import type { Imports } from '../engine/kinds.ts';

/** The request to install several documents at once. */
export type Installing = Pick<Preparing<unknown, unknown>, 'actor' | 'now' | 'newId'> & {
  readonly bundles: readonly Bundle[];
  readonly overwrite: boolean;
  /** The installed versions of a document: a masked secret keeps its value from there. Called once for each, in order. */
  readonly installedAs: (bundle: Bundle, index: number) => readonly Bundle['data'][];
  /** An id for a document that has none, if its name is free; one is made unless this gives it. */
  readonly freshId?: (index: number) => string | undefined;
  /** How documents with documents in them are planned, by their category. */
  readonly plans?: Readonly<Record<string, (draft: Draft, bundle: Bundle, index: number) => Promise<void>>>;
  /** JSON pointer to a document in the request. */
  readonly pathOf: (index: number) => string;
};

/** A resource as it is after the installation. */
type Added = {
  readonly kind: Pick<Imports, 'collection' | 'command'>;
  readonly id: string;
  readonly name: string;
  readonly state: unknown;
};

/** The resources as they are after the installation. */
const plannedOf = () => {
  const states = new Map<string, unknown>();
  const ids = new Map<string, string>();
  const added: Added[] = [];
  return {
    added,
    add: (one: Added): void => {
      const { kind, id, name, state } = one;
      const [{ collection }, { aggregate }] = [kind.collection, kind.command];
      added.push(one);
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
        const own = ids.get(`${collection}/${idOrName}`) ?? ids.get(`${collection} ${idOrName}`);
        if (own !== undefined) return own;
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
  const holders = new Map<string, number>();
  return {
    reserve: (index: number, keys: readonly string[]): void => {
      for (const key of keys) {
        const earlier = holders.get(key);
        if (earlier !== undefined && earlier !== index)
          throw new RequestError(
            'invalid',
            `The documents of bundles ${earlier} and ${index} have an id or name in common`,
          );
        holders.set(key, index);
      }
    },
    reserved: (): readonly string[] => [...holders.keys()],
    release: (index: number): void => {
      for (const [key, holder] of holders) if (holder === index) holders.delete(key);
    },
  };
};

/** An unfinished plan. Each document adds to it. */
export const newDraft = (request: Installing, outer: Tools) => {
  const tools = { ...outer, seal: bounded(outer.seal) };
  const planned = plannedOf();
  return {
    request,
    tools,
    /** The tools as they are after the installation. */
    world: planned.within(tools),
    add: planned.add,
    added: planned.added,
    ...reservations(),
    sealed: [...request.bundles] as Bundle[],
    parts: [] as Part[],
    removed: [] as Plan['removed'][number][],
    /** By index of the document in the package. */
    installed: [] as (Plan['installed'][number] | undefined)[],
    /** The components of the projects among the documents: those that are installed, and those that are not. */
    components: { installed: [] as Plan['installed'][number][], refused: [] as Refused[] },
  };
};

export type Draft = ReturnType<typeof newDraft>;

/** Throws `conflict` if another document than the one with the id has the name. */
export const onlyFor = (id: string, holder: string | undefined, name: string, path = '/name'): void => {
  if (holder !== undefined && holder !== id)
    throw new RequestError('conflict', `The name ${JSON.stringify(name)} is taken`, { path });
};
