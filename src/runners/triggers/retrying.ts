import { plainValue } from '@automation-platform/json';
import type { Tools } from '../../commands/engine/define.ts';
import type { Handle } from '../../commands/engine/handle.ts';
import { completeReaction } from '../../commands/engine/parkedReactions.ts';
import type { Request } from '../../commands/engine/requests.ts';
import { givenBy, jobIdOf } from '../../commands/operations-manager/firing.ts';
import { parkedReaction } from '../../domain/engine/parkedReactions.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import type { AnyEvent } from '../../store/anyEvent.ts';
import { eventAt } from '../../store/eventAt.ts';
import type { EventStore, StoredEvent } from '../../store/port.ts';
import { pastDefinitions } from './definitions.ts';
import type { Firing } from './firing.ts';
import { readOf } from './read.ts';
import type { Starting } from './starting.ts';

/** Why there is no job, in a word and in a sentence. */
type Reason = { readonly reason: string; readonly message: string };

/** The outcome of a parked run that was tried again. */
export type Retried = { readonly job: string | null; readonly refused: Reason | null };

type Needs = {
  readonly store: EventStore;
  readonly handle: Handle;
  readonly tools: Tools;
};

/** Reads an event. Throws `internal` if it cannot be read. */
const readable = (event: StoredEvent): AnyEvent => {
  const read = readOf(event);
  if (read instanceof Error) throw new RequestError('internal', read.message, { cause: read });
  return read;
};

/**
 * Makes the function that tries a parked run again, by what trigger and automation say now. It stays parked unless there
 * is a job then. Throws `not_found` if it is no parked run.
 */
export const retrying = (
  { store, handle, tools }: Needs,
  { decide, start, ended, hasJob, fits }: Pick<Starting, 'decide' | 'start' | 'ended' | 'hasJob' | 'fits'>,
) => {
  const past = pastDefinitions(store);

  /** The event of a parked run as the log has it, with what its trigger says now. */
  const firingNow = async (id: string, event: StoredEvent): Promise<Firing | undefined> => {
    const definition = await past.trigger(id, Infinity);
    const automation = definition && (await past.automation(definition.content.actionId, Infinity));
    return definition && { event, read: readable(event), definition, automation };
  };

  /** Why the trigger would not fire by the event as it is now. */
  const unfit = ({ read, definition }: Firing): Reason | undefined => {
    if (read instanceof Error) return undefined;
    const { source, topic } = definition.content;
    if (read.source !== source) return { reason: 'source', message: `The trigger waits for the source ${source}` };
    if (read.topic !== topic) return { reason: 'topic', message: `The trigger waits for the topic ${topic}` };
    return fits(definition, plainValue(givenBy(read)))
      ? undefined
      : { reason: 'schema', message: 'The payload does not fit the schema' };
  };

  const retryNow = async (firing: Firing): Promise<Retried> => {
    const refusedBy = (refused: Reason): Retried => ({ job: null, refused });
    const jobId = jobIdOf(firing.definition.id, firing.event.id);
    if (await hasJob(firing)) return { job: jobId, refused: null };
    const not = unfit(firing) ?? (await ended(firing.definition.id));
    if (not) return refusedBy(not);
    const verdict = await decide(firing);
    if (verdict.kind === 'unseen') return refusedBy({ reason: 'rights', message: 'The account may not see the event' });
    if (verdict.kind === 'refused') return refusedBy(verdict.refusal);
    const started = await start(firing, verdict);
    return 'refusal' in started ? refusedBy(started.refusal) : { job: jobId, refused: null };
  };

  return async (id: string, about: Omit<Request, 'id' | 'input'>): Promise<Retried> => {
    const { parked, parking } = await tools.state(parkedReaction, id);
    if (!parked || parking?.trigger === undefined)
      throw new RequestError('not_found', 'No such parked run', { path: 'id' });
    const { stream, revision } = parking;
    const stored = await eventAt(store, stream, revision);
    const firing = stored && (await firingNow(parking.trigger, stored));
    if (!firing) return { job: null, refused: { reason: 'gone', message: 'No such trigger' } };
    const retried = await retryNow(firing);
    if (retried.job !== null) await handle(completeReaction, { ...about, id, input: {} });
    return retried;
  };
};
