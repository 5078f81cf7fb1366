import type { Actor, Gbac } from '../domain/engine/core.ts';
import { hidden, type Referrer } from '../domain/engine/references.ts';
import { automation } from '../domain/operations-manager/automations.ts';
import { accounts } from '../projections/authorization/accounts.ts';
import { groups } from '../projections/authorization/groups.ts';
import { plans } from '../projections/configuration-manager/plans.ts';
import type { Collection } from '../projections/engine/define.ts';
import type { Where } from '../projections/engine/port.ts';
import { serviceGroups } from '../projections/gateway-manager/serviceGroups.ts';
import { inventories } from '../projections/inventory-manager/inventories.ts';
import { automations } from '../projections/operations-manager/automations.ts';
import { type JobDoc, jobs } from '../projections/operations-manager/jobs.ts';
import { profiles } from '../projections/profiles/profiles.ts';
import { mayRead } from './engine/access.ts';
import type { Tools } from './engine/define.ts';

/** A collection whose documents may name a group or role. */
type Field<Doc, Filter extends string> = {
  readonly collection: Collection<Doc, string, Filter>;
  /** The filter field that holds the names. */
  readonly field: NoInfer<Filter>;
  /** A filter for the documents that count; all by default. */
  readonly only?: Where<NoInfer<Filter>>;
  readonly kind: string;
  /** The name of a document in the error. */
  readonly named: (doc: Doc) => string;
  /** Whether the actor may see a document; everybody by default. */
  readonly visible?: (doc: Doc, actor: Actor, tools: Tools) => boolean | Promise<boolean>;
};

/**
 * The documents that name the group or role, without the one with the id `self`. Names that the actor may not see are
 * replaced.
 */
type Referrers = (tools: Tools, name: string, self: string, actor: Actor) => Promise<readonly Referrer[]>;

const referrersIn =
  <Doc extends object, Filter extends string>({
    collection,
    field,
    only,
    kind,
    named,
    visible = () => true,
  }: Field<Doc, Filter>): Referrers =>
  async (tools, name, self, actor) => {
    const naming = { field, op: 'equals', value: name } as const;
    const found = await tools.query(collection, only ? { all: [naming, only] } : naming);
    return Promise.all(
      found
        .filter((doc) => !('_id' in doc) || doc._id !== self)
        .map(async (doc) => ({ kind, name: (await visible(doc, actor, tools)) ? named(doc) : hidden })),
    );
  };

const inAll =
  (all: readonly Referrers[]): Referrers =>
  async (...about) =>
    (await Promise.all(all.map((referrers) => referrers(...about)))).flat();

const byGbac = ({ gbac }: { readonly gbac: Gbac }, actor: Actor): boolean => mayRead(actor, gbac);

const mayReadJob = async ({ groups: read, automation: of }: JobDoc, actor: Actor, { state }: Tools) =>
  mayRead(actor, { read, write: [] }) && (of === null || mayRead(actor, (await state(automation, of)).content.gbac));

export const referrersOfGroup = inAll([
  referrersIn({ collection: accounts, field: 'memberOf', kind: 'account', named: (doc) => doc.username }),
  referrersIn({ collection: groups, field: 'memberOf', kind: 'group', named: (doc) => doc.name }),
  referrersIn({
    collection: automations,
    field: 'groups',
    kind: 'automation',
    named: (doc) => doc.name,
    visible: byGbac,
  }),
  referrersIn({
    collection: plans,
    field: 'groups',
    kind: 'compliance plan',
    named: (doc) => doc.name,
    visible: byGbac,
  }),
  referrersIn({ collection: inventories, field: 'groups', kind: 'inventory', named: (doc) => doc.name }),
  referrersIn({ collection: serviceGroups, field: 'groups', kind: 'service group', named: (doc) => doc.name }),
  referrersIn({ collection: profiles, field: 'admins', kind: 'profile', named: (doc) => doc.id }),
  referrersIn({
    collection: jobs,
    field: 'groups',
    kind: 'job',
    named: (doc) => doc.name,
    only: {
      any: [
        { field: 'status', op: 'equals', value: 'running' },
        { field: 'status', op: 'equals', value: 'paused' },
      ],
    },
    visible: mayReadJob,
  }),
]);

export const referrersOfRole = inAll([
  referrersIn({ collection: accounts, field: 'assignedRoles', kind: 'account', named: (doc) => doc.username }),
  referrersIn({ collection: groups, field: 'assignedRoles', kind: 'group', named: (doc) => doc.name }),
]);
