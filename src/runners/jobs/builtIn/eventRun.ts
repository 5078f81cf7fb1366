import { hash } from 'node:crypto';
import type { Handle } from '../../../commands/engine/handle.ts';
import { requestFor } from '../../../commands/engine/reactions.ts';
import { publishEvent } from '../../../commands/operations-manager/publishedEvents.ts';
import { maskSecrets } from '../../../domain/engine/secretFields.ts';
import { derivedUuid } from '../../../store/uuid.ts';
import { type Operation, RunEnded } from './run.ts';

const longestName = 1024;

const nameIn = (value: unknown, what: string): string => {
  if (typeof value === 'string' && value !== '' && value.length <= longestName) return value;
  throw new RunEnded(`The input ${what} must be a text of 1 to ${longestName} characters`);
};

/** Publishes an event, once for each run. Secrets in the payload show as `********`, because it is stored in clear. */
export const eventRun =
  ({ handle }: { readonly handle: Handle }): Operation =>
  async ({ inputs, key, started, step }) => {
    const input = {
      source: nameIn(inputs.source, 'source'),
      topic: nameIn(inputs.topic, 'topic'),
      payload: maskSecrets(inputs.payload ?? null),
    };
    const actor = await step();
    const { event } = await handle(publishEvent, {
      ...requestFor(started),
      actor,
      depth: started.data.depth,
      operation: publishEvent.name,
      id: derivedUuid(`event ${key}`),
      idempotency: { key, request: hash('sha256', JSON.stringify(input), 'base64url') },
      input,
    });
    if (!event) throw new Error('A published event was not stored');
    return { id: event.id, position: event.position };
  };
