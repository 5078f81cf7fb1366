import { randomUUID } from 'node:crypto';
import type { Members } from '@automation-platform/json';
import type { Tools } from '../../../commands/engine/define.ts';
import type { Handle } from '../../../commands/engine/handle.ts';
import { requestFor } from '../../../commands/engine/reactions.ts';
import type { Streams } from '../../../commands/engine/streams.ts';
import {
  type ClaimedJob,
  claimedIn,
  claimJob,
  heartbeatJob,
  lapseClaim,
  releaseJob,
} from '../../../commands/operations-manager/jobClaims.ts';
import { runKeyOf } from '../../../commands/operations-manager/jobSessions.ts';
import { completeJob, failJob, noteJobInventories } from '../../../commands/operations-manager/jobs.ts';
import { platform } from '../../../domain/engine/core.ts';
import { type BuiltInType, isBuiltIn } from '../../../domain/operations-manager/builtIn.ts';
import { hasEnded, type JobStarted, job, withoutOrigin } from '../../../domain/operations-manager/jobs.ts';
import type { Recorded } from '../../../store/event.ts';
import type { Operation } from './run.ts';
import { lease, type Work, type WorkKind } from './work.ts';

type Needs = {
  readonly handle: Handle;
  readonly tools: Pick<Tools, 'state'>;
  readonly events: Streams['events'];
  /** The name under which this node claims. */
  readonly worker: string;
  /** The operation that each type of components stands for. */
  readonly components: Readonly<Record<BuiltInType, Operation>>;
};

type Doc = ClaimedJob['doc'];

/** The inputs that a job gives to the operation of its component. */
const inputsOf: Readonly<Record<BuiltInType, (doc: Doc) => Members>> = {
  template: ({ component: { name }, variables }) => ({ name, context: variables }),
  'mop-template': ({ component, variables: { devices, variables } }) => ({
    template: component.name,
    devices,
    variables,
  }),
  ucm_compliance_plans: ({ component, variables: { devices, device, deviceGroups } }) => ({
    plan: component.name,
    devices,
    device,
    deviceGroups,
  }),
  'compliance-run': ({ variables: { options } }) => ({ options }),
  'configuration-backup': ({ variables: { devices, deviceGroups, options } }) => ({ devices, deviceGroups, options }),
  'configuration-change': ({ variables }) => withoutOrigin(variables),
  'inventory-sync': ({ component, variables: { dryRun } }) => ({ inventory: component.name, dryRun }),
  agent: ({ component, variables }) => ({ agent: component.name, inputs: withoutOrigin(variables) }),
};

type Claimed = { readonly doc: Doc; readonly started: Recorded<JobStarted>; readonly operation: Operation };

/** A job that this node has claimed, as work. */
export const jobAsWork = (
  { handle, tools }: Pick<Needs, 'handle' | 'tools'>,
  type: BuiltInType,
  { doc, started, operation }: Claimed,
): Work => {
  const {
    _id: id,
    claim: { claim },
    attempts,
  } = doc;
  const asPlatform = { actor: platform, requestId: started.metadata.requestId, id };
  const about = { ...requestFor(started), id };
  return {
    id,
    job: id,
    claim,
    key: runKeyOf(id, { last: claim, attempts }),
    inputs: inputsOf[type](doc),
    started,
    operation,
    endsAtOnce: false,
    isOver: async () => hasEnded(await tools.state(job, id)),
    heartbeat: () => handle(heartbeatJob, { ...asPlatform, operation: heartbeatJob.name, input: { claim } }),
    release: () => handle(releaseJob, { ...asPlatform, operation: releaseJob.name, input: { claim } }),
    noteInventories: (inventories) => handle(noteJobInventories, { ...about, input: { inventories } }),
    finish: (variables) => handle(completeJob, { ...about, input: { variables, claim } }),
    fail: (error) => handle(failJob, { ...about, input: { error, claim } }),
  };
};

/** Jobs whose component the service runs itself. */
export const jobsHere = ({ handle, tools, events, worker, components }: Needs): WorkKind => ({
  claim: async (id) => {
    // All that is needed is read before, so that nothing keeps a job from running once it is claimed.
    const [started] = (await events(`${job.category}-${id}`, 0, 0)) as readonly Recorded<JobStarted>[];
    const type = started?.data.component.type;
    if (!started || !isBuiltIn(type)) throw new Error('The log has no such job');
    const about = { actor: platform, operation: claimJob.name, requestId: randomUUID() };
    const result = await handle(claimJob, { ...about, id, input: { worker, lease } });
    // Without a change another node was faster.
    const claimed = result.changed ? claimedIn(result) : undefined;
    return claimed && jobAsWork({ handle, tools }, type, { doc: claimed.doc, started, operation: components[type] });
  },
  releaseFormer: (id, { claim }) => {
    const about = { actor: platform, operation: lapseClaim.name, requestId: randomUUID() };
    return handle(lapseClaim, { ...about, id, input: { claim, worker } });
  },
});
