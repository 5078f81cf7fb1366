import { hashIn, link, withHash, withoutHash } from '@automation-platform/event-log';
import type { Members } from '@automation-platform/json';
import { digestStream, type LogRewritten } from '@automation-platform/log-proof';
import { type AccountEvent, account, forgottenName as forgotten } from '../../domain/authorization/accounts.ts';
import { denied } from '../../domain/authorization/requestRecords.ts';
import { fold } from '../../domain/engine/core.ts';
import { defined } from '../../domain/engine/defined.ts';
import { nameClaims } from '../../domain/engine/names.ts';
import { type JobEvent, type JobState, job } from '../../domain/operations-manager/jobs.ts';
import { publishedEvent } from '../../domain/operations-manager/publishedEvents.ts';
import { prebuilt } from '../../domain/prebuilts/prebuilts.ts';
import { timeOf } from '../../store/anyEvent.ts';
import { type Metadata, splitStream, splitType } from '../../store/event.ts';
import { partsNamedBy, partsOf } from '../../store/payloads.ts';
import type { Batch, Filter, LogReads, StoredEvent } from '../../store/port.ts';

/** The streams and accounts that a copy of a log is to lack. Times are UTC, ISO 8601 with milliseconds. */
export type Asked = {
  /** The id of a deleted account. */
  readonly forget: string | undefined;
  readonly jobsBefore: string | undefined;
  readonly eventsBefore: string | undefined;
};

/** The parts of a log that a copy leaves out, and those that it replaces. */
export type Plan = {
  /** Streams that are left out. */
  readonly skipped: ReadonlySet<string>;
  /** The account whose names are replaced, and all usernames that it ever had. */
  readonly forgotten: Forgotten | undefined;
  /** Contents in parts that name the account: they are written anew. */
  readonly replaced: ReadonlySet<string>;
  readonly removed: LogRewritten['removed'];
};

const dataIn = ({ data }: Pick<StoredEvent, 'data'>): Readonly<Record<string, unknown>> => {
  try {
    return (JSON.parse(data) as Readonly<Record<string, unknown>> | null) ?? {};
  } catch {
    return {};
  }
};

/** All usernames that a deleted account ever had. Throws if the account is not deleted. */
const usernamesOf = async (log: LogReads, id: string): Promise<ReadonlySet<string>> => {
  const usernames = new Set<string>();
  let state = account.initial;
  for await (const events of log.read(`account-${id}`)) {
    for (const event of events) {
      const data = dataIn(await wholeEvent(log, event));
      if (typeof data.username === 'string') usernames.add(data.username);
      const { topic } = splitType(event.type);
      state = fold(account, [{ topic, data } as AccountEvent], state);
    }
  }
  if (!state.deleted) {
    const what = state.exists ? 'is not deleted, so it cannot be forgotten' : 'is not in the log';
    throw new Error(`Account ${id} ${what}`);
  }
  return usernames;
};

/** True if no stream but the owner's has claimed a name. */
const isClaimedBy = async (log: LogReads, stream: string, owner: string): Promise<boolean> => {
  for await (const events of log.read(stream)) if (events.some((event) => dataIn(event).owner !== owner)) return false;
  return true;
};

/** True if an event claims a name for the account. The account need not have got the name. */
const isClaimOf = (event: StoredEvent, { id }: Forgotten): boolean =>
  splitStream(event.stream).category === nameClaims.category && dataIn(event).owner === `account-${id}`;

/** The stream with the data of an event, if it is stored in parts and names the account. */
const partsNaming = async (log: LogReads, event: StoredEvent, forgotten: Forgotten): Promise<string | undefined> => {
  const parts = mayName(event.stream, forgotten) ? partsNamedBy(event) : undefined;
  if (parts === undefined) return undefined;
  const whole = await wholeEvent(log, event);
  return dataWithout(whole, forgotten) === whole.data ? undefined : parts;
};

