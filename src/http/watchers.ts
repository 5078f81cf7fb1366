import type { ReadStore } from '../projections/port.ts';
import type { Watching } from '../projections/watchings.ts';

/** By job: accounts that watch it besides, and those that have left. */
type Differences = ReadonlyMap<string, { readonly more: readonly string[]; readonly less: readonly string[] }>;

const pageSize = 1000;

const differencesIn = async (model: ReadStore): Promise<Differences> => {
  const found = new Map<string, { more: string[]; less: string[] }>();
  const of = (job: string) => {
    const known = found.get(job) ?? { more: [], less: [] };
    found.set(job, known);
    return known;
  };
  for (let skip = 0; ; skip += pageSize) {
    const { entries, total } = await model.list('watchings', { sort: 'account', order: 1, skip, limit: pageSize });
    for (const { text } of entries) {
      const { account, watched, left } = JSON.parse(text) as Watching;
      for (const job of watched) of(job).more.push(account);
      for (const job of left) of(job).less.push(account);
    }
    if (skip + pageSize >= total) return found;
  }
};

const kept = new WeakMap<ReadStore, { readonly version: number; readonly differences: Promise<Differences> }>();

/** Put together once after each change of who watches what, so that a page of jobs costs a look-up each. */
const differences = (model: ReadStore): Promise<Differences> => {
  const version = model.version('watchings');
  const known = kept.get(model);
  if (known?.version === version) return known.differences;
  const made = differencesIn(model);
  kept.set(model, { version, differences: made });
  made.catch(() => kept.delete(model));
  return made;
};

/** Ids of the accounts that watch a job now; `began` are those from its start. */
export const watchersOf = async (model: ReadStore, job: string, began: readonly string[]): Promise<readonly string[]> => {
  const { more, less } = (await differences(model)).get(job) ?? { more: [], less: [] };
  return [...began.filter((id) => !less.includes(id)), ...more];
};
