import { automation, type AutomationState } from '../domain/operations-manager/automations.ts';
import type { Actor } from '../domain/engine/core.ts';
import type { Referrer } from '../domain/engine/references.ts';
import { projections } from '../projections/all.ts';
import type { Where } from '../projections/engine/port.ts';
import { mayRead } from './engine/access.ts';
import type { Tools } from './engine/define.ts';
import { hidden } from './engine/references.ts';

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
