import { randomBytes } from 'node:crypto';
import type { Filters } from '@automation-platform/bounded-schemas';
import { isObject, plainValue } from '@automation-platform/json';
import { Type } from 'typebox';
import { type Actor, platform } from '../../domain/engine/core.ts';
import { type Fault, RequestError } from '../../domain/engine/requestError.ts';
import { maskSecrets, sealSecrets } from '../../domain/engine/secretFields.ts';
import type { Evaluation } from '../../domain/engine/transforming.ts';
import { type AutomationContent, automation } from '../../domain/operations-manager/automations.ts';
import {
  job,
  startTriggered,
  type TriggeredStart,
  type Variables,
  withoutOrigin,
} from '../../domain/operations-manager/jobs.ts';
import { CannotRun } from '../../domain/operations-manager/jobWorkflows.ts';
import type { RefusalReason } from '../../domain/operations-manager/triggerRuns.ts';
import { type TriggerContent, trigger } from '../../domain/operations-manager/triggers.ts';
import {
  type FiringEvent,
  hideSealed,
  type Incoming,
  missingIn,
  openInSecrets,
  showSealed,
  type Transformation,
  transformationOf,
  variablesOf,
  withOrigin,
} from '../../domain/operations-manager/triggerVariables.ts';
import type { JobDoc } from '../../projections/operations-manager/jobs.ts';
import { mayRead } from '../engine/access.ts';
import { commandsOf, type Tools } from '../engine/define.ts';
import type { CommandResult, Handle } from '../engine/handle.ts';
import { randomId } from '../engine/randomIds.ts';
import type { Request } from '../engine/requests.ts';
import { transformationNamed, transformedBy } from '../template-builder/transformations.ts';
import { accessListThatDenies } from './jobs.ts';
import { whyNotRunComponent, workflowOfComponent } from './jobWorkflows.ts';
import { formNamed, sealedData } from './triggerForms.ts';

/**
 * The outcome of an expression. Throws `unprocessable` with the reason if it fails, `limited` when too many wait, and the
 * signal's reason.
 */
export type Evaluate = (expression: string, input: unknown, evaluation: Evaluation) => Promise<unknown>;

/** The account that asks for a transformation, and the run. The same run has the same outcome each time. */
export type Asking = Evaluation & {
  /** Finds the account whose rights count. */
  readonly actor: () => Promise<Actor>;
  /** The id of the job. */
  readonly runId: string;
  /** The instant of the run, epoch milliseconds. */
  readonly now: number;
};

type Needs = {
  readonly handle: Handle;
  readonly tools: Tools;
  readonly filters: Pick<Filters, 'of'>;
  readonly evaluate: Evaluate;
  /** Epoch milliseconds. */
  readonly now: () => number;
};

const never = new AbortController().signal;
const mostCharacters = 512 * 1024;

/** One run of a trigger. */
export type Run = {
  /** The trigger and its automation as they decide. Their present state can only stop the run. */
  readonly trigger: { readonly id: string; readonly content: TriggerContent };
  readonly automation: { readonly id: string; readonly content: AutomationContent };
  /** The caller has just read both, and judged the account. After a transformation they are read again all the same. */
  readonly isNow?: boolean;
  /** The account whose rights count, as of now: a function is asked just before the job starts. Undefined: it is gone. */
  readonly actor: Actor | undefined | (() => Promise<Actor | undefined>);
  /** Without form data, that of the trigger counts. */
  readonly given: Incoming;
  readonly event?: FiringEvent & { readonly id: string };
  /** The ids of the inventories whose devices the event names. */
  readonly inventories?: readonly string[];
  /** The instant of the schedule, epoch milliseconds. */
  readonly instant?: number;
  readonly depth: number;
  /** The id of the job, if it follows from the reason of the run. If there is a job with it, that one is the answer. */
  readonly jobId?: string;
  readonly about: Omit<Request, 'id' | 'input' | 'actor' | 'calledBy'>;
  /** Ends the transformation. */
  readonly signal?: AbortSignal;
};

/** Why a run starts no job. Its code and its faults are for those who wait for an answer. */
export class RunRefused extends RequestError {
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, error: RequestError) {
    super(error.code, error.message, { faults: error.faults, cause: error });
    this.reason = reason;
  }
}

/** `at`: when the job started; UTC, ISO 8601 with milliseconds. */
export type Ran = { readonly job: CommandResult; readonly at: string } | { readonly refused: RunRefused };

const startJobOfTrigger = commandsOf(job)({
  name: 'startJobOfTrigger',
  input: Type.Unsafe<TriggeredStart>({}),
  on: 'any',
  prepare: async ({ id, input, state, actor, now }, tools) => ({
    gbac: await accessListThatDenies(actor, state, tools),
    running: job.exists(state)
      ? undefined
      : await workflowOfComponent(input.automation.component, { id, actor, now, variables: input.variables }, tools),
  }),
  // As in startJob.
  gbac: (_, { gbac }) => gbac,
  decide: startTriggered,
});

const refused = (reason: RefusalReason, code: RequestError['code'], message: string): RunRefused =>
  new RunRefused(reason, new RequestError(code, message));

