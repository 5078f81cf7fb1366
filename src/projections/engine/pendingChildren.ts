import { type Children, entryOf } from './define.ts';
import { keyOf } from './parked.ts';
import type { Change } from './port.ts';

/** What has become of the children of one document since the last drain: `docs` by name, after `cleared`. */
type PendingChildren = {
  readonly children: Children;
  readonly id: string;
  cleared: boolean;
  readonly docs: Map<string, { readonly doc: unknown; readonly revision: number }>;
};

/** What has become of the children of documents since the last drain. */
export const newBroods = () => {
  const broods = new Map<string, PendingChildren>();

  const of = (children: Children, id: string): PendingChildren => {
    const key = keyOf(children.collection, id);
    const brood = broods.get(key) ?? { children, id, cleared: false, docs: new Map() };
    broods.set(key, brood);
    return brood;
  };

  return {
    of,
    /** Removes all children of the document. */
    clear: (brood: PendingChildren): void => {
      brood.cleared = true;
      brood.docs.clear();
    },
    reset: (): void => broods.clear(),
    drain: (changes: Change[]): void => {
      for (const { children, id: parent, cleared, docs } of broods.values()) {
        const { collection } = children;
        if (cleared) changes.push({ collection, id: parent, wholePart: true });
        for (const [name, { doc, revision }] of docs) {
          const id = `${parent}/${name}`;
          changes.push({ collection, id, entry: entryOf(children, id, doc, revision) });
        }
      }
      broods.clear();
    },
  };
};

export type Broods = ReturnType<typeof newBroods>;
