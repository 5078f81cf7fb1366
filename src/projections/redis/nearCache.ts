import type { Checkpoint, CollectionSpec } from '../engine/port.ts';
import type { Indexed } from '../index/collectionIndex.ts';
import { type Collections, collections, type IndexChange } from '../index/collections.ts';

/** The state of a store. Positions of different epochs cannot be compared. */
export type State = Checkpoint & { readonly epoch: string };

/** The answers of the script `follow` and of HSCAN (redisScripts.ts). */
export type Source = {
  readonly follow: (epoch: string, from: number) => Promise<Following | null>;
  readonly scan: (cursor: string) => Promise<readonly [cursor: string, fieldsAndRests: readonly string[]]>;
};
export type Following = readonly [
  position: string,
  event: string,
  notices: readonly (readonly [id: string, pair: readonly [string, string]])[],
];

/** The indexes of all documents in Redis, and their state. */
export type NearCache = {
  readonly collections: Collections<Indexed>;
  at(): State | undefined;
  /** Loads everything. Changes that are written meanwhile may be in it or not; `follow` applies them afterwards. */
  load(state: State): Promise<void>;
  /**
   * Applies the changes that were written since. Resolves to false if the notices do not tell them all, or if another
   * epoch began.
   */
  follow(): Promise<boolean>;
  /** Applies the changes if the near cache is still at `state`. */
  advance(state: State, changes: readonly IndexChange<Indexed>[], to: Checkpoint): void;
};

/** Stands in a notice in place of the rest of an entry: all documents of the part that the field names were removed. */
const wholePart = '*';

/** The change that a notice or a field of the index describes. A `rest` of '' means that the document was removed. */
const changeOf = (field: string, rest: string): IndexChange<Indexed> => {
  const slash = field.indexOf('/');
  const id = field.slice(slash + 1);
  const collection = field.slice(0, slash);
  if (rest === wholePart) return { collection, id, wholePart: true };
  if (rest === '') return { collection, id };
  return { collection, id, entry: JSON.parse(rest) as Indexed };
};

export const nearCache = (specs: readonly CollectionSpec[], source: Source): NearCache => {
  const indexes = collections<Indexed>(specs);
  let at: State | undefined;
  let following: Promise<boolean> | undefined;

  const advance = (state: State, changes: readonly IndexChange<Indexed>[], to: Checkpoint): void => {
    if (at !== state) return;
    indexes.apply(changes);
    at = { ...to, epoch: state.epoch };
  };

  const catchUp = async (): Promise<boolean> => {
    const state = at;
    const answer = state && (await source.follow(state.epoch, state.position + 1));
    if (!answer) return false;
    const [position, event, notices] = answer;
    let lastPosition = state.position;
    const changes: IndexChange<Indexed>[] = [];
    for (const [id, [field, rest]] of notices) {
      if (!id.endsWith('-0')) changes.push(changeOf(field, rest));
      else if (Number(rest) === lastPosition) lastPosition = Number(id.slice(0, -2));
      else return false;
    }
    if (lastPosition !== Number(position)) return false;
    if (lastPosition !== state.position) advance(state, changes, { position: lastPosition, event });
    return true;
  };

  return {
    collections: indexes,
    at: () => at,
    async load(state) {
      const found = new Map<string, IndexChange<Indexed>>();
      let cursor = '0';
      do {
        const [next, pairs] = await source.scan(cursor);
        let field: string | undefined;
        for (const text of pairs) {
          if (field === undefined) field = text;
          else {
            found.set(field, changeOf(field, text));
            field = undefined;
          }
        }
        cursor = next;
      } while (cursor !== '0');
      indexes.reset([...found.values()]);
      at = state;
    },
    follow: () =>
      (following ??= catchUp().finally(() => {
        following = undefined;
      })),
    advance,
  };
};
