import { Type } from 'typebox';
import { time } from '../../domain/engine/authors.ts';
import type { ListedTopic } from '../../domain/topics.ts';

const stream = '/operations-manager/events/stream';
const publish = '/operations-manager/events/{source}/{topic}';

/** An event as the stream tells it. */
const eventSchema = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'Id of the event' }),
    position: Type.Integer({ description: 'Position in the log: the later an event, the higher' }),
    source: Type.String({ description: 'Source' }),
    topic: Type.String({ description: 'Topic' }),
    at: time('When it happened'),
    actor: Type.Union(
      [
        Type.Object({
          id: Type.String(),
          username: Type.String(),
          provenance: Type.String(),
          via: Type.Optional(Type.String({ description: 'password, cookie, token, ldap or oidc' })),
          token: Type.Optional(Type.String({ description: 'Id of the token that was sent' })),
        }),
        Type.Null(),
      ],
      { description: 'The account that did it; null: another program has written it to the log' },
    ),
    resource: Type.Union([Type.Object({ kind: Type.String(), id: Type.String() }), Type.Null()], {
      description: 'The resource it is about; null: another program has written it to the log',
    }),
    revision: Type.Integer({ description: 'Which event of the resource it is, counted from 0' }),
    correlation: Type.String({ description: 'Id of the request that began it all' }),
    causation: Type.String({ description: 'Id of the event or request just before' }),
    data: Type.Unknown({ description: 'The data of the event; secrets are masked' }),
  },
  { title: 'Event', description: 'An event' },
);

/** The AsyncAPI 3.0 document of all events that can be read, and of those that can be published. */
export const asyncapi = (topics: readonly ListedTopic[], { version }: { readonly version: string }): object => {
  const messages = Object.fromEntries([
    ...topics.map((topic) => [keyOf(topic), messageOf(topic)] as const),
    ['published', published] as const,
    ['payload', payload] as const,
  ]);
  const ofStream = Object.keys(messages).filter((key) => key !== 'payload');
  return {
    asyncapi: '3.0.0',
    info: { title: 'Automation Platform: events', version, description },
    defaultContentType: 'application/json',
    channels: {
      stream: {
        address: stream,
        title: 'All events',
        description: 'Server-sent events. Whoever reads them sees events of what they may read.',
        messages: Object.fromEntries(ofStream.map((key) => [key, ref(`components/messages/${key}`)])),
      },
      publish: {
        address: publish,
        title: 'Events of others',
        description: 'One request is one event.',
        parameters: {
          source: { description: 'Source; not beginning with @platform/ or $' },
          topic: { description: 'Topic; without a colon' },
        },
        messages: { payload: ref('components/messages/payload') },
      },
    },
    operations: {
      streamEvents: {
        action: 'send',
        channel: ref('channels/stream'),
        summary: 'The platform tells what happens',
        security,
        bindings: { http: { method: 'GET', bindingVersion: '0.3.0' } },
      },
      publishEvent: {
        action: 'receive',
        channel: ref('channels/publish'),
        summary: 'Others tell the platform what happens',
        security,
        bindings: { http: { method: 'POST', bindingVersion: '0.3.0' } },
      },
    },
    components: {
      schemas: { Event: eventSchema },
      messages,
      securitySchemes: {
        basic: { type: 'http', scheme: 'basic', description: 'The user name and the password of an account' },
        bearer: { type: 'http', scheme: 'bearer', description: 'The token that a login answers' },
      },
    },
  };
};

const description =
  'Every change is an event. This document is made of the tables by which the platform describes its own events; ' +
  'GET /operations-manager/events also lists those that others have published.';

const ref = (path: string) => ({ $ref: `#/${path}` });

const security = [ref('components/securitySchemes/basic'), ref('components/securitySchemes/bearer')];

const keyOf = ({ source, topic }: ListedTopic): string => `${source.slice(source.indexOf('/') + 1)}.${topic}`;

const eventWith = (properties: object): object => ({
  allOf: [ref('components/schemas/Event'), { type: 'object', properties }],
});

const messageOf = ({ source, topic, description, data }: ListedTopic): object => ({
  name: `${source}:${topic}`,
  title: topic,
  summary: description,
  payload: eventWith({ source: { const: source }, topic: { const: topic }, data }),
});

const published = {
  name: 'published',
  title: 'An event that others have published or written to the log',
  summary: 'An event with a source and a topic of its own, and any JSON as data',
  payload: eventWith({ resource: { type: ['object', 'null'], properties: { kind: { const: 'publishedEvent' } } } }),
};

const payload = {
  name: 'payload',
  title: 'Payload',
  summary: 'The payload of an event: any JSON of 512 KiB at most',
  payload: {},
};
