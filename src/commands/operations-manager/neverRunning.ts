import { type Actor, platform } from '../../domain/engine/core.ts';
import type { Fault } from '../../domain/engine/requestError.ts';
import { form } from '../../domain/json-forms/forms.ts';
import type { TriggerContent } from '../../domain/operations-manager/triggers.ts';
import { forms } from '../../projections/json-forms/forms.ts';
import { isHidden } from '../engine/access.ts';
import type { Tools } from '../engine/define.ts';
import { formDataOf, RunRefused } from './triggerRuns.ts';
import { triggersOf } from './triggers.ts';

/**
 * Why every run of a schedule is refused for its form: no person fills in the rest of it. Undefined if none is. The
 * path points into the trigger. Nothing is told about a form that is hidden from the actor.
 */
export const formFaultOf = async (content: TriggerContent, actor: Actor, tools: Tools): Promise<Fault | undefined> => {
  if (content.type !== 'schedule') return undefined;
  const id = content.formId === null ? undefined : await tools.find(forms, content.formId);
  if (id !== undefined && (await isHidden({ of: form, id }, actor, tools))) return undefined;
  try {
    await formDataOf(content, null, async () => platform, tools);
    return undefined;
  } catch (error) {
    if (!(error instanceof RunRefused)) throw error;
    return { path: error.faults[0]?.path ?? '/formId', message: `The schedule never runs: ${error.message}` };
  }
};

/** The schedules of automations that never run, each with its id, its name and the reason. */
export const neverRunning = async (
  automations: readonly string[],
  actor: Actor,
  tools: Tools,
): Promise<readonly Fault[]> => {
  const found: Fault[] = [];
  for (const automation of automations)
    for (const { id, content } of await triggersOf(automation, tools)) {
      const fault = await formFaultOf(content, actor, tools);
      if (fault) found.push({ id, name: content.name, ...fault });
    }
  return found;
};