/** All that a log holds of an account, gathered event by event. */
const tracesOf = (log: LogReads, forgotten: Forgotten) => {
  const claims = new Set<string>();
  const replaced = new Set<string>();
  return {
    replaced,
    add: async (event: StoredEvent): Promise<void> => {
      if (isClaimOf(event, forgotten)) claims.add(event.stream);
      const parts = await partsNaming(log, event, forgotten);
      if (parts !== undefined) replaced.add(parts);
    },
    /** The streams of the names that only this account has claimed. */
    names: async (): Promise<readonly string[]> => {
      const own: string[] = [];
      for (const stream of claims) if (await isClaimedBy(log, stream, `account-${forgotten.id}`)) own.push(stream);
      return own;
    },
  };
};

const ended: ReadonlySet<unknown> = new Set(['complete', 'error', 'canceled', 'incomplete']);

/** A stream that may be left out. `parts`: the streams with its data, where that is stored in parts. */
type Candidate = { status: JobState['status']; at: string; readonly parts: string[] };

const statusAfter = (status: JobState['status'], event: StoredEvent): JobState['status'] => {
  const { topic } = splitType(event.type);
  const before = { ...job.initial, ...defined({ status }) };
  return fold(job, [{ topic, data: dataIn(event) } as JobEvent], before).status;
};

/** The streams of jobs and published events, each with its state at its end. */
const candidatesOf = () => {
  const jobs = new Map<string, Candidate>();
  const published = new Map<string, Candidate>();
  const streamsToKeep = new Set<string>();
  return {
    jobs,
    published,
    /** Contents in parts that other streams name. */
    kept: streamsToKeep,
    add: (event: StoredEvent, { jobsBefore, eventsBefore }: Asked): void => {
      const { stream } = event;
      const { category } = splitStream(stream);
      const isJob = jobsBefore !== undefined && category === job.category;
      const isPublished = eventsBefore !== undefined && category === publishedEvent.category;
      const parts = partsNamedBy(event);
      if (!isJob && !isPublished) {
        if (parts !== undefined) streamsToKeep.add(parts);
        return;
      }
      const of = isJob ? jobs : published;
      const one = of.get(stream) ?? { status: undefined, at: '', parts: [] };
      if (isJob) one.status = statusAfter(one.status, event);
      one.at = timeOf(event) ?? '';
      if (parts !== undefined) one.parts.push(parts);
      of.set(stream, one);
    },
  };
};

type Candidates = ReturnType<typeof candidatesOf>;

/** The streams that are left out, with the parts that only they name. */
const leftOut = ({ jobs, published, kept }: Candidates, { jobsBefore = '', eventsBefore = '' }: Asked) => {
  const isOld = (at: string, before: string): boolean => at !== '' && at < before;
  const streams: string[] = [];
  const parts = new Set<string>();
  const take = (of: Candidates['jobs'], goes: (one: Candidate) => boolean): number => {
    let count = 0;
    for (const [stream, one] of of) {
      if (goes(one)) {
        streams.push(stream);
        count++;
        for (const part of one.parts) parts.add(part);
      } else for (const part of one.parts) kept.add(part);
    }
    return count;
  };
  const jobCount = take(jobs, ({ status, at }) => ended.has(status) && isOld(at, jobsBefore));
  const eventCount = take(published, ({ at }) => isOld(at, eventsBefore));
  return { streams: [...streams, ...[...parts].filter((part) => !kept.has(part))], jobCount, eventCount };
};

/** Throws if an earlier copy has brought something that the copy is to lack. Else it would stay there unseen. */
export const refuseOther = async (to: LogReads, { skipped }: Plan): Promise<void> => {
  for await (const { events } of to.readAll(0)) {
    const skippedEvent = events.find(({ stream }) => stream !== digestStream && skipped.has(stream));
    if (skippedEvent)
      throw new Error(`<to> has what is to be left out (stream ${skippedEvent.stream}): copy to an empty place`);
  }
};

