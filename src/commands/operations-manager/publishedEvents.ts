import { Type } from 'typebox';
import { name } from '../../domain/engine/schemas.ts';
import { claimNumber } from '../../domain/operations-manager/jobClaims.ts';
import { job } from '../../domain/operations-manager/jobs.ts';
import { publish, publishedEvent } from '../../domain/operations-manager/publishedEvents.ts';
import { commandsOf } from '../engine/define.ts';

const claim = Type.Object(
  {
    job: name('Id of a job'),
    claim: claimNumber,
    task: Type.Optional(name('Id of a task')),
    run: Type.Optional(Type.Integer({ minimum: 1, description: 'Number of its run' })),
  },
  { description: 'The publisher' },
);

/** Stores an event with a source and topic that a user has chosen. */
export const publishEvent = commandsOf(publishedEvent)({
  name: 'publishEvent',
  on: 'new',
  decide: publish,
  input: Type.Object({
    source: name('Source'),
    topic: name('Topic'),
    payload: Type.Unknown(),
    claim: Type.Optional(claim),
  }),
  prepare: async ({ input }, tools) => ({
    publisher: input.claim === undefined ? undefined : await tools.state(job, input.claim.job),
  }),
});
