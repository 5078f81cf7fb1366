import type { Filters } from '@automation-platform/bounded-schemas';
import { plainValue } from '@automation-platform/json';
import type { Actor } from '../../domain/engine/core.ts';
import { automation } from '../../domain/operations-manager/automations.ts';
import type { Variables } from '../../domain/operations-manager/jobs.ts';
import type { TriggerContent } from '../../domain/operations-manager/triggers.ts';
import type { FiringEvent } from '../../domain/operations-manager/triggerVariables.ts';
import { decodeAny } from '../../store/anyEvent.ts';
import type { StoredEvent } from '../../store/port.ts';
import { mayRead } from '../engine/access.ts';
import type { Tools } from '../engine/define.ts';
import { depthOf, firingEvent, givenBy, jobIdOf, mayFire, tooDeep } from './firing.ts';
import { type Asking, RunRefused, type TriggerRuns } from './triggerRuns.ts';

export const reasonCodes = ['source', 'topic', 'schema', 'enabled', 'depth', 'rights', 'transformation'] as const;

/** Why an event does not fire a trigger. `path`: the place in the payload, as a JSON pointer. */
export type Reason = {
  readonly code: (typeof reasonCodes)[number];
  readonly path?: string;
  readonly message: string;
};

/** `variables`: those that the job would get; null if the event is not one that the trigger waits for. */
export type Explained = {
  readonly matches: boolean;
  readonly reasons: readonly Reason[];
  readonly variables: Variables | null;
};

type Placed = Pick<StoredEvent, 'stream' | 'type' | 'position'>;

/** An event by which a trigger is tested. */
export type TestEvent = FiringEvent & {
  readonly payload: unknown;
  readonly depth: number;
  /** Its place in the log; undefined if that decides nothing. */
  readonly placed: Placed | undefined;
};

/** An event trigger, as it is now. `account`: the id of the account by which it runs. */
export type TestedTrigger = {
  readonly id: string;
  readonly content: Extract<TriggerContent, { readonly type: 'eventSystem' }>;
  readonly account: string | null;
};

type Needs<Viewer> = {
  readonly filters: Pick<Filters, 'look'>;
  readonly variables: TriggerRuns['variables'];
  readonly state: Tools['state'];
  /** The account as of now, with its rights; undefined if it is deleted or inactive. */
  readonly viewerOf: (account: string) => Promise<Viewer | undefined>;
  readonly sees: (viewer: Viewer, event: Placed) => Promise<boolean>;
};

/** An event that nobody has published. Of a platform's event nobody knows in which stream it would be. */
export const imagined = (source: string, topic: string, payload: unknown): TestEvent => {
  const published = !source.startsWith('@platform/');
  return {
    ...{ id: null, position: null, at: null, source, topic, payload, depth: 0 },
    placed: published ? { stream: 'publishedEvent-', type: `${source}:${topic}`, position: 0 } : undefined,
  };
};

/** An event of the log. Throws `BadEvent`. */
export const recorded = async (stored: StoredEvent, state: Tools['state']): Promise<TestEvent> => {
  const event = decodeAny(stored);
  const depth = await depthOf(event, state);
  return { ...firingEvent(event), payload: givenBy(event), depth, placed: stored };
};

/**
 * Says in words why an event fires a trigger or not, as both are now. Accounts and automations are looked at once: make
 * a new one for each request.
 */
export const explainer = <Viewer extends { readonly actor: Actor }>(needs: Needs<Viewer>) => {
  const { filters, variables, state } = needs;
  const viewerOf = once(needs.viewerOf);
  const automationOf = once((id: string) => state(automation, id));

  const rightsReason = async (
    { content, account }: TestedTrigger,
    { placed }: TestEvent,
  ): Promise<string | undefined> => {
    const viewer = account === null ? undefined : await viewerOf(account);
    if (!viewer) return 'The account of the trigger is deleted or inactive';
    const { exists, content: target } = await automationOf(content.actionId);
    if (!exists || !mayRead(viewer.actor, target.gbac)) return 'The account of the trigger may not read its automation';
    return !placed || (await needs.sees(viewer, placed))
      ? undefined
      : 'The account of the trigger may not see the event';
  };

  const schemaReasons = (schema: unknown, payload: unknown): readonly Reason[] => {
    const filter = filters.look(schema);
    if (!filter.ok) return [{ code: 'schema', message: `The filter cannot be used: ${filter.reason}` }];
    return filter.matches(plainValue(payload)).errors.map(({ path, message }) => ({ code: 'schema', path, message }));
  };

  return async (tested: TestedTrigger, event: TestEvent, asking: Omit<Asking, 'now' | 'runId'>): Promise<Explained> => {
    const { id, content } = tested;
    const { payload, depth } = event;
    const unfit = [...waitingReasons(content, event), ...schemaReasons(content.schema, payload)];
    const reasons: Reason[] = [...unfit];
    if (!content.enabled) reasons.push({ code: 'enabled', message: 'The trigger is disabled' });
    const deep = tooDeep(depth);
    if (deep !== undefined) reasons.push({ code: 'depth', message: deep });
    const noRight = await rightsReason(tested, event);
    if (noRight !== undefined) reasons.push({ code: 'rights', message: noRight });
    if (unfit.length > 0) return { matches: false, reasons, variables: null };
    try {
      const runId = event.id === null ? id : jobIdOf(id, event.id);
      const runVariables = await variables(
        { trigger: { id, content }, given: { payload }, event },
        { ...asking, runId },
      );
      return { matches: reasons.length === 0, reasons, variables: runVariables };
    } catch (error) {
      if (!(error instanceof RunRefused)) throw error;
      return {
        matches: false,
        reasons: [...reasons, { code: 'transformation', message: error.message }],
        variables: null,
      };
    }
  };
};

const waitingReasons = (content: TestedTrigger['content'], { source, topic, placed }: TestEvent): readonly Reason[] => {
  const reasons: Reason[] = [];
  if (source !== content.source)
    reasons.push({ code: 'source', message: `The trigger waits for the source ${JSON.stringify(content.source)}` });
  if (topic !== content.topic)
    reasons.push({ code: 'topic', message: `The trigger waits for the topic ${JSON.stringify(content.topic)}` });
  else if (placed && !mayFire(placed))
    reasons.push({ code: 'topic', message: 'Events that tell of the runs of triggers fire nothing' });
  return reasons;
};

/** Asks once for each key. */
const once = <T>(ask: (key: string) => Promise<T>): ((key: string) => Promise<T>) => {
  const answers = new Map<string, Promise<T>>();
  return (key) => {
    const answer = answers.get(key) ?? ask(key);
    answers.set(key, answer);
    return answer;
  };
};
