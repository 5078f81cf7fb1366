import { documentIn, pagesOf } from '../../projections/engine/documents.ts';
import type { Page, ReadModel } from '../../projections/engine/port.ts';
import { watchings } from '../../projections/operations-manager/watchings.ts';

/**
 * The jobs that one account has begun or stopped watching. Its document changes with its stream's revision, and becomes
 * shorter when jobs are retired.
 */
type Part = {
  readonly account: string;
  readonly revision: number;
  readonly length: number;
  readonly watched: ReadonlySet<string>;
  readonly leftJobs: ReadonlySet<string>;
};

const watchingOf = (entry: Page['entries'][number]): Part => {
  const { watched, left } = documentIn(watchings, entry);
  const { id: account, revision, text } = entry;
  return { account, revision, length: text.length, watched: new Set(watched), leftJobs: new Set(left) };
};

/** Reads the parts of all accounts. Unchanged parts are taken from `before`. */
const partsIn = async (model: ReadModel, before: Promise<readonly Part[]> | undefined): Promise<readonly Part[]> => {
  const byAccount = new Map((await before?.catch(() => []))?.map((part) => [part.account, part]));
  const parts: Part[] = [];
  for await (const entries of pagesOf(model, watchings, { sort: 'account', order: 1 }))
    for (const entry of entries) {
      const old = byAccount.get(entry.id);
      const isSame = old?.revision === entry.revision && old.length === entry.text.length;
      parts.push(isSame ? old : watchingOf(entry));
    }
  return parts;
};

const cache = new WeakMap<ReadModel, { readonly version: number; readonly parts: Promise<readonly Part[]> }>();

/** The parts of all accounts. They are read once after each change, so that a page of jobs costs look-ups only. */
const partsOf = (model: ReadModel): Promise<readonly Part[]> => {
  const version = model.version(watchings.collection);
  const hit = cache.get(model);
  if (hit?.version === version) return hit.parts;
  const parts = partsIn(model, hit?.parts);
  cache.set(model, { version, parts });
  parts.catch(() => cache.delete(model));
  return parts;
};

/** Ids of the accounts that watch a job now. `began` are the accounts that watched from its start. */
export const watchersOf = async (
  model: ReadModel,
  job: string,
  began: readonly string[],
): Promise<readonly string[]> => {
  const parts = await partsOf(model);
  const leavers = new Set(parts.filter(({ leftJobs }) => leftJobs.has(job)).map(({ account }) => account));
  return [
    ...began.filter((id) => !leavers.has(id)),
    ...parts.filter(({ watched }) => watched.has(job)).map(({ account }) => account),
  ];
};
