import { type Static, Type } from 'typebox';
import { name } from '../engine/schemas.ts';
import { claimNumber, leaseSchema } from './jobClaims.ts';
import { jobProgress } from './jobSchemas.ts';

const names = (what: string) => Type.Array(name(what), { minItems: 1, maxItems: 1000, description: `${what}s` });

/** The body of a request for tasks. */
export const taskClaimSchema = Type.Object(
  {
    apps: Type.Optional({
      ...names('Name of an application'),
      description: 'Applications all of whose tasks the worker does',
    }),
    names: Type.Optional({ ...names('Name of a task'), description: 'Tasks that the worker does: Application.name' }),
    adapters: Type.Optional({ ...names('Name of an adapter'), description: 'Adapters that it has; not given: any' }),
    worker: name('Name that the worker gives itself'),
    max: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 1, description: 'How many tasks at most' })),
    lease: Type.Optional(Type.Integer({ ...leaseSchema, default: 300 })),
    wait: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 30, default: 0, description: 'Seconds to wait if there is no task' }),
    ),
  },
  { additionalProperties: false, title: 'TaskClaim', description: 'A worker and the tasks that it asks for' },
);
export type TaskClaim = Static<typeof taskClaimSchema>;

const claim = Type.Optional(claimNumber);

/** A sign of life of a worker. */
export const taskHeartbeatSchema = Type.Object(
  { claim: claimNumber, progress: Type.Optional(jobProgress) },
  { additionalProperties: false, title: 'TaskHeartbeat', description: 'Sign of life of a worker' },
);

/** The body by which a task is given back. */
export const taskReleaseSchema = Type.Object(
  { claim },
  { additionalProperties: false, title: 'TaskRelease', description: 'Claim that ends; people need not name theirs' },
);

export const outcomeMembers = {
  outgoing: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), { description: 'Outputs; those named like secrets are sealed' }),
  ),
  error: Type.Optional(
    Type.Union([Type.String({ minLength: 1 }), Type.Record(Type.String(), Type.Unknown())], {
      description: 'The error; the result error needs it',
    }),
  ),
};

/** The report about a run of a task. */
export const taskFinishSchema = Type.Object(
  {
    result: Type.Enum(['success', 'failure', 'error'], { description: 'How it ended; people say success or failure' }),
    ...outcomeMembers,
    data: Type.Optional(
      Type.Unknown({ description: 'In the place of outgoing, from people: what they have filled in' }),
    ),
    claim,
  },
  { additionalProperties: false, title: 'TaskReport', description: 'How a task ended' },
);
export type TaskReport = Static<typeof taskFinishSchema>;
