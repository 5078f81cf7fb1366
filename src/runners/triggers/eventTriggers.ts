import type { Tools } from '../../commands/engine/define.ts';
import type { Handle } from '../../commands/engine/handle.ts';
import { completeReaction, parkReaction } from '../../commands/engine/parkedReactions.ts';
import type { Request } from '../../commands/engine/requests.ts';
import type { Streams } from '../../commands/engine/streams.ts';
import { noteRefusals } from '../../commands/operations-manager/refusedRuns.ts';
import type { TriggerRuns } from '../../commands/operations-manager/triggerRuns.ts';
import { supervise } from '../../concurrency/supervise.ts';
import { type Actor, platform } from '../../domain/engine/core.ts';
import { parkedReaction } from '../../domain/engine/parkedReactions.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { job } from '../../domain/operations-manager/jobs.ts';
import { trigger } from '../../domain/operations-manager/triggers.ts';
import { type Leadership, whileLeading } from '../../projections/engine/leadership.ts';
import type { Recorded } from '../../store/event.ts';
import { type EventStore, type StoredEvent, WrongRevision } from '../../store/port.ts';
import { triggersReader } from '../../store/readers.ts';
import { type DecideNeeds, decider } from './decide.ts';
import { type Definition, pastDefinitions } from './definitions.ts';
import { type Firing, jobIdOf, parkedIdOf, type Refusal, type Started, type Verdict } from './firing.ts';
import { beginning, type ReaderState, triggerReader } from './reader.ts';
import type { Refused } from './refusals.ts';

type Needs<Viewer> = Omit<DecideNeeds<Viewer>, 'state'> & {
  readonly store: EventStore;
  readonly handle: Handle;
  readonly tools: Tools;
  readonly events: Streams['events'];
  readonly run: TriggerRuns['run'];
  /** Notes that a trigger has started a job. */
  readonly ran: (trigger: string, job: string, at: string) => void;
  /** Whether a payload fits a filter. */
  readonly fits: (schema: object | boolean, payload: unknown) => boolean;
  /** How many events are decided at once. */
  readonly decidedAtOnce: () => number;
  /** How many jobs a trigger may start in a minute. */
  readonly rate: number;
  /** The leader alone reads the log. */
  readonly leadership: Leadership;
  /** Resolves when the read models show what the log held when this process began, or the signal aborts. */
  readonly ready: (signal: AbortSignal) => Promise<void>;
  /** Called with what became of each run: `job`, `parked`, or the reason why there is none. */
  readonly outcome?: (outcome: string) => void;
  readonly now?: () => number;
  readonly log: (message: string, about: Record<string, unknown>) => void;
  readonly info: (message: string, about: Record<string, unknown>) => void;
};

/** What became of a parked run that was tried again. */
export type Retried = {
  readonly job: string | null;
  readonly refused: Refusal | { reason: string; message: string } | null;
};

const operation = 'runEventTrigger';
const againMs = 1000;
const longestAgainMs = 5000;

/** What follows from an event, on behalf of an account. */
const aboutOf = ({ event, read }: Pick<Firing, 'event' | 'read'>): Omit<Request, 'id' | 'input' | 'actor'> => {
  const metadata = read instanceof Error ? undefined : read.metadata;
  return {
    operation,
    requestId: metadata?.requestId ?? event.id,
    correlation: metadata?.$correlationId ?? event.id,
    causation: event.id,
  };
};

