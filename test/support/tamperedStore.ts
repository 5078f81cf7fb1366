import { type Batch, type EventStore, type StoredEvent, TamperedStream } from '../../src/store/port.ts';

/**
 * `cut`: where the stream begins now; Infinity: it was deleted. `scavenged`: what is before that is gone from the log,
 * too.
 */
type Touch = { readonly cut: number; readonly scavenged: boolean };

/**
 * A log in which somebody else touches streams, as users of EventStoreDB can: a store as its adapter shows it. An
 * append that is to begin a stream which was deleted lands behind the events that it had.
 */
export const touchedStore = (store: EventStore) => {
  const touches = new Map<string, Touch>();

  const isGone = ({ stream, revision }: StoredEvent): boolean => {
    const touch = touches.get(stream);
    return touch !== undefined && touch.scavenged && revision < touch.cut;
  };
  const left = async function* (batches: AsyncIterable<Batch>): AsyncGenerator<Batch> {
    for await (const batch of batches) yield { ...batch, events: batch.events.filter((event) => !isGone(event)) };
  };
  const endOf = async (stream: string): Promise<number> => {
    let last = -1;
    for await (const events of store.read(stream)) last = events.at(-1)!.revision;
    return last;
  };

  return {
    cut: (stream: string, cut: number): void => void touches.set(stream, { cut, scavenged: false }),
    remove: (stream: string): void => void touches.set(stream, { cut: Infinity, scavenged: false }),
    scavenge: (): void => {
      for (const [stream, { cut }] of touches) touches.set(stream, { cut, scavenged: true });
    },
    mend: (stream: string): void => void touches.delete(stream),
    store: {
      ...store,
      append: async (stream, expected, events) => {
        const touch = touches.get(stream);
        if (touch?.cut !== Infinity || expected !== -1) return store.append(stream, expected, events);
        const { revision } = await store.append(stream, await endOf(stream), events);
        throw new TamperedStream(stream, `took an append at revision ${revision} that was to begin it`);
      },
      read: async function* (stream, from = 0) {
        const { cut = 0 } = touches.get(stream) ?? {};
        if (cut === Infinity) throw new TamperedStream(stream, 'was deleted');
        if (cut > from) throw new TamperedStream(stream, `begins at revision ${cut}`);
        yield* store.read(stream, from);
      },
      readAll: (after, filter) => left(store.readAll(after, filter)),
      follow: (after, filter, signal) => left(store.follow(after, filter, signal)),
      at: async (position) => {
        const event = await store.at(position);
        return event && isGone(event) ? undefined : event;
      },
    } satisfies EventStore,
  };
};
