import { randomUUID } from 'node:crypto';
import { type EventStore, type NewEvent, WrongRevision } from './port.ts';
import { derivedUuid } from './uuid.ts';

/**
 * The stream that carries the id of the log it is in, so that whoever reads the log over the network can tell two
 * apart.
 */
export const identityStream = 'log-identity';

/** The one event of `log-identity`. The same id gives the same event id: storing it again is storing it once. */
export const identityEvent = (id: string, now = new Date()): NewEvent => ({
  id: derivedUuid(`identity of ${id}`),
  type: '@platform/log:logIdentified',
  data: JSON.stringify({ id }),
  metadata: JSON.stringify({ at: now.toISOString() }),
});

/** The id that `log-identity` carries, undefined when it has none yet. */
export const readIdentity = async (store: Pick<EventStore, 'read'>): Promise<string | undefined> => {
  for await (const events of store.read(identityStream)) {
    for (const { data } of events) return (JSON.parse(data) as { readonly id: string }).id;
  }
  return undefined;
};

/** The log's id in the stream `log-identity`. Without one, `id` is stored, unless another writer is faster. */
export const ensureIdentity = async (
  store: Pick<EventStore, 'read' | 'append'> & { readonly id?: string },
): Promise<string> => {
  const known = await readIdentity(store);
  if (known !== undefined) return known;
  const id = store.id ?? randomUUID();
  try {
    await store.append(identityStream, -1, [identityEvent(id)]);
    return id;
  } catch (error) {
    const faster = error instanceof WrongRevision ? await readIdentity(store) : undefined;
    if (faster === undefined) throw error;
    return faster;
  }
};