/** Fires event triggers while this process leads (docs/decisions/event-triggers.md). */
export const eventTriggers = <Viewer extends { readonly actor: Actor }>(needs: Needs<Viewer>) => {
  const { store, handle, tools, events, run, leadership, ready, log, info } = needs;
  const outcome = needs.outcome ?? (() => undefined);
  const now = needs.now ?? Date.now;
  const stop = new AbortController();
  const state: ReaderState = {};
  const decide = decider({ ...needs, state: tools.state });
  const past = pastDefinitions(store);
  let leading = Promise.resolve();

  const fits = ({ content: { schema } }: Definition, payload: unknown): boolean =>
    schema === null || needs.fits(schema, payload);

  const hasJob = async ({ event, definition: { id } }: Firing): Promise<boolean> =>
    job.exists(await tools.state(job, jobIdOf(id, event.id)));

  const start = async (firing: Firing, { depth }: Extract<Verdict, { readonly kind: 'starts' }>): Promise<Started> => {
    const { event, read, definition, automation } = firing;
    const { id, content, account } = definition;
    if (read instanceof Error) throw read;
    if (!automation) return { refusal: { reason: 'gone', message: 'The trigger had no automation' } };
    const jobId = jobIdOf(id, event.id);
    const done = await run({
      trigger: { id, content },
      automation: { id: content.actionId, content: automation },
      actor: async () => (account === null ? undefined : (await needs.viewerOf(account))?.actor),
      given: { payload: read.data },
      event: { id: event.id, source: read.source, topic: read.topic, position: event.position, at: read.metadata.at },
      depth: depth + 1,
      jobId,
      about: aboutOf(firing),
      signal: stop.signal,
    });
    if ('refused' in done) return { refusal: { reason: done.refused.reason, message: done.refused.message } };
    const at = new Date(now()).toISOString();
    return { job: jobId, at, isNew: done.job.changed };
  };

  /** Starts a job, and tells what became of it. */
  const startAndTell = async (firing: Firing, verdict: Extract<Verdict, { kind: 'starts' }>): Promise<Started> => {
    const started = await start(firing, verdict);
    if (!('refusal' in started) && started.isNew) {
      outcome('job');
      needs.ran(firing.definition.id, started.job, started.at);
    }
    return started;
  };

  const ended = async (id: string): Promise<Refusal | undefined> => {
    const { exists, content } = await tools.state(trigger, id);
    if (!exists) return { reason: 'gone', message: 'No such trigger' };
    return content?.enabled ? undefined : { reason: 'disabled', message: 'The trigger is disabled' };
  };

  const refuse = async (id: string, refused: Refused, after: string | undefined): Promise<void> => {
    const input = { ...refused, after: after ?? null };
    const request = { id, input, actor: platform, operation, requestId: refused.event, causation: refused.event };
    try {
      await handle(noteRefusals, request);
    } catch (error) {
      if (error instanceof RequestError && error.code === 'conflict')
        throw new WrongRevision(`triggerRuns-${id}`, -1, -1);
      throw error;
    }
    for (let n = 0; n < refused.count; n++) outcome(refused.reason);
  };

  const park = async (firing: Firing, error: unknown, tries: number): Promise<void> => {
    const { event, definition } = firing;
    const { stream, revision } = event;
    const reason = error instanceof Error ? error.message : String(error);
    const input = { stream, revision, reason, trigger: definition.id, tries };
    await handle(parkReaction, {
      ...aboutOf(firing),
      id: parkedIdOf(event.id, definition.id),
      input,
      actor: platform,
    });
    outcome('parked');
  };

  const read = triggerReader({
    store,
    decide,
    start: startAndTell,
    ended,
    hasJob,
    refuse,
    park,
    fits,
    away: () => store.fault() !== undefined || !store.connected(),
    decidedAtOnce: needs.decidedAtOnce,
    rate: needs.rate,
    state,
    now,
    log,
  });

  const readWhileLeading = async (term: AbortSignal): Promise<void> => {
    await ready(term);
    if (term.aborted) return;
    await supervise((goesOn) => read(term, goesOn), {
      signal: term,
      pauseMs: againMs,
      longestPauseMs: longestAgainMs,
      onFailure: (error, isNew) => {
        if (isNew) log('The reader of event triggers begins again', { error });
      },
    });
  };

  /** The event of a parked run as the log has it, with what its trigger says now. */
  const firingNow = async (id: string, stored: Recorded, type: string): Promise<Firing | undefined> => {
    const definition = await past.trigger(id, Infinity);
    const event: StoredEvent = { ...stored, type, data: '', metadata: '' };
    const automation = definition && (await past.automation(definition.content.actionId, Infinity));
    return definition && { event, read: stored, definition, automation };
  };

  /** Why the trigger would not fire by the event as it is now. */
  const unfit = ({ read, definition }: Firing): { reason: string; message: string } | undefined => {
    if (read instanceof Error) return undefined;
    const { source, topic } = definition.content;
    if (read.source !== source) return { reason: 'source', message: `The trigger waits for the source ${source}` };
    if (read.topic !== topic) return { reason: 'topic', message: `The trigger waits for the topic ${topic}` };
    return fits(definition, read.data)
      ? undefined
      : { reason: 'schema', message: 'The payload does not fit the schema' };
  };

  const retryNow = async (firing: Firing): Promise<Retried> => {
    const refusedBy = (refused: { reason: string; message: string }): Retried => ({ job: null, refused });
    const jobId = jobIdOf(firing.definition.id, firing.event.id);
    if (await hasJob(firing)) return { job: jobId, refused: null };
    const not = unfit(firing) ?? (await ended(firing.definition.id));
    if (not) return refusedBy(not);
    const verdict = await decide(firing);
    if (verdict.kind === 'unseen') return refusedBy({ reason: 'rights', message: 'The account may not see the event' });
    if (verdict.kind === 'refused') return refusedBy(verdict.refusal);
    const started = await startAndTell(firing, verdict);
    return 'refusal' in started ? refusedBy(started.refusal) : { job: jobId, refused: null };
  };

  return {
    /**
     * To be called before the first request is taken. A log that was never read begins at its head. `isUpgrade`: it had
     * events before this start.
     */
    prepare: async (isUpgrade: boolean): Promise<void> => {
      if ((await store.checkpoint(triggersReader)) !== undefined) return;
      const position = await beginning(store);
      if (isUpgrade) info('Event triggers begin at the head of the log', { position, head: await store.head() });
    },
    start: (): void => {
      leading = whileLeading(leadership, stop.signal, readWhileLeading);
    },
    /** Starts nothing more, and waits for the starts under way. The rest is left to the next start or leader. */
    stop: async (): Promise<void> => {
      stop.abort();
      await leading;
    },
    /**
     * Tries a parked run again, by what trigger and automation say now. It stays parked unless there is a job then.
     * Throws `not_found` if it is no parked run.
     */
    retry: async (id: string, about: Omit<Request, 'id' | 'input'>): Promise<Retried> => {
      const { parked, parking } = await tools.state(parkedReaction, id);
      if (!parked || parking?.trigger === undefined)
        throw new RequestError('not_found', 'No such parked run', { path: 'id' });
      const { stream, revision } = parking;
      const [stored] = await events(stream, revision, revision);
      const firing = stored && (await firingNow(parking.trigger, stored, `${stored.source}:${stored.topic}`));
      if (!firing) return { job: null, refused: { reason: 'gone', message: 'No such trigger' } };
      const retried = await retryNow(firing);
      if (retried.job !== null) await handle(completeReaction, { ...about, id, input: {} });
      return retried;
    },
    /** How many runs wait, and how many triggers are behind the common reader. Only the leader knows. */
    status: (): { readonly waiting: number; readonly behind: number } => {
      const lanes = [...(state.reading?.lanes.values() ?? [])];
      return {
        waiting: lanes.reduce((sum, lane) => sum + lane.waiting(), 0),
        behind: lanes.filter((lane) => lane.behind()).length,
      };
    },
    /** The position up to which everything is settled, also by triggers that are behind; undefined: it does not read. */
    settled: (): number | undefined => {
      const { reading } = state;
      if (!reading) return undefined;
      const places = [...reading.lanes.values()].map((lane) => lane.place() ?? Infinity);
      return places.reduce((least, place) => Math.min(least, place), reading.settled());
    },
  };
};

export type EventTriggers = ReturnType<typeof eventTriggers>;
