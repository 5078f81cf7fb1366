import { type Children, entryOf } from './define.ts';
import { keyOf } from './parked.ts';
import type { Change } from './port.ts';

/** The changes of one document's children since the last drain: first `cleared`, then `docs`, by name. */
type PendingChildren = {
  readonly children: Children;
  readonly id: string;
  cleared: boolean;
  readonly docs: Map<string, { readonly doc: unknown; readonly revision: number }>;
};

/** Collects the changes of children since the last drain. */
export const newPendingChildren = () => {
  const pendingChildren = new Map<string, PendingChildren>();

  const of = (children: Children, id: string): PendingChildren => {
    const key = keyOf(children.collection, id);
    const pending = pendingChildren.get(key) ?? { children, id, cleared: false, docs: new Map() };
    pendingChildren.set(key, pending);
    return pending;
  };

  return {
    of,
    /** Removes all children of the document. */
    clear: (pending: PendingChildren): void => {
      pending.cleared = true;
      pending.docs.clear();
    },
    reset: (): void => pendingChildren.clear(),
    drain: (changes: Change[]): void => {
      for (const { children, id: parent, cleared, docs } of pendingChildren.values()) {
        const { collection } = children;
        if (cleared) changes.push({ collection, id: parent, wholePart: true });
        for (const [name, { doc, revision }] of docs) {
          const id = `${parent}/${name}`;
          changes.push({ collection, id, entry: entryOf(children, id, doc, revision) });
        }
      }
      pendingChildren.clear();
    },
  };
};

export type AllPendingChildren = ReturnType<typeof newPendingChildren>;
