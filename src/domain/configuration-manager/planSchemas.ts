import { type Static, Type } from 'typebox';
import { gbacInput, gbacSchema } from '../authorization/gbac.ts';
import { authored, objectId } from '../engine/authors.ts';
import type { SchemaData } from '../engine/core.ts';
import { name } from '../engine/schemas.ts';

const texts = (description: string) => Type.Optional(Type.Array(Type.String(), { description }));

/** A node of a compliance plan. Tree, version and nodeId together identify it. */
const planNodeSchema = Type.Object(
  {
    treeId: name('Id of the golden configuration tree'),
    version: name('Version of the tree'),
    nodeId: name('configId of the node of the tree'),
    variables: Type.Optional(Type.Object({}, { additionalProperties: true, description: 'Variables by name' })),
    devices: texts('Devices to check'),
    deviceGroups: texts('Groups of devices to check'),
    tasks: texts('Tasks'),
  },
  { additionalProperties: false, title: 'PlanNode', description: 'Node of a compliance plan' },
);
export type PlanNode = SchemaData<typeof planNodeSchema>;

const status = Type.Enum(['draft', 'active'], { description: 'Whether the plan is in force' });
export type PlanStatus = Static<typeof status>;

const members = {
  description: Type.String({ description: 'What it is for' }),
  nodes: Type.Array(planNodeSchema, {
    description: 'Nodes to add; one with the same tree, version and nodeId replaces the earlier one',
  }),
  gbac: gbacInput,
};

export const newPlanSchema = Type.Object(
  { name: name('Name, unique among plans'), ...Type.Partial(Type.Object(members)).properties },
  { additionalProperties: false, title: 'NewPlan', description: 'New compliance plan' },
);

/** A plan as it was, and when and by whom it was made. */
export const formerPlanSchema = Type.Object(
  { ...newPlanSchema.properties, status, created: authored.created, createdBy: authored.createdBy },
  { additionalProperties: false },
);

/** The options of `updateCompliancePlan`. Only given parts change. */
export const planOptionsSchema = Type.Partial(
  Type.Object({ name: name('New name, unique among plans'), status, ...members }),
  { additionalProperties: false, title: 'PlanOptions', description: 'What changes of a compliance plan' },
);

/** A plan in answers. Authors are account ids. */
export const planSchema = Type.Object(
  {
    _id: objectId('Id'),
    name: name('Name'),
    description: members.description,
    status,
    nodes: Type.Array(planNodeSchema, { description: 'Nodes' }),
    gbac: gbacSchema,
    ...authored,
  },
  { title: 'Plan', description: 'Compliance plan' },
);
