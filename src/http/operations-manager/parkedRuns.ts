import { Type } from 'typebox';
import { discardParked } from '../../commands/operations-manager/parkedRuns.ts';
import { time } from '../../domain/engine/authors.ts';
import { type ParkedReaction, parkedReactions } from '../../projections/engine/parkedReactions.ts';
import { resultsWithMessage, withMessage } from '../engine/envelopes.ts';
import type { Join, Route } from '../engine/route.ts';
import { actionRoute, commandRoute, listRoute } from '../engine/routes.ts';
import { enveloped } from '../engine/schemas.ts';
import { requestOf } from '../engine/serve.ts';

const parkedSchema = Type.Object(
  {
    _id: Type.String({ description: 'Id' }),
    trigger: Type.Union([Type.String(), Type.Null()], {
      description: 'Id of the trigger whose run failed; null: what the service itself does after the event failed',
    }),
    event: Type.Object(
      {
        id: Type.String({ description: 'Id' }),
        position: Type.Union([Type.Integer(), Type.Null()], { description: 'Position in the log; null: it is gone' }),
        source: Type.Union([Type.String(), Type.Null()], { description: 'Source' }),
        topic: Type.Union([Type.String(), Type.Null()], { description: 'Topic' }),
      },
      { description: 'The event' },
    ),
    reason: Type.String({ description: 'Why it failed' }),
    tries: Type.Union([Type.Integer(), Type.Null()], {
      description: 'How often it was tried; null: an earlier version did not note it',
    }),
    at: time('When it was parked'),
  },
  { title: 'ParkedRun', description: 'A run that failed' },
);

const retriedSchema = Type.Object(
  {
    job: Type.Union([Type.String(), Type.Null()], { description: 'Id of the job; null: there is none' }),
    refused: Type.Union(
      [
        Type.Null(),
        Type.Object({
          reason: Type.String({ description: 'Why there is no job, in a word' }),
          message: Type.String({ description: 'The same in a sentence' }),
        }),
      ],
      { description: 'Why there is no job; then it stays parked' },
    ),
  },
  { title: 'RetriedRun', description: 'The outcome' },
);

/** Adds what the log says of the event. */
const showParked: Join<ParkedReaction> = async (
  { _id, trigger, event, stream, revision, reason, tries, at },
  { parked },
) => {
  const stored = await parked.eventOf(stream, revision).catch(() => undefined);
  const colon = stored?.type.lastIndexOf(':') ?? 0;
  return {
    _id,
    trigger,
    event: {
      id: event,
      position: stored?.position ?? null,
      source: stored?.type.slice(0, colon) ?? null,
      topic: stored?.type.slice(colon + 1) ?? null,
    },
    reason,
    tries,
    at,
  };
};

/** Runs that failed (docs/operations.md). */
export const parkedRunRoutes: readonly Route[] = [
  listRoute({
    name: 'getParked',
    path: '/parked',
    access: ['operators', 'readers'],
    summary: 'List runs that failed',
    description:
      'A run of an event trigger whose start failed six times, or that cannot start, waits here until somebody tries ' +
      'it again or discards it. Whoever may see the trigger sees it. Those without a trigger are for admins.',
    list: parkedReactions,
    join: showParked,
    envelope: resultsWithMessage('Successfully retrieved parked runs'),
    answer: enveloped(Type.Array(parkedSchema)),
  }),
  actionRoute({
    name: 'retryParked',
    method: 'post',
    starts: true,
    path: '/parked/:id/retry',
    access: ['operators'],
    summary: 'Try a parked run again',
    description:
      'Trigger and automation as they are now decide. Unless a job starts, it stays parked. A trigger and an event have ' +
      'one job, however often they are tried.',
    answer: enveloped(retriedSchema),
    run: async (call, service) => {
      const { id } = await service.entryById(parkedReactions, call.params.id, call.actor);
      const retried = await service.parked.retry(id, requestOf('retryParked', call, service));
      return { text: retriedEnvelope(JSON.stringify(retried)) };
    },
  }),
  commandRoute({
    name: 'discardParked',
    method: 'post',
    path: '/parked/:id/discard',
    access: ['operators'],
    summary: 'Discard a parked run',
    description: 'It is never tried again.',
    command: discardParked,
    key: ({ id }) => id,
    join: showParked,
    envelope: withMessage('Successfully discarded parked run'),
    answer: enveloped(parkedSchema),
  }),
];

const retriedEnvelope = withMessage('Successfully tried parked run again');
