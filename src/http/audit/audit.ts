import { exactText } from '@automation-platform/json';
import { Type } from 'typebox';
import { findDenials, findEvents } from '../../audit/findEvents.ts';
import { differenceOf, historyOf, resourceGiven } from '../../audit/history.ts';
import type { AuditSources } from '../../audit/reading.ts';
import { traceOf } from '../../audit/trace.ts';
import { ownTopics } from '../../domain/all.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { documentIn, pageOf as entriesOf } from '../../projections/engine/documents.ts';
import { eventTypes } from '../../projections/engine/eventTypes.ts';
import type { Principal } from '../authentication/principal.ts';
import type { Answer, AreaRoutes } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';
import type { Service } from '../engine/service.ts';
import { listOfDenials } from '../events/eventAccess.ts';
import { restoreRoute } from './restore.ts';
import { denialSchema, diffSchema, eventSchema, historySchema, pageOf, traceSchema } from './schemas.ts';

declare module '../engine/service.ts' {
  interface Service {
    /** The log, and the index beside it. */
    readonly audit: Omit<AuditSources, 'sees'>;
  }
}

const text = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 1024, description }));
const page = {
  limit: Type.Integer({ minimum: 1, maximum: 1000, default: 25, description: 'How many to answer at most' }),
  cursor: text('The cursor of the page before'),
};
const moments = {
  since: text('The first position, or the earliest time (RFC 3339)'),
  until: text('The last position, or the latest time'),
};
const readers = ['operators', 'readers'] as const;

/** The page that a query asks for. Its limit has a default. */
const pageIn = ({ limit = 25, cursor }: { readonly limit?: number; readonly cursor?: string | undefined }) => ({
  limit,
  cursor,
});

/** The part of the log that the caller may see. */
const sourcesFor = ({ audit, events }: Service, viewer: Principal | undefined): AuditSources => ({
  ...audit,
  sees: async (event) => viewer !== undefined && events.seesInAudit(viewer, event),
});

const mostTopics = 1000;

/** The topics that have a text in them, in any case. Throws `invalid` if they are too many to look for. */
const topicsWith = async ({ model }: Service, part: string): Promise<readonly string[]> => {
  const { entries, total } = await entriesOf(model, eventTypes, {
    where: { field: 'topic', op: 'contains', value: part },
    sort: 'topic',
    order: 1,
    skip: 0,
    limit: mostTopics,
  });
  const lowerCased = part.toLowerCase();
  const found = new Set([...ownTopics].filter((topic) => topic.toLowerCase().includes(lowerCased)));
  for (const entry of entries) found.add(documentIn(eventTypes, entry).topic);
  if (total <= mostTopics) return [...found];
  throw new RequestError('invalid', `topicContains fits more than ${mostTopics} topics; say more of it`, {
    path: 'topicContains',
  });
};

const answer = (body: unknown): Answer => ({ text: exactText(body) });

const required = (value: string | undefined, path: string): string => {
  if (value === undefined) throw new RequestError('invalid', `${path} is missing`, { path });
  return value;
};

/** The routes of audits (docs/audit.md). `areas` gives all routes once the table is complete. */
export const auditRoutes = (areas: () => readonly AreaRoutes[]): AreaRoutes => ({
  area: 'audit',
  prefix: '/audit',
  routes: [
    actionRoute({
      name: 'getAuditEvents',
      method: 'get',
      path: '/events',
      access: readers,
      summary: 'Find events of the log',
      description:
        'Those that the caller may see, the newest first. All parameters narrow the search. One request looks at 50,000 ' +
        'events at most: a page may be short, or empty, while its cursor leads on. since and until are positions or ' +
        'times, both included.',
      query: {
        actor: text('Id of the account that did it'),
        resource: text('<kind>/<id>, such as automation/65f0...'),
        source: text('Source, such as @platform/operations-manager'),
        topic: text('Topic, such as jobStarted'),
        topicContains: text('A part of the topic, in any case, such as started'),
        operation: text('Operation or reaction, such as createAutomation'),
        requestId: text('Id of the request'),
        correlation: text('Correlation: the id of what began it all'),
        ...moments,
        ...page,
      },
      answer: pageOf(eventSchema),
      run: async ({ query, principal }, service) => {
        if (query.resource !== undefined) resourceGiven(query.resource);
        const { topicContains, ...rest } = query;
        const topics = topicContains === undefined ? undefined : await topicsWith(service, topicContains);
        return answer(await findEvents(sourcesFor(service, principal), { ...rest, topics }, pageIn(query)));
      },
    }),
    actionRoute({
      name: 'getAuditResource',
      method: 'get',
      path: '/resources/:kind/:id',
      access: readers,
      summary: 'Get what happened to a resource',
      description:
        'Each event without its data, with what it changed in the document: a JSON Patch. The document is the one that ' +
        'the events of the resource give, with ids of authors. No document is null.',
      query: page,
      answer: pageOf(historySchema),
      run: async ({ params, query, principal }, service) =>
        answer(await historyOf(sourcesFor(service, principal), params, pageIn(query))),
    }),
    actionRoute({
      name: 'getAuditDiff',
      method: 'get',
      path: '/diff',
      access: readers,
      summary: 'Compare a resource at two moments',
      query: {
        resource: text('<kind>/<id>'),
        from: text('Position or time of the first document'),
        to: text('Position or time of the second document'),
      },
      answer: diffSchema,
      run: async ({ query, principal }, service) => {
        const resource = resourceGiven(required(query.resource, 'resource'));
        const [from, to] = [required(query.from, 'from'), required(query.to, 'to')];
        return answer(await differenceOf(sourcesFor(service, principal), resource, { from, to }));
      },
    }),
    actionRoute({
      name: 'getAuditTrace',
      method: 'get',
      path: '/trace/:correlation',
      access: readers,
      summary: 'Get what followed from a request',
      description:
        'All events of a correlation that the caller may see, as trees: an event is below the one that caused it. ' +
        '422 if there are more than 10,000.',
      answer: Type.Object({ results: Type.Array(traceSchema, { description: 'In the order of the log' }) }),
      run: async ({ params, principal }, service) =>
        answer(await traceOf(sourcesFor(service, principal), params.correlation)),
    }),
    actionRoute({
      ...listOfDenials,
      method: 'get',
      path: '/denied',
      summary: 'List refused requests',
      description:
        'Answers 401, 403 and 429, counted for ten seconds by account, address, operation and code. since and until are ' +
        'positions or times, both included.',
      query: { ...moments, ...page },
      answer: pageOf(denialSchema),
      run: async ({ query }, { audit }) => answer(await findDenials(audit, query, pageIn(query))),
    }),
    restoreRoute(areas),
  ],
});