/** Throws `invalid` with the paths of all faults. */
const refuseUnfit = (what: string, faults: readonly (Fault & { readonly path: string })[]): void => {
  const [first] = faults;
  if (first) throw new RequestError('invalid', `${what}: ${first.path || 'it'} ${first.message}`, { faults });
};

/** Throws `invalid` for a body that does not fit the trigger's schema. */
const refuseBody = (body: unknown, content: TriggerContent, filters: Pick<Filters, 'of'>): void => {
  const compiled = filters.of('schema' in content ? content.schema : null);
  // Schemas are compiled when they are saved. An earlier version may have taken more.
  if (!compiled.ok) throw new RequestError('conflict', `The schema of the trigger cannot be used: ${compiled.reason}`);
  const match = compiled.matches(body);
  if (!match.valid) refuseUnfit('The body does not fit the schema', match.errors);
};

type Formed = Extract<TriggerContent, { readonly formId: unknown }>;

/** The form data of a run with sealed secrets. Throws `RunRefused` if it does not fit the trigger's form. */
export const formDataOf = async (
  content: Formed,
  payload: unknown,
  actor: Asking['actor'],
  tools: Tools,
): Promise<unknown> => {
  const formData = payload == null ? (content.formData ?? {}) : sealedData({ formData: payload }, content, tools);
  const { formId, formSchemaHash = null } = content;
  const form =
    formId === null
      ? undefined
      : await formNamed(formId, { formData: maskSecrets(formData), values: 'whole', actor: await actor() }, tools);
  if (form === null) throw refused('form', 'conflict', `The form ${JSON.stringify(formId)} is gone`);
  if (form && formSchemaHash !== null && form.schemaHash !== formSchemaHash)
    throw refused(
      'form',
      'conflict',
      `The form ${JSON.stringify(form.name ?? formId)} has changed since the trigger was saved: save its form data again`,
    );
  const faults = form?.faults.map((fault) => ({ ...fault, path: `/formData${fault.path}` })) ?? [];
  const [first] = faults;
  if (first)
    throw new RunRefused(
      'form',
      new RequestError('invalid', `The form data does not fit the form: ${first.path} ${first.message}`, { faults }),
    );
  const [missing] = missingIn(formData, '/formData');
  if (missing !== undefined)
    throw new RunRefused(
      'form',
      new RequestError('conflict', `The form data has no secret at ${missing}, only its mask: save the secret first`, {
        path: missing,
      }),
    );
  return formData;
};

/** Seals the secrets of the variables. Sealed values stay so under any name. */
const sealedVariables = (variables: Variables, { seal, unseal }: Tools): Variables => {
  const opened = openInSecrets(variables, unseal);
  return sealSecrets(opened, opened, seal) as Variables;
};

/** Throws `RunRefused` if the account may not run the component. */
const refuseComponent = async (...about: Parameters<typeof whyNotRunComponent>): Promise<void> => {
  const notRun = await whyNotRunComponent(...about);
  if (notRun) throw new RunRefused('rights', notRun);
};

const documentOf = async (
  transformation: Extract<Transformation, { readonly kind: 'named' | 'document' }>,
  actor: Asking['actor'],
  tools: Tools,
) => {
  if (transformation.kind === 'document') return transformation.document;
  const { idOrName } = transformation;
  const document = await transformationNamed(idOrName, tools, await actor());
  if (!document) throw new RequestError('unprocessable', `There is no transformation ${JSON.stringify(idOrName)}`);
  return document;
};

const byDocument = async (
  document: Awaited<ReturnType<typeof documentOf>>,
  variables: Variables,
  { account, signal, now, runId }: Asking,
  tools: Tools,
): Promise<Variables> => {
  const run = { now, runId, incoming: plainValue(variables) as Variables, options: { revertToDefaultValue: true } };
  const outgoing = await transformedBy(document, run, { account, signal }, tools);
  if (JSON.stringify(outgoing).length > mostCharacters)
    throw new RequestError('unprocessable', `The result has more than ${mostCharacters} characters`);
  return outgoing;
};

/**
 * The one function by which triggers of all types start jobs. It resolves once the job is stored, or with the reason
 * why there is none. A body that does not fit, and failures of the service, are thrown.
 */
