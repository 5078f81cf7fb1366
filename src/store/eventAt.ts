import type { EventStore, StoredEvent } from './port.ts';

/** One event of a stream; undefined if the stream does not have it. */
export const eventAt = async (
  log: Pick<EventStore, 'read'>,
  stream: string,
  revision: number,
): Promise<StoredEvent | undefined> => {
  for await (const events of log.read(stream, revision)) return events.find((event) => event.revision === revision);
  return undefined;
};
