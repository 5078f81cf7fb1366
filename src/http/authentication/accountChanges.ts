import { type EventNotice, splitStream } from '../../store/event.ts';

type Needs = {
  /** Resolves once the read models show all that this node has acknowledged, and the position. */
  readonly settled: (least?: number) => Promise<void> | undefined;
  /** Called when the read models have got further without telling of each event. */
  readonly onUntold: () => void;
};

const concerningAccounts = new Set(['account', 'group', 'role']);

/** The categories of the streams whose events change who may log in, or what they may do. */
export const concerning = new Set([...concerningAccounts, 'groupMapping', 'login']);

/**
 * Up to where changes of accounts and what belongs to them are stored in the log, and up to where they have been shown
 * here. In between, what is known of accounts may be from before.
 */
export const accountChanges = ({ settled, onUntold }: Needs) => {
  let stored = 0;
  let storedMappings = 0;
  let shown = 0;

  return {
    /** Whether changes of accounts, groups or roles are stored that have not been shown. */
    awaited: (): boolean => stored > shown,
    /** The same of group mappings. */
    mappingsAwaited: (): boolean => storedMappings > shown,
    /**
     * Waits until the read models know all accounts: those of the log at the start, and what this node has stored
     * since.
     */
    upToDate: async (): Promise<void> => {
      const target = Math.max(stored, storedMappings);
      await settled(target);
      if (target <= shown) return;
      onUntold();
      shown = target;
    },
    /** To be told of an event as soon as it is stored. */
    onStored: ({ stream, position }: EventNotice): void => {
      const { category } = splitStream(stream);
      if (concerningAccounts.has(category)) stored = Math.max(stored, position);
      if (category === 'groupMapping') storedMappings = Math.max(storedMappings, position);
    },
    /** To be told of the same event once its documents are readable. */
    onShown: ({ position }: EventNotice): void => {
      shown = position;
    },
  };
};

export type AccountChanges = ReturnType<typeof accountChanges>;
