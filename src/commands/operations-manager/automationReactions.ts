import { type AutomationImported, automationImport } from '../../domain/operations-manager/automationImports.ts';
import { automation } from '../../domain/operations-manager/automations.ts';
import { trigger } from '../../domain/operations-manager/triggers.ts';
import { type Recorded, splitStream } from '../../store/event.ts';
import type { Tools } from '../engine/define.ts';
import type { Next, Reaction } from '../engine/reactions.ts';
import { restoreAutomation } from './automations.ts';
import { removeTrigger, restoreTrigger, triggersOf } from './triggers.ts';

/** Deletes the triggers of a deleted automation. */
const removeTriggers = async ({ stream }: Recorded, tools: Tools): Promise<readonly Next[]> => {
  const { id: actionId } = splitStream(stream);
  if ((await tools.state(automation, actionId)).exists) return [];
  return (await triggersOf(actionId, tools)).map(({ id }) => ({ command: removeTrigger, id, input: { actionId } }));
};

/**
 * Deletes a trigger that was added to an automation at the same moment as the automation was deleted. One of the two
 * reactions always sees the other's event.
 */
const removeOrphan = async (
  { stream, data }: Recorded<{ readonly actionId?: string }>,
  tools: Tools,
): Promise<readonly Next[]> => {
  const { actionId } = data;
  if (actionId === undefined || (await tools.state(automation, actionId)).exists) return [];
  return [{ command: removeTrigger, id: splitStream(stream).id, input: { actionId } }];
};

/** The commands that carry an import out, in the streams of its resources. */
const restoreAll = async ({
  data: { automation, triggers, removed },
}: Recorded<AutomationImported>): Promise<readonly Next[]> => [
  { command: restoreAutomation, id: automation._id, input: without(automation) },
  ...removed.map((id) => ({ command: removeTrigger, id, input: { actionId: automation._id } })),
  ...triggers.map((trigger) => ({ command: restoreTrigger, id: trigger._id, input: without(trigger) })),
];

const without = ({ _id, ...rest }: { readonly _id: string }) => rest;

export const automationReactions: readonly Reaction[] = [
  { of: automation, on: { automationDeleted: removeTriggers } },
  { of: trigger, on: { triggerCreated: removeOrphan, triggerChanged: removeOrphan, triggerRestored: removeOrphan } },
  { of: automationImport, on: { automationImported: restoreAll } },
];
