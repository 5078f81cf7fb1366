import type { Actor } from '../../domain/engine/core.ts';
import type { Referrer } from '../../domain/engine/references.ts';
import { projections } from '../../projections/all.ts';
import type { Projection } from '../../projections/engine/define.ts';
import { automations } from '../../projections/operations-manager/automations.ts';
import type { Tools } from '../engine/define.ts';
import { referrerOf } from '../engine/references.ts';

/**
 * The kinds of components that the platform stores: the `componentType` of an automation, and the collection for its
 * `componentName` (an id or name).
 */
export const componentCollections: ReadonlyMap<string, Projection> = new Map(
  projections.flatMap((projection) =>
    projection.component === undefined ? [] : [[projection.component, projection] as const],
  ),
);

/**
 * The automations that name the component by one of its ids and names. Names that the actor may not see are replaced.
 */
export const referrersOfComponent = async (
  tools: Tools,
  componentType: string,
  idsAndNames: readonly string[],
  actor: Actor,
): Promise<readonly Referrer[]> => {
  const found = await tools.query(automations, {
    all: [
      { field: 'componentType', op: 'equals', value: componentType },
      { any: idsAndNames.map((value) => ({ field: 'componentName', op: 'equals', value })) },
    ],
  });
  return found.map((doc) => referrerOf(automations, doc, actor, tools));
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