/** Reads a log, and says what its copy is to lack. Throws if the account is not deleted. */
export const planOf = async (log: LogReads, removal: Asked, signal: AbortSignal): Promise<Plan> => {
  const { forget, jobsBefore, eventsBefore } = removal;
  const forgotten = forget === undefined ? undefined : { id: forget, usernames: await usernamesOf(log, forget) };
  const traces = forgotten && tracesOf(log, forgotten);
  const candidates = candidatesOf();
  for await (const { events } of log.readAll(0)) {
    signal.throwIfAborted();
    for (const event of events) {
      candidates.add(event, removal);
      await traces?.add(event);
    }
  }
  const { streams, jobCount, eventCount } = leftOut(candidates, removal);
  const replaced = traces?.replaced ?? new Set();
  return {
    skipped: new Set([digestStream, ...((await traces?.names()) ?? []), ...streams, ...replaced]),
    forgotten,
    replaced,
    removed: {
      accounts: forget === undefined ? [] : [forget],
      jobs: jobsBefore === undefined ? null : { before: jobsBefore, count: jobCount },
      events: eventsBefore === undefined ? null : { before: eventsBefore, count: eventCount },
    },
  };
};

/** An account that is forgotten, and all usernames that it ever had. */
export type Forgotten = { readonly id: string; readonly usernames: ReadonlySet<string> };

const personal: ReadonlySet<string> = new Set(['username', 'externalId', 'firstname', 'email', 'name']);

/** The data of the account's own stream. Where a claim on a username lapsed, that is its `name`. */
const ownData = (data: string): string => {
  const members = Object.entries(JSON.parse(data) as Members);
  const membersAfter = members.map(([name, value]) => [name, personal.has(name) && value !== '' ? forgotten : value]);
  return JSON.stringify(Object.fromEntries(membersAfter));
};

/** Denials that do not say who was refused. */
const denials = (data: string, id: string): string => {
  const { rows, ...rest } = JSON.parse(data) as { readonly rows: readonly Members[] };
  const rowsAfter = rows.map((row) => (row.account === id ? { ...row, account: forgotten, address: forgotten } : row));
  return JSON.stringify({ rows: rowsAfter, ...rest });
};

/** A package whose authors name the account by its usernames. Numbers in it stay as they were written. */
const packageText = (text: string, { id, usernames }: Forgotten): string => {
  const value = JSON.stringify(id);
  let textAfter = text;
  for (const username of usernames)
    textAfter = textAfter.replaceAll(`${JSON.stringify(username)}:${value}`, `${JSON.stringify(forgotten)}:${value}`);
  return textAfter;
};

/** True if the data of a stream's events may name the account. */
const mayName = (stream: string, { id }: Forgotten): boolean =>
  stream === `account-${id}` || [denied.category, prebuilt.category].includes(splitStream(stream).category);

/** The whole data of an event without the account's names. */
const dataWithout = ({ stream, data }: Pick<StoredEvent, 'stream' | 'data'>, about: Forgotten): string => {
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
const wholeEvent = async (log: LogReads, event: StoredEvent): Promise<StoredEvent> => {
  const parts = partsNamedBy(event);
  return parts === undefined ? event : { ...event, data: await wholeText(log, parts) };
};

/** Rewrites the events of a log, one by one, without the names of an account. */
const rewriter = (log: LogReads, about: Forgotten, replaced: ReadonlySet<string>) => {
  // The hashes of streams in which something was replaced. In all other streams each link is right as it is.
  const hashes = new Map<string, string>();
  const written = new Set<string>();

  const hashBefore = async ({ stream, revision }: StoredEvent): Promise<string> => {
    const storedHash = hashes.get(stream);
    if (storedHash !== undefined || revision === 0) return storedHash ?? '';
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
      const eventsAfter: StoredEvent[] = [];
      for (const event of events) eventsAfter.push(...(await rewrite(event)));
      yield { events: eventsAfter, position };
    }
  },
});
