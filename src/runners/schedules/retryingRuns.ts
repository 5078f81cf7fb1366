import type { Tools } from '../../commands/engine/define.ts';
import type { Handle } from '../../commands/engine/handle.ts';
import { completeReaction } from '../../commands/engine/parkedReactions.ts';
import type { Request } from '../../commands/engine/requests.ts';
import { parkedReaction } from '../../domain/engine/parkedReactions.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { eventAt } from '../../store/eventAt.ts';
import type { EventStore } from '../../store/port.ts';
import type { Retried } from '../triggers/retrying.ts';
import type { Starting } from './starting.ts';

type Needs = { readonly store: EventStore; readonly tools: Tools; readonly handle: Handle };

/**
 * Makes the function that tries a parked run of a schedule again, by what trigger and automation say now. It stays
 * parked unless there is a job then. Throws `not_found` if it is no parked run.
 */
export const retryingRuns = ({ store, tools, handle }: Needs, { start }: Pick<Starting, 'start'>) => {
  return async (id: string, about: Omit<Request, 'id' | 'input'>): Promise<Retried> => {
    const { parked, parking } = await tools.state(parkedReaction, id);
    const event = parked && parking ? await eventAt(store, parking.stream, parking.revision) : undefined;
    if (!event) throw new RequestError('not_found', 'No such parked run', { path: 'id' });
    const started = await start(event);
    if ('refusal' in started) return { job: null, refused: started.refusal };
    await handle(completeReaction, { ...about, id, input: {} });
    return { job: started.job, refused: null };
  };
};
