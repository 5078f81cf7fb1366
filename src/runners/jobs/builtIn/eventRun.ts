import type { Handle } from '../../../commands/engine/handle.ts';
import { publishEvent } from '../../../commands/operations-manager/publishedEvents.ts';
import { maskSecrets } from '../../../domain/engine/secretFields.ts';
import { derivedUuid } from '../../../store/derivedIds.ts';
import { requestOnce } from './once.ts';
import type { OperationFor } from './run.ts';

/** Publishes an event, once for each run. Secrets in the payload show as `********`, because it is stored in clear. */
export const eventRun =
  ({ handle }: { readonly handle: Handle }): OperationFor<'OperationsManager.publishEvent'> =>
  async (run) => {
    const { source, topic, payload = null } = run.inputs;
    const input = { source, topic, payload: maskSecrets(payload) };
    const about = requestOnce(run, await run.step(), publishEvent.name);
    const { event } = await handle(publishEvent, { ...about, id: derivedUuid(`event ${run.key}`), input });
    if (!event) throw new Error('A published event was not stored');
    return { id: event.id, position: event.position };
  };
