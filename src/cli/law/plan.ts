import type { LogRewritten } from '@automation-platform/log-proof';
import { digestStream } from '@automation-platform/log-proof';
import { type AccountEvent, account } from '../../domain/authorization/accounts.ts';
import { fold } from '../../domain/engine/core.ts';
import { nameClaims } from '../../domain/engine/names.ts';
import { type JobEvent, type JobState, job } from '../../domain/operations-manager/jobs.ts';
import { publishedEvent } from '../../domain/operations-manager/publishedEvents.ts';
import { timeOf } from '../../store/anyEvent.ts';
import { splitStream, splitType } from '../../store/event.ts';
import { partsNamedBy } from '../../store/payloads.ts';
import type { LogReads, StoredEvent } from '../../store/port.ts';
import { dataWithout, type Forgotten, mayName, wholeEvent } from './forgetting.ts';

/** What a copy of a log is to lack. Times are UTC, ISO 8601 with milliseconds. */
export type Asked = {
  /** The id of a deleted account. */
  readonly forget: string | undefined;
  readonly jobsBefore: string | undefined;
  readonly eventsBefore: string | undefined;
};

/** What is left out of a copy and what is replaced in it. */
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

/** Whether nobody but the owner has claimed a name. */
const isClaimedBy = async (log: LogReads, stream: string, owner: string): Promise<boolean> => {
  for await (const events of log.read(stream)) if (events.some((event) => dataIn(event).owner !== owner)) return false;
  return true;
};

/** Whether an event claims a name for the account. The account need not have got the name. */
const isClaimOf = (event: StoredEvent, { id }: Forgotten): boolean =>
  splitStream(event.stream).category === nameClaims.category && dataIn(event).owner === `account-${id}`;

/** The stream with the data of an event, if it is stored in parts and names the account. */
const partsNaming = async (log: LogReads, event: StoredEvent, forgotten: Forgotten): Promise<string | undefined> => {
  const parts = mayName(event.stream, forgotten) ? partsNamedBy(event) : undefined;
  if (parts === undefined) return undefined;
  const whole = await wholeEvent(log, event);
  return dataWithout(whole, forgotten) === whole.data ? undefined : parts;
};

/** What a log holds of an account, gathered event by event. */
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
  const before = { ...job.initial, ...(status !== undefined && { status }) };
  return fold(job, [{ topic, data: dataIn(event) } as JobEvent], before).status;
};

/** The streams of jobs and published events, each with its state at its end. */
const candidatesOf = () => {
  const jobs = new Map<string, Candidate>();
  const published = new Map<string, Candidate>();
  const kept = new Set<string>();
  return {
    jobs,
    published,
    /** Contents in parts that other streams name. */
    kept,
    add: (event: StoredEvent, { jobsBefore, eventsBefore }: Asked): void => {
      const { stream } = event;
      const { category } = splitStream(stream);
      const isJob = jobsBefore !== undefined && category === job.category;
      const isPublished = eventsBefore !== undefined && category === publishedEvent.category;
      const parts = partsNamedBy(event);
      if (!isJob && !isPublished) {
        if (parts !== undefined) kept.add(parts);
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
    const left = events.find(({ stream }) => stream !== digestStream && skipped.has(stream));
    if (left) throw new Error(`<to> has what is to be left out (stream ${left.stream}): copy to an empty place`);
  }
};

/** Reads a log, and says what its copy is to lack. Throws if the account is not deleted. */
export const planOf = async (log: LogReads, asked: Asked, signal: AbortSignal): Promise<Plan> => {
  const { forget, jobsBefore, eventsBefore } = asked;
  const forgotten = forget === undefined ? undefined : { id: forget, usernames: await usernamesOf(log, forget) };
  const traces = forgotten && tracesOf(log, forgotten);
  const candidates = candidatesOf();
  for await (const { events } of log.readAll(0)) {
    signal.throwIfAborted();
    for (const event of events) {
      candidates.add(event, asked);
      await traces?.add(event);
    }
  }
  const { streams, jobCount, eventCount } = leftOut(candidates, asked);
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
