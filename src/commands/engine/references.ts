import { automation, type AutomationState } from '../../domain/operations-manager/automations.ts';
import type { Actor, Gbac } from '../../domain/engine/core.ts';
import type { Referrer } from '../../domain/engine/references.ts';
import { projections } from '../../projections/all.ts';
import type { Where } from '../../projections/engine/port.ts';
import { mayRead } from './access.ts';
import type { Tools } from './define.ts';

type Doc = Readonly<Record<string, any>>; // a document is any JSON

/**
 * Who may name a group or role: the filter field of a collection that lists the names, which documents count, how they
 * are called, and who may see them (absent: everybody).
 */
type Field = {
  readonly collection: string;
  readonly field: string;
  readonly only?: Where;
  readonly kind: string;
  readonly named: string;
  readonly visible?: (doc: Doc, actor: Actor, tools: Tools) => boolean | Promise<boolean>;
};

const byGbac = ({ gbac }: Doc, actor: Actor): boolean => mayRead(actor, gbac);

/** A deleted one is the admins' alone. */
const mayReadState = (actor: Actor, { exists, content }: AutomationState): boolean =>
  actor.admin || (exists && mayRead(actor, content.gbac));

const hidden = '(hidden)';

const toGroups: readonly Field[] = [
  { collection: 'accounts', field: 'memberOf', kind: 'account', named: 'username' },
  { collection: 'groups', field: 'memberOf', kind: 'group', named: 'name' },
  { collection: 'automations', field: 'groups', kind: 'automation', named: 'name', visible: byGbac },
  { collection: 'compliancePlans', field: 'groups', kind: 'compliance plan', named: 'name', visible: byGbac },
  { collection: 'inventories', field: 'groups', kind: 'inventory', named: 'name' },
  { collection: 'serviceGroups', field: 'groups', kind: 'service group', named: 'name' },
  { collection: 'profiles', field: 'admins', kind: 'profile', named: 'id' },
  {
    collection: 'jobs',
    field: 'groups',
    kind: 'job',
    named: 'name',
    only: {
      any: [
        { field: 'status', op: 'equals', value: 'running' },
        { field: 'status', op: 'equals', value: 'paused' },
      ],
    },
    visible: async ({ groups, automation: of }, actor, { state }) =>
      mayRead(actor, { read: groups, write: [] }) && (of === null || mayReadState(actor, await state(automation, of))),
  },
];

const toRoles: readonly Field[] = [
  { collection: 'accounts', field: 'assignedRoles', kind: 'account', named: 'username' },
  { collection: 'groups', field: 'assignedRoles', kind: 'group', named: 'name' },
];

const kept = (fields: readonly Field[]): readonly Field[] =>
  fields.filter(({ collection, field }) => projections.some((p) => p.collection === collection && field in p.filters));

/** Who names the group or role, but for the document with the id `self`; by name as far as the actor may see. */
const referrers =
  (fields: readonly Field[]) =>
  async (tools: Tools, name: string, self: string, actor: Actor): Promise<readonly Referrer[]> =>
    (
      await Promise.all(
        kept(fields).map(async ({ collection, field, only, kind, named, visible = () => true }) => {
          const found = await tools.query(collection, {
            all: [{ field, op: 'equals', value: name }, ...(only ? [only] : [])],
          });
          return Promise.all(
            found
              .filter(({ _id }) => _id !== self)
              .map(async (doc: Doc) => ({
                kind,
                name: (await visible(doc, actor, tools)) ? (doc[named] as string) : hidden,
              })),
          );
        }),
      )
    ).flat();

export const referrersOfGroup = referrers(toGroups);
export const referrersOfRole = referrers(toRoles);

/** Those of the names that no document of the collection has. */
export const unknownNames = async (
  { query }: Tools,
  collection: string,
  names: readonly string[],
): Promise<readonly string[]> => {
  if (names.length === 0) return [];
  const found = await query(collection, { any: names.map((value) => ({ field: 'name', op: 'equals', value })) });
  return names.filter((name) => !found.some((doc) => doc.name === name));
};

/**
 * The kinds of components that the platform holds: an automation's `componentType`, and the collection that its
 * `componentName` is an id or name in.
 */
export const componentCollections: ReadonlyMap<string, string> = new Map([
  ['agent', 'agents'],
  ['template', 'templates'],
  ['mop-template', 'commandTemplates'],
]);

/** One that refers: its name is for those alone who may see it. */
export const referrerOf = (kind: string, name: string, gbac: Gbac, actor: Actor): Referrer => ({
  kind,
  name: mayRead(actor, gbac) ? name : hidden,
});

/** Automations that name the component by one of its ids and names, as far as the actor may see. */
export const referrersOfComponent = async (
  { query }: Tools,
  componentType: string,
  idsAndNames: readonly string[],
  actor: Actor,
): Promise<readonly Referrer[]> => {
  const found = await query('automations', {
    all: [
      { field: 'componentType', op: 'equals', value: componentType },
      { any: idsAndNames.map((value) => ({ field: 'componentName', op: 'equals', value })) },
    ],
  });
  return found.map(({ name, gbac }) => referrerOf('automation', name, gbac, actor));
};

/**
 * The id of the component that an automation names; undefined where the platform holds no such kind, or none of that id
 * or name.
 */
export const componentId = async (
  { find }: Tools,
  { componentType, componentName }: { readonly componentType: string | null; readonly componentName: string | null },
): Promise<string | undefined> => {
  const collection = componentType === null ? undefined : componentCollections.get(componentType);
  return collection === undefined || componentName === null ? undefined : find(collection, componentName);
};
