import { isForeign, unwrapForeign, wrapForeign } from './foreign.ts';
import type { EventStore, NewEvent, StoredEvent } from './port.ts';
import { utf8 } from './utf8.ts';

/** The text if it is one of JSON. */
const jsonIn = (bytes: Uint8Array): string | undefined => {
  try {
    const text = utf8.decode(bytes);
    JSON.parse(text);
    return text;
  } catch {
    return undefined;
  }
};

const parsed = (bytes: Uint8Array): string => {
  const text = jsonIn(bytes);
  return JSON.stringify(text === undefined ? Buffer.from(bytes).toString('base64') : JSON.parse(text));
};

/** An event as every log shows it: of a foreign one, which a file keeps byte by byte, what EventStoreDB's client makes of it. */
export const shown = (event: StoredEvent): StoredEvent => {
  const foreign = unwrapForeign(event);
  return foreign ? { ...event, data: parsed(foreign.data), metadata: foreign.metadata.length > 0 ? parsed(foreign.metadata) : '{}' } : event;
};

const bare = (event: NewEvent): NewEvent => {
  const foreign = unwrapForeign(event);
  if (!foreign) return event;
  const [data, metadata] = [jsonIn(foreign.data), foreign.metadata.length > 0 ? jsonIn(foreign.metadata) : '{}'];
  if (data === undefined || metadata === undefined) throw new Error('an event of a tool that is not JSON cannot be copied into EventStoreDB');
  return { ...event, data, metadata };
};

/** A remote log as the target of a copy from a file: foreign events go there as their writers sent them. */
export const takingForeign = (store: EventStore): EventStore => ({ ...store, append: async (stream, expected, events) => store.append(stream, expected, events.map(bare)) });

/** A log in a file as the target of a copy from a remote one: events of streams that are not the platform's `own` become foreign ones. */
export const keepingForeign = (store: EventStore, own: (stream: string) => boolean): EventStore => ({
  ...store,
  append: (stream, expected, events) => store.append(stream, expected, own(stream) ? events : events.map((event) => (isForeign(event) ? event
    : wrapForeign({ ...event, data: Buffer.from(event.data), metadata: Buffer.from(event.metadata), contentType: 'application/json', created: new Date() })))),
});
