import type { Actor } from '../../domain/engine/core.ts';
import type { Referrer } from '../../domain/engine/references.ts';
import { agents } from '../../projections/agent-session-manager/agents.ts';
import type { Collection } from '../../projections/engine/define.ts';
import { commandTemplates } from '../../projections/mop/commandTemplates.ts';
import { automations } from '../../projections/operations-manager/automations.ts';
import { templates } from '../../projections/template-builder/templates.ts';
import type { Tools } from '../engine/define.ts';
import { referrerOf } from '../engine/references.ts';

/**
 * The kinds of components that the platform stores: the `componentType` of an automation, and the collection for its
 * `componentName` (an id or name).
 */
export const componentCollections: ReadonlyMap<string, Collection> = new Map<string, Collection>([
  ['agent', agents],
  ['template', templates],
  ['mop-template', commandTemplates],
]);

/**
 * The automations that name the component by one of its ids and names. Names that the actor may not see are replaced.
 */
export const referrersOfComponent = async (
  { query }: Tools,
  componentType: string,
  idsAndNames: readonly string[],
  actor: Actor,
): Promise<readonly Referrer[]> => {
  const found = await query(automations, {
    all: [
      { field: 'componentType', op: 'equals', value: componentType },
      { any: idsAndNames.map((value) => ({ field: 'componentName', op: 'equals', value })) },
    ],
  });
  return found.map(({ name, gbac }) => referrerOf('automation', name, gbac, actor));
};

/**
 * The id of the automation's component; undefined if the platform does not store this kind, or has no component of this
 * id or name.
 */
export const componentId = async (
  { find }: Tools,
  { componentType, componentName }: { readonly componentType: string | null; readonly componentName: string | null },
): Promise<string | undefined> => {
  const collection = componentType === null ? undefined : componentCollections.get(componentType);
  return collection === undefined || componentName === null ? undefined : find(collection, componentName);
};
