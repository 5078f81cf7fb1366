import { compileUserSchema } from '@automation-platform/bounded-schemas';
import { plainValue } from '@automation-platform/json';
import { type Static, Type } from 'typebox';
import { mostMessage, type Outcome, runAgentSchema } from '../../domain/agent-session-manager/agentSessionSchemas.ts';
import {
  agentSession,
  end,
  note,
  post,
  type SessionJob,
  type SessionStarted,
  start,
} from '../../domain/agent-session-manager/agentSessions.ts';
import { agent } from '../../domain/agent-session-manager/agents.ts';
import { defined } from '../../domain/engine/defined.ts';
import { openSecrets, sealSecrets } from '../../domain/engine/secretFields.ts';
import { agents } from '../../projections/agent-session-manager/agents.ts';
import { type Recorded, splitStream } from '../../store/event.ts';
import { commandsOf, type Tools } from '../engine/define.ts';
import type { Next, Reaction } from '../engine/reactions.ts';
import { accessListThatDenies } from '../operations-manager/jobs.ts';
import { publishEvent } from '../operations-manager/publishedEvents.ts';

const command = commandsOf(agentSession);

/** `sealed`: the inputs with sealed secrets. `inputs` has them in clear. */
const startRefs = async (
  { agent: idOrName, inputs = {} }: Static<typeof runAgentSchema>,
  sealed: SessionStarted['inputs'],
  tools: Tools,
) => {
  const id = await tools.find(agents, idOrName);
  const { content } = id === undefined ? {} : await tools.state(agent, id);
  if (id === undefined || !content) return { agent: undefined, faults: [], inputs: sealed };
  const schema = compileUserSchema(content.inputSchema);
  const { errors } = schema.ok
    ? schema.matches(plainValue(inputs))
    : { errors: [{ path: '', message: `The agent's input schema cannot be used: ${schema.reason}` }] };
  return {
    agent: { id, name: content.name, timeout: content.timeout },
    faults: errors.map(({ path, message }) => ({ path: `/inputs${path}`, message })),
    inputs: sealed,
  };
};

/** Starts a session. `src/runners/agentSessions.ts` sees the event in the log and carries the session out. */
export const startSession = command({
  name: 'startSession',
  input: runAgentSchema,
  on: 'new',
  decide: start,
  prepare: ({ input }, tools) => {
    const sealed = sealSecrets(input.inputs ?? {}, {}, tools.seal, '/inputs') as SessionStarted['inputs'];
    return startRefs(input, sealed, tools);
  },
});

/** Starts the session of a job. The inputs are variables of the job, whose secrets are sealed already. */
export const startSessionOfJob = command({
  name: 'startSessionOfJob',
  input: Type.Unsafe<Static<typeof runAgentSchema> & { readonly job: SessionJob }>(runAgentSchema),
  on: 'new',
  decide: start,
  prepare: async ({ input: { agent, inputs = {}, job } }, tools) => ({
    ...(await startRefs({ agent, inputs: openSecrets(inputs, tools.unseal) as typeof inputs }, inputs, tools)),
    job,
  }),
});

/** Notes that the webhook is called now. If two processes try, only one stores the event, and that one calls. */
export const postSession = command({ name: 'postSession', on: 'existing', decide: post });

const lastMessage = Type.String({ maxLength: mostMessage });
const outcome = Type.Enum(['COMPLETE', 'FAILED', 'CANCELED'] as const satisfies readonly Outcome[]);

/** Stores a message of an agent before the end of its session. */
export const noteMessage = command({
  name: 'noteMessage',
  input: Type.Object({ lastMessage }),
  on: 'existing',
  decide: note,
});

/**
 * Ends a session: by the agent's report, by a cancel or by the timeout, whichever comes first. The session of a job is
 * ended by who may see the job.
 */
export const endSession = command({
  name: 'endSession',
  input: Type.Object({ status: outcome, lastMessage: Type.Optional(lastMessage) }),
  on: 'existing',
  decide: end,
  prepare: async ({ state: { job: started }, actor }, tools) => ({
    gbac: await accessListThatDenies(actor, defined({ started, inventories: started?.inventories }), tools),
  }),
  gbac: (_, { gbac }) => gbac,
});

/** Publishes the termination callback: an event with the service name as source and the method name as topic. */
const tell = async ({ stream }: Recorded, tools: Tools): Promise<readonly Next[]> => {
  const { id: sessionId } = splitStream(stream);
  const { callback, status, lastMessage } = await tools.state(agentSession, sessionId);
  if (!callback) return [];
  const { serviceName: source, methodName: topic, identifier, location } = callback;
  return [
    {
      command: publishEvent,
      id: sessionId,
      input: { source, topic, payload: { identifier, location, sessionId, status, lastMessage } },
    },
  ];
};

export const sessionReactions: readonly Reaction[] = [
  { of: agentSession, on: { sessionCompleted: tell, sessionFailed: tell, sessionCanceled: tell } },
];
