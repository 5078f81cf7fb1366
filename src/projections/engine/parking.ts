import { cut } from '@automation-platform/json';
import type { Log } from '../../concurrency/log.ts';
import { nameOf } from './define.ts';
import type { StreamDocuments } from './documentsByStream.ts';
import { keyOf, parkedEntry, parkedSpec } from './parked.ts';
import type { AllPendingChildren } from './pendingChildren.ts';
import type { Change, Entry } from './port.ts';

const longestReason = 300;

/** Keeps the keys of parked documents and the reasons. */
export const newParking = (pendingChildren: AllPendingChildren, log: Log) => {
  const parked = new Map<string, string>();
  const newlyParked = new Map<string, Entry>();

  return {
    /** The reasons by key. */
    parked: parked as ReadonlyMap<string, string>,
    /** Removes a stream's documents and their children from their collections, and records the reason. */
    park: ({ stream, docs }: StreamDocuments, fault: string, more?: { readonly touched: true }): void => {
      const reason = cut(fault, longestReason);
      log('The documents of a stream are parked', { stream, reason });
      for (const one of docs) {
        const { projection, id, doc } = one;
        const document = keyOf(projection.collection, id);
        const name = doc === undefined ? id : nameOf(projection, doc);
        parked.set(document, reason);
        newlyParked.set(
          document,
          parkedEntry(
            { document, stream, reason, ...more },
            keyOf(projection.collection, name),
            doc === undefined ? undefined : projection.guard?.(doc),
          ),
        );
        one.doc = undefined;
        one.changed = true;
        if (projection.children) pendingChildren.clear(pendingChildren.of(projection.children, id));
      }
    },
    reset: (before: ReadonlyMap<string, string>): void => {
      newlyParked.clear();
      parked.clear();
      for (const [key, reason] of before) parked.set(key, reason);
    },
    drain: (changes: Change[]): void => {
      for (const [id, entry] of newlyParked) changes.push({ collection: parkedSpec.name, id, entry });
      newlyParked.clear();
    },
  };
};
