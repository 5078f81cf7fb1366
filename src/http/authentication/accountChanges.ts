import { type EventNotice, splitStream } from '../../store/event.ts';

type Needs = {
  /** Resolves once the read models show `least` and all that this node has acknowledged. */
  readonly settled: (least?: number) => Promise<void> | undefined;
  /** Called when the read models have advanced and `onShown` was not called for each event. */
  readonly onUntold: () => void;
};

const concerningAccounts = new Set(['account', 'group', 'role']);

/** Categories of the streams whose events change who may log in, or what they may do. */
export const concerning = new Set([...concerningAccounts, 'groupMapping', 'login']);

/**
 * Keeps two positions: up to which changes of accounts, groups, roles and group mappings are stored in the log, and up
 * to which this node has shown them. Between the two, cached accounts may be out of date.
 */
export const accountChanges = ({ settled, onUntold }: Needs) => {
  let stored = 0;
  let storedMappings = 0;
  let shown = 0;

  return {
    /** True if changes of accounts, groups or roles are stored and not yet shown. */
    awaited: (): boolean => stored > shown,
    /** True if changes of group mappings are stored and not yet shown. */
    mappingsAwaited: (): boolean => storedMappings > shown,
    /**
     * Waits until the read models show all changes of accounts that the log had at the start or this node has stored
     * since.
     */
    upToDate: async (): Promise<void> => {
      const target = Math.max(stored, storedMappings);
      await settled(target);
      if (target <= shown) return;
      onUntold();
      shown = target;
    },
    /** Call with each event as soon as it is stored. */
    onStored: ({ stream, position }: EventNotice): void => {
      const { category } = splitStream(stream);
      if (concerningAccounts.has(category)) stored = Math.max(stored, position);
      if (category === 'groupMapping') storedMappings = Math.max(storedMappings, position);
    },
    /** Call with each event once its documents can be read. */
    onShown: ({ position }: EventNotice): void => {
      shown = position;
    },
  };
};

export type AccountChanges = ReturnType<typeof accountChanges>;
