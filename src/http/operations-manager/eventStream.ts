import { Type } from 'typebox';
import type { Route } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';
import { fromOf, refuseBeyond, refuseUnknownResource } from '../events/asked.ts';
import { streamEvents } from '../events/streamEvents.ts';

const exactly = (description: string) => Type.String({ minLength: 1, maxLength: 1024, description });

/** The events of the log as they happen (docs/subscribing.md). */
export const eventStreamRoutes: readonly Route[] = [
  actionRoute({
    ...streamEvents.row,
    method: 'get',
    path: '/events/stream',
    untimed: true,
    summary: 'Read events as they happen',
    description:
      'Server-sent events: those that the caller may see, in the order of the log. A comment every 15 seconds keeps ' +
      'the connection. The event dropped says why the stream ends: slow, rights or stopping. An account may have 20 streams open. The header Last-Event-ID ' +
      'goes on after that position, whatever from says.',
    query: {
      source: exactly('Only events of this source, such as @platform/operations-manager'),
      topic: exactly('Only events of this topic, such as jobCompleted'),
      resource: exactly('Only events of this kind of resource (job), or of this resource (job/65f0...)'),
      from: exactly('The position after which to begin, or start, or now, which it is unless given'),
    },
    answer: Type.String({ contentMediaType: 'text/event-stream', description: 'Server-sent events' }),
    run: async ({ query: { source, topic, resource, from }, actor, header }, { eventStream }) => {
      const lastEventId = header('last-event-id') ?? '';
      if (resource !== undefined) refuseUnknownResource(resource);
      const asked = fromOf(from, lastEventId);
      const head = await eventStream.head();
      refuseBeyond(asked, head, lastEventId);
      const after = asked === 'now' ? head : asked;
      // Nothing is waited for between this and the opening.
      eventStream.check(actor.id);
      return {
        type: 'text/event-stream; charset=utf-8',
        headers: { 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' },
        stream: (res) => eventStream.open(res, actor.id, { source, topic, resource }, after),
      };
    },
  }),
];