export const triggerRuns = ({ handle, tools, filters, evaluate, now }: Needs) => {
  /** The incoming variables, with sealed secrets. */
  const sealedIncoming = async (
    content: TriggerContent,
    incoming: Incoming,
    actor: Asking['actor'],
  ): Promise<Variables> => {
    if ('formData' in incoming) {
      const formData =
        'formId' in content ? await formDataOf(content, incoming.formData, actor, tools) : incoming.formData;
      return variablesOf(content, { formData });
    }
    const variables = variablesOf(content, incoming);
    // A mask in a request would have to keep a secret, and there is none. In a payload it is what was published.
    if ('payload' in incoming) return sealedVariables(variables, tools);
    refuseBody(incoming.body, content, filters);
    return sealSecrets(variables, {}, tools.seal) as Variables;
  };

  const byExpression = async (expression: string, variables: Variables, asking: Asking): Promise<unknown> => {
    const word = randomBytes(12).toString('hex');
    const { open, hidden } = hideSealed(plainValue(variables), word);
    return showSealed(await evaluate(expression, open, asking), word, hidden);
  };

  const transformed = async (content: TriggerContent, variables: Variables, asking: Asking): Promise<Variables> => {
    const transformation = transformationOf(content);
    if (transformation.kind === 'none') return variables;
    if (transformation.kind === 'refused') throw refused('transformation', 'unprocessable', transformation.reason);
    try {
      const result =
        transformation.kind === 'jsonata'
          ? await byExpression(transformation.expression, variables, asking)
          : await byDocument(await documentOf(transformation, asking.actor, tools), variables, asking, tools);
      if (!isObject(result)) throw new RequestError('unprocessable', 'The result of the transformation is no object');
      return sealedVariables(result, tools);
    } catch (error) {
      if (!(error instanceof RequestError && error.code === 'unprocessable')) throw error;
      throw new RunRefused('transformation', error);
    }
  };

  /** The job's variables. */
  const variables = async (
    {
      trigger,
      given,
      event,
      instant,
    }: Pick<Run, 'trigger' | 'given' | 'instant'> & { readonly event?: FiringEvent | undefined },
    asking: Omit<Asking, 'now'>,
  ): Promise<Variables> => {
    const incoming = withoutOrigin(await sealedIncoming(trigger.content, given, asking.actor));
    const at = event?.at == null ? (instant ?? now()) : Date.parse(event.at);
    return withOrigin(await transformed(trigger.content, incoming, { ...asking, now: at }), trigger, event);
  };

  /** Throws `RunRefused` if trigger, automation or account have become such that nothing may start. */
  const refuseByNow = async (run: Run, actor: Actor | undefined): Promise<Actor> => {
    const [now, target] = await Promise.all([
      tools.state(trigger, run.trigger.id),
      tools.state(automation, run.automation.id),
    ]);
    if (!now.exists) throw refused('gone', 'not_found', 'No such trigger');
    if (!target.exists) throw refused('gone', 'not_found', 'The automation of the trigger is gone');
    if (!actor) throw refused('rights', 'forbidden', 'The account of the trigger is deleted or inactive');
    if (!mayRead(actor, target.content.gbac))
      throw refused('rights', 'not_found', 'The account may not read the automation');
    if (now.content?.enabled === false) throw refused('disabled', 'conflict', 'The trigger is disabled');
    return actor;
  };

  /** The account by which the job starts. Throws `RunRefused` if nothing may start any more. */
  const startingAccount = async (run: Run): Promise<Actor> => {
    const { actor, isNow, trigger } = run;
    if (typeof actor === 'function') return refuseByNow(run, await actor());
    return actor && isNow && transformationOf(trigger.content).kind === 'none' ? actor : refuseByNow(run, actor);
  };

  /** The job of a run that was carried out before; undefined if it was not. */
  const again = async ({ jobId, actor, about }: Pick<Run, 'jobId' | 'actor' | 'about'>) => {
    if (jobId === undefined || !job.exists(await tools.state(job, jobId))) return undefined;
    const who = typeof actor === 'object' ? actor : platform;
    return handle(startJobOfTrigger, { ...about, id: jobId, input: {}, actor: who });
  };

  const start = async (run: Run): Promise<CommandResult> => {
    const { trigger, automation, actor, event, instant = null, depth, inventories = [], about } = run;
    const id = run.jobId ?? randomId();
    // It is not judged again.
    const before = await again(run);
    if (before) return before;
    if (!trigger.content.enabled) throw refused('disabled', 'conflict', 'The trigger is disabled');
    const account = typeof actor === 'object' ? actor.id : trigger.id;
    const runVariables = await variables(run, {
      account,
      actor: () => startingAccount(run),
      signal: run.signal ?? never,
      runId: id,
    });
    const who = await startingAccount(run);
    const { name, componentType: type, componentName } = automation.content;
    const component = { type, name: componentName ?? name };
    await refuseComponent(component, who, tools);
    const input: TriggeredStart = {
      automation: { id: automation.id, name, component },
      variables: runVariables,
      trigger: trigger.id,
      event: event?.id ?? null,
      instant,
      depth,
      ...(inventories.length > 0 && { inventories: [...inventories] }),
      // The account that starts a run watches it. Nobody watches a run that starts by itself.
      watchers: event || run.instant !== undefined ? [] : [who.id],
    };
    return handle(startJobOfTrigger, { ...about, id, fresh: true, input, actor: who });
  };

  return {
    run: async (run: Run): Promise<Ran> => {
      try {
        const started = await start(run);
        return { job: started, at: (started.doc as JobDoc).created }; // the projection of the command's aggregate
      } catch (error) {
        if (error instanceof RunRefused) return { refused: error };
        if (error instanceof CannotRun) return { refused: new RunRefused('variables', error) };
        throw error;
      }
    },
    again,
    /** The variables that a job would get. Throws as a run does, and `RunRefused`. */
    variables,
  };
};

export type TriggerRuns = ReturnType<typeof triggerRuns>;
