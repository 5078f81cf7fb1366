import { Type } from 'typebox';
import { publishEvent } from '../../commands/operations-manager/publishedEvents.ts';
import { time } from '../../domain/engine/authors.ts';
import { defined } from '../../domain/engine/defined.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { job } from '../../domain/operations-manager/jobs.ts';
import type { Publication } from '../../domain/operations-manager/publishedEvents.ts';
import { runIn } from '../../domain/operations-manager/workflows/runIds.ts';
import { schemaOfTopic } from '../../domain/topics.ts';
import { eventTypes } from '../../projections/engine/eventTypes.ts';
import { resultsWithMessage, withMessage } from '../engine/envelopes.ts';
import type { Call, Route } from '../engine/route.ts';
import { actionRoute, listRoute } from '../engine/routes.ts';
import { enveloped } from '../engine/schemas.ts';
import { newId, requestOf } from '../engine/serve.ts';
import { fromOf, openerOf, refuseBeyond, refuseUnknownResource } from '../events/asked.ts';
import { listOfEvents } from '../events/eventAccess.ts';
import { streamEvents } from '../events/readers.ts';

const mostPayload = 512 * 1024;

/** Throws unless the request has a body, of a size that an event may have. */
const checkPayload = (text: string): void => {
  if (text === '') throw new RequestError('invalid', 'An event needs a payload: any JSON, null too', { path: '' });
  if (Buffer.byteLength(text) > mostPayload)
    throw new RequestError('too_large', `The payload of an event may have ${mostPayload} bytes`);
};

/** The claim by which a worker says for which job it publishes; undefined: it does not say so. */
const claimIn = (header: string | undefined): Publication['claim'] => {
  if (header === undefined) return undefined;
  const [, job, claim] = /^([^\s/]{1,256})\/([1-9]\d{0,14})$/.exec(header) ?? [];
  if (job === undefined || claim === undefined)
    throw new RequestError(
      'invalid',
      'X-Claim must be <job>/<claim>: the id of a job, or of a run of a task, and the number of its claim',
      { path: 'X-Claim' },
    );
  return { ...(runIn(job) ?? { job }), claim: Number(claim) };
};

const eventTypeSchema = Type.Object(
  {
    source: Type.String({ description: 'Source; that of the platform is @platform/<area>' }),
    topic: Type.String({ description: 'Topic' }),
    schema: Type.Union([Type.Null(), Type.Object({}, { additionalProperties: true })], {
      description: 'JSON Schema of the data; null if nobody has said it',
    }),
    count: Type.Union([Type.Null(), Type.Integer({ minimum: 0 })], {
      description: 'How many such events the caller may see; null: access lists decide about each',
    }),
    last: Type.Union([Type.Null(), time('When')], {
      description: 'When the last one happened; null: none has, or it is not said because count is null',
    }),
  },
  { title: 'EventType', description: 'Events of one source and topic' },
);

const published = withMessage('Successfully published event');

/** Events that users publish (docs/behaviour/events.md). */
export const eventRoutes: readonly Route[] = [
  listRoute({
    ...listOfEvents,
    path: '/events',
    summary: 'List the events that can happen',
    description:
      'Sources and topics, with how many such events there are and when the last one happened, unless there are some that ' +
      'the caller may not see. Those of the platform ' +
      'are listed before the first event, with the schema of their data; the form of published events is not known.',
    list: eventTypes,
    join: async (type, { events }, { principal }) => {
      const sees = principal && events.seesType(principal, `${type.source}:${type.topic}`);
      const counted = sees ? {} : { count: sees === false ? 0 : null, last: null };
      return { ...type, ...counted, schema: schemaOfTopic(type.source, type.topic) ?? null };
    },
    envelope: resultsWithMessage('Successfully retrieved events'),
    answer: enveloped(Type.Array(eventTypeSchema)),
  }),
  actionRoute({
    name: 'publishEvent',
    method: 'post',
    path: '/events/:source/:topic',
    access: ['operators'],
    byClaim: true,
    summary: 'Publish an event',
    description:
      'With a source and a topic of your choice; a slash in them is percent-encoded. The body is the payload: any JSON ' +
      'of 512 KiB at most. A source must not begin with @platform/ or $, a topic has no colon. It needs no rights on ' +
      'the triggers that wait for the event. Secrets in the payload are stored in clear. X-Claim: <job>/<claim> names the job or task ' +
      'that publishes; 409 unless you hold that claim.',
    body: Type.Unknown({ description: 'The payload' }),
    answer: enveloped(
      Type.Object({
        id: Type.String({ format: 'uuid', description: 'Id of the event' }),
        position: Type.Integer({ minimum: 1, description: 'Position of the event in the log' }),
      }),
    ),
    run: async (call, service) => {
      checkPayload(call.bodyText);
      const { id, position, replayed } = await publish(call, service);
      return { text: published(JSON.stringify({ id, position })), position, replayed };
    },
  }),
];

const publish = async (
  call: Call<'source' | 'topic'>,
  service: Parameters<typeof requestOf>[2],
): Promise<{ readonly id: string; readonly position: number; readonly replayed: boolean }> => {
  const { source, topic } = call.params;
  const about = requestOf(publishEvent.name, call, service);
  const claim = claimIn(call.header('x-claim'));
  const publisher = claim && (await service.tools.state(job, claim.job));
  const { event, replayed } = await service.handle(publishEvent, {
    ...about,
    id: newId(about.idempotency?.key, 'uuid'),
    depth: publisher?.started?.depth,
    fresh: about.idempotency === undefined,
    input: defined({ source, topic, payload: call.body, claim }),
  });
  if (!event) throw new Error('A published event was not stored');
  return { ...event, replayed };
};

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
    run: async ({ query: { source, topic, resource, from }, principal, header }, { eventStream }) => {
      const lastEventId = header('last-event-id') ?? '';
      if (resource !== undefined) refuseUnknownResource(resource);
      const startPlace = fromOf(from, lastEventId);
      const head = await eventStream.head();
      refuseBeyond(startPlace, head, lastEventId);
      const after = startPlace === 'now' ? head : startPlace;
      const opener = openerOf(principal!); // the route is not open, so there is a caller
      // Nothing is waited for between this and the opening.
      eventStream.check(opener.account);
      return {
        type: 'text/event-stream; charset=utf-8',
        headers: { 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' },
        stream: (res) => eventStream.open(res, opener, { source, topic, resource }, after),
      };
    },
  }),
];
