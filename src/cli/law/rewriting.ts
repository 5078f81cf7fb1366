import { link, splitType } from '../../store/event.ts';
import { hashIn, linkLength } from '../../store/integrity.ts';
import { partsNamedBy, partsOf } from '../../store/payloads.ts';
import type { Batch, Filter, LogReads, StoredEvent } from '../../store/port.ts';
import { dataWithout, type Forgotten, mayName, metadataWithout } from './forgetting.ts';

/** The whole text that was stored in parts. */
const wholeText = async (log: LogReads, parts: string): Promise<string> => {
  let text = '';
  for await (const events of log.read(parts))
    for (const { data } of events) text += (JSON.parse(data) as { readonly text: string }).text;
  return text;
};

/** The event with its whole data. */
export const wholeEvent = async (log: LogReads, event: StoredEvent): Promise<StoredEvent> => {
  const parts = partsNamedBy(event);
  return parts === undefined ? event : { ...event, data: await wholeText(log, parts) };
};

/** Rewrites the events of a log, one by one, without the names of an account. */
const rewriter = (log: LogReads, about: Forgotten, replaced: ReadonlySet<string>) => {
  // The hashes of streams in which something was replaced. In all others each link is right as it is.
  const hashes = new Map<string, string>();
  const written = new Set<string>();

  const hashBefore = async ({ stream, revision }: StoredEvent): Promise<string> => {
    const known = hashes.get(stream);
    if (known !== undefined || revision === 0) return known ?? '';
    for await (const [before] of log.read(stream, revision - 1)) return (before && hashIn(before.metadata)) ?? '';
    return '';
  };

  /** The parts of data that named the account, and the data that names them. */
  const newParts = async (event: StoredEvent): Promise<[data: string, parts: StoredEvent[]]> => {
    const { source } = splitType(event.type);
    const text = dataWithout(await wholeEvent(log, event), about);
    const { stream, events, reference } = partsOf(source, text);
    const data = JSON.stringify(reference);
    if (written.has(stream)) return [data, []];
    written.add(stream);
    return [data, events.map((part, revision) => ({ ...part, stream, revision, position: event.position }))];
  };

  return async (event: StoredEvent): Promise<readonly StoredEvent[]> => {
    const { stream, metadata } = event;
    const hash = hashIn(metadata);
    if (hash === undefined) {
      if (hashes.has(stream)) hashes.set(stream, '');
      return [event];
    }
    const parts = mayName(stream, about) ? partsNamedBy(event) : undefined;
    const [data, before] =
      parts !== undefined && replaced.has(parts) ? await newParts(event) : [dataWithout(event, about), []];
    const unlinked = `${metadata.slice(0, -linkLength)}}`;
    const open = metadataWithout(unlinked, about);
    if (data === event.data && open === unlinked && !hashes.has(stream)) return [event];
    const linked = link({ ...event, data, metadata: open }, await hashBefore(event));
    hashes.set(stream, linked);
    return [...before, { ...event, data, metadata: `${open.slice(0, -1)},"hash":"${linked}"}` }];
  };
};

/** A log as it is without the names of an account. Reads with a filter are for settings, which name nobody. */
export const withoutNames = <L extends LogReads>(log: L, about: Forgotten, replaced: ReadonlySet<string>): L => ({
  ...log,
  readAll: async function* (after: number, filter?: Filter): AsyncGenerator<Batch> {
    if (filter) {
      yield* log.readAll(after, filter);
      return;
    }
    const rewrite = rewriter(log, about, replaced);
    for await (const { events, position } of log.readAll(after)) {
      const left: StoredEvent[] = [];
      for (const event of events) left.push(...(await rewrite(event)));
      yield { events: left, position };
    }
  },
});
