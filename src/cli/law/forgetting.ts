import { hashIn, link, withHash, withoutHash } from '@automation-platform/event-log';
import type { Members } from '@automation-platform/json';
import { account, forgottenName as forgotten } from '../../domain/authorization/accounts.ts';
import { denied } from '../../domain/authorization/requestRecords.ts';
import { prebuilt } from '../../domain/prebuilts/prebuilts.ts';
import { type Metadata, splitStream, splitType } from '../../store/event.ts';
import { partsNamedBy, partsOf } from '../../store/payloads.ts';
import type { Batch, Filter, LogReads, StoredEvent } from '../../store/port.ts';

/** An account that is forgotten, and all usernames that it ever had. */
export type Forgotten = { readonly id: string; readonly usernames: ReadonlySet<string> };

const personal: ReadonlySet<string> = new Set(['username', 'firstname', 'email', 'name']);

/** The data of the account's own stream. Where a claim on a username lapsed, that is its `name`. */
const ownData = (data: string): string => {
  const members = Object.entries(JSON.parse(data) as Members);
  const left = members.map(([name, value]) => [name, personal.has(name) && value !== '' ? forgotten : value]);
  return JSON.stringify(Object.fromEntries(left));
};

/** Denials that do not say who was refused. */
const denials = (data: string, id: string): string => {
  const { rows, ...rest } = JSON.parse(data) as { readonly rows: readonly Members[] };
  const left = rows.map((row) => (row.account === id ? { ...row, account: forgotten, address: forgotten } : row));
  return JSON.stringify({ rows: left, ...rest });
};

/** A package whose authors name the account by its usernames. Numbers in it stay as they were written. */
const packageText = (text: string, { id, usernames }: Forgotten): string => {
  const value = JSON.stringify(id);
  let left = text;
  for (const username of usernames)
    left = left.replaceAll(`${JSON.stringify(username)}:${value}`, `${JSON.stringify(forgotten)}:${value}`);
  return left;
};

/** Whether the data of a stream's events may name the account. */
export const mayName = (stream: string, { id }: Forgotten): boolean =>
  stream === `account-${id}` || [denied.category, prebuilt.category].includes(splitStream(stream).category);

/** The whole data of an event without the account's names. */
export const dataWithout = ({ stream, data }: Pick<StoredEvent, 'stream' | 'data'>, about: Forgotten): string => {
  const { category, id } = splitStream(stream);
  if (category === account.category) return id === about.id ? ownData(data) : data;
  if (!data.includes(about.id)) return data;
  if (category === denied.category) return denials(data, about.id);
  return category === prebuilt.category ? packageText(data, about) : data;
};

/** Metadata, without their link, that do not name the account as the actor. */
const metadataWithout = (metadata: string, { id }: Forgotten): string => {
  if (!metadata.includes(id)) return metadata;
  const about = JSON.parse(metadata) as Metadata;
  if (about.actor?.id !== id) return metadata;
  return JSON.stringify({ ...about, actor: { ...about.actor, username: forgotten } });
};

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
    const unlinked = withoutHash(metadata);
    const open = metadataWithout(unlinked, about);
    if (data === event.data && open === unlinked && !hashes.has(stream)) return [event];
    const linked = link({ ...event, data, metadata: open }, await hashBefore(event));
    hashes.set(stream, linked);
    return [...before, { ...event, data, metadata: withHash(open, linked) }];
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
