import '../../process/soundJson.ts';
import { parentPort, workerData } from 'node:worker_threads';
import type { ForeignSources } from '../../domain/sources.ts';
import { openLogToRead } from '../../store/open.ts';
import { withPayloads } from '../../store/payloads.ts';
import type { LogUrl } from '../../store/url.ts';
import type { Entry } from '../engine/port.ts';
import { foldLog, isProjected } from '../foldLog.ts';

/** `foreign`: the sources of other programs' events that count; all unless given. */
export type FoldWork = { readonly log: LogUrl; readonly foreign?: ForeignSources | undefined };

/** A question to the worker. Each has one answer, in order. */
export type Question =
  /** Fold up to a position. */
  | { readonly foldTo: number }
  /** Give the next documents of all, `[]` after the last. */
  | { readonly next: number }
  /** Give the documents with these ids. */
  | { readonly these: readonly (readonly [collection: string, id: string])[] }
  /** How many documents each collection has. */
  | { readonly count: true };

/** A document of a collection; undefined if there is none with the id. */
export type Folded = readonly [collection: string, id: string, entry: Entry | undefined];

export type FoldAnswer =
  | { readonly done: true }
  | { readonly documents: readonly Folded[] }
  | { readonly counts: Readonly<Record<string, number>> }
  | { readonly failed: string };

const begin = async ({ log: at, foreign }: FoldWork): Promise<(question: Question) => Promise<FoldAnswer>> => {
  const log = withPayloads(await openLogToRead(at, () => undefined), isProjected);
  const { model, foldTo } = await foldLog(log, { foreign });
  let all: Iterator<readonly [string, Entry]> | undefined;

  const next = (count: number): readonly Folded[] => {
    all ??= model.entries()[Symbol.iterator]();
    const documents: Folded[] = [];
    while (documents.length < count) {
      const one = all.next();
      if (one.done === true) break;
      const [collection, entry] = one.value;
      documents.push([collection, entry.id, entry]);
    }
    return documents;
  };

  return async (question) => {
    if ('foldTo' in question) {
      await foldTo(question.foldTo);
      return { done: true };
    }
    if ('next' in question) return { documents: next(question.next) };
    if ('these' in question) {
      const found = question.these.map(
        async ([collection, id]) => [collection, id, await model.get(collection, id)] as const,
      );
      return { documents: await Promise.all(found) };
    }
    const counts: Record<string, number> = {};
    for (const [collection] of model.entries()) counts[collection] = (counts[collection] ?? 0) + 1;
    return { counts };
  };
};

const working = begin(workerData as FoldWork);
parentPort?.on('message', (question: Question) => {
  void working
    .then((answer) => answer(question))
    .catch((error: unknown): FoldAnswer => ({ failed: error instanceof Error ? error.message : String(error) }))
    .then((answer) => parentPort?.postMessage(answer));
});
