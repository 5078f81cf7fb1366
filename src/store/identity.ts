import { randomUUID } from 'node:crypto';
import { identityStream } from '@automation-platform/event-log';
import { derivedUuid } from './derivedIds.ts';
import { type EventStore, type NewEvent, WrongRevision } from './port.ts';

/**
 * The one event of `log-identity`. The id of the event depends only on the log's id, so a repeated append stores it
 * once.
 */
export const identityEvent = (id: string, now = new Date()): NewEvent => ({
  id: derivedUuid(`identity of ${id}`),
  type: '@platform/log:logIdentified',
  data: JSON.stringify({ id }),
  metadata: JSON.stringify({ at: now.toISOString() }),
});

/** The id in `log-identity`; undefined when there is none yet. */
export const readIdentity = async (store: Pick<EventStore, 'read'>): Promise<string | undefined> => {
  for await (const events of store.read(identityStream)) {
    for (const { data } of events) return (JSON.parse(data) as { readonly id: string }).id;
  }
  return undefined;
};

/**
 * Returns the log's id from `log-identity`. If there is none, it stores the id of the store, or a new one. If another
 * writer is faster, it returns that writer's id. `now`: epoch milliseconds.
 */
export const ensureIdentity = async (
  store: Pick<EventStore, 'read' | 'append'> & { readonly id?: string },
  now = Date.now,
): Promise<string> => {
  const storedIdentity = await readIdentity(store);
  if (storedIdentity !== undefined) return storedIdentity;
  const id = store.id ?? randomUUID();
  try {
    await store.append(identityStream, -1, [identityEvent(id, new Date(now()))]);
    return id;
  } catch (error) {
    const faster = error instanceof WrongRevision ? await readIdentity(store) : undefined;
    if (faster === undefined) throw error;
    return faster;
  }
};
