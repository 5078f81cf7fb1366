import { exactText } from '@automation-platform/json';
import { Type } from 'typebox';
import { type ClaimedJob, heartbeatJob, releaseJob } from '../../commands/operations-manager/jobClaims.ts';
import { failJob } from '../../commands/operations-manager/jobs.ts';
import { same } from '../../domain/engine/changes.ts';
import { callerKey } from '../../domain/engine/core.ts';
import { defined } from '../../domain/engine/defined.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { clearSecrets, maskSecrets } from '../../domain/engine/secretFields.ts';
import { heartbeatSchema, type JobClaim, jobClaimSchema } from '../../domain/operations-manager/jobClaims.ts';
import { type JobStatus, jobSchema } from '../../domain/operations-manager/jobSchemas.ts';
import { job } from '../../domain/operations-manager/jobs.ts';
import type { JobDoc } from '../../projections/operations-manager/jobs.ts';
import { withMessage } from '../engine/envelopes.ts';
import type { Call, Common, Route } from '../engine/route.ts';
import { actionRoute, commandRoute } from '../engine/routes.ts';
import { enveloped } from '../engine/schemas.ts';
import { requestOf } from '../engine/serve.ts';
import type { Service } from '../engine/service.ts';
import { showJob } from './jobs.ts';

const claimRow: Pick<Common, 'name' | 'access'> = { name: 'claimJobs', access: ['operators'] };

export const until = Type.Integer({ description: 'When the claim lapses unless it is extended, epoch milliseconds' });

const claimedSchema = Type.Object(
  { job: jobSchema, claim: Type.Integer({ minimum: 1, description: 'Number of the claim' }), until },
  { title: 'ClaimedJob', description: 'A job that the worker has now, with its secrets in clear' },
);

const heardSchema = Type.Object(
  {
    until,
    asked: Type.Union([Type.Null(), Type.Enum(['pause', 'cancel'])], {
      description: 'The request to the worker; null: go on',
    }),
  },
  { title: 'HeardHeartbeat', description: 'The state of the claim, for the worker' },
);

export const refuseOverheard = ({ isSecret }: Call): void => {
  if (!isSecret())
    throw new RequestError('forbidden', 'Jobs have secrets in clear: they are given out over TLS or on this machine');
};

/** The caller as of now. Throws if the account has lost the right to claim while it waited. */
export const claimerOf = async ({ actor }: Call, row: Pick<Common, 'name' | 'access'>, { events }: Service) => {
  const principal = await events.viewerOf(callerKey(actor));
  if (!principal?.may(job.area, row)) throw new RequestError('forbidden', 'The account may not claim jobs any more');
  return { ...principal.actor, ...defined({ via: actor.via }) };
};

type About = ReturnType<typeof requestOf>;

/** The job's variables with secrets in clear. If they cannot be opened, no worker could ever have it: it ends in error. */
const opened = async ({ doc }: ClaimedJob, { idempotency: _, ...about }: About, { tools, handle }: Service) => {
  try {
    return clearSecrets(doc.variables, tools.unseal);
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    const input = { error: error.message, claim: doc.claim.claim };
    await handle(failJob, { ...about, id: doc._id, input });
    return undefined;
  }
};

/** The job as GET shows it, but with its secrets in clear; undefined if they cannot be opened. */
const givenOut = async (one: ClaimedJob, about: About, service: Service) => {
  const variables = await opened(one, about, service);
  const { doc } = one;
  return (
    variables && {
      job: { ...(await showJob(doc, service)), variables },
      claim: doc.claim.claim,
      until: doc.claim.until,
    }
  );
};

const hasSecrets = ({ variables }: JobDoc): boolean => !same(maskSecrets(variables), variables);

export const askedOf = ({ status }: { readonly status?: JobStatus | undefined }): 'pause' | 'cancel' | null => {
  if (status === 'canceled') return 'cancel';
  return status === 'paused' ? 'pause' : null;
};

const [claimed, heard] = [withMessage('Successfully claimed jobs'), withMessage('Successfully heard heartbeat')];

/** Jobs as workers get them (docs/workers.md). */
export const jobClaimRoutes: readonly Route[] = [
  actionRoute({
    ...claimRow,
    method: 'post',
    path: '/jobs/claim',
    untimed: true,
    summary: 'Claim jobs to work on',
    description:
      'The oldest jobs that wait for one of the components; automations take turns. If there is none, the answer waits ' +
      'for the next one, for as long as asked. The variables have their secrets in clear, so the caller must be on this ' +
      'machine or come over TLS. A claim lapses unless heartbeats extend it; then the job is offered again, and after ' +
      'three lost claims it is incomplete.',
    body: jobClaimSchema,
    answer: enveloped(Type.Array(claimedSchema)),
    run: async (call: Call<never, JobClaim>, service) => {
      refuseOverheard(call);
      const { components, worker, max = 1, lease = 300, wait = 0 } = call.body;
      const about = { ...requestOf(claimRow.name, call, service), ifRevision: undefined };
      const actorNow = () => claimerOf(call, claimRow, service);
      const query = { components, worker, max, lease, about, actorNow };
      const { jobs, replayed } = await service.work.claim(query, wait * 1000, call.abandoned());
      const all = await Promise.all(jobs.map((one) => givenOut(one, about, service)));
      const claimedJobs = all.filter((one) => one !== undefined);
      const positions = jobs.map((one) => one.position);
      const position = positions.length > 0 ? Math.max(...positions) : undefined;
      const inClear = jobs.flatMap(({ doc }, i) =>
        all[i] && hasSecrets(doc) ? { kind: job.category, id: doc._id } : [],
      );
      return defined({ text: claimed(exactText(claimedJobs)), replayed, position, inClear });
    },
  }),
  actionRoute({
    name: 'heartbeatJob',
    method: 'post',
    path: '/jobs/:id/heartbeat',
    access: ['operators'],
    summary: 'Report that a worker is at work on a job',
    description:
      'Extends the claim once half of its lease is over. Progress is shown by the node that hears it and is not stored. ' +
      'The answer says whether to pause or to stop. A claim that is not held any more is 409.',
    body: heartbeatSchema,
    answer: enveloped(heardSchema),
    run: async (call, service) => {
      const { id } = call.params;
      const { claim, progress } = call.body;
      const about = requestOf(heartbeatJob.name, call, service);
      const { doc, position, replayed } = await service.handle(heartbeatJob, { ...about, id, input: call.body });
      const now = doc as JobDoc; // the projection of the command's aggregate
      if (progress) service.work.noteProgress(id, claim, progress);
      const ended = await service.work.endIfGone(id, claim);
      const request = ended ? 'cancel' : askedOf(now);
      const text = heard(JSON.stringify({ until: now.claim?.until, asked: request }));
      return { text, position: ended?.position ?? position, replayed };
    },
  }),
  commandRoute({
    name: 'releaseJob',
    method: 'post',
    path: '/jobs/:id/release',
    access: ['operators'],
    summary: 'Give a claimed job back',
    description: 'It waits for a worker again. That is no lost claim.',
    command: releaseJob,
    key: ({ id }) => id,
    join: showJob,
    envelope: withMessage('Successfully released job'),
    answer: enveloped(jobSchema),
  }),
];
