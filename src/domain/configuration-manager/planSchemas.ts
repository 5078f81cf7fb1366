import { type Static, Type } from 'typebox';
import { gbacInput, gbacSchema } from '../authorization/gbac.ts';
import { authored, authoredByPeople, objectId } from '../engine/authors.ts';
import type { SchemaData } from '../engine/core.ts';
import { closed, name } from '../engine/schemas.ts';

const texts = (description: string) => Type.Optional(Type.Array(Type.String(), { description }));

/** A node of a compliance plan. Tree, version and nodeId together identify it. */
const planNodeSchema = closed(
  {
    treeId: name('Id of the golden configuration tree'),
    version: name('Version of the tree'),
    nodeId: name('configId of the node of the tree'),
    variables: Type.Optional(Type.Object({}, { additionalProperties: true, description: 'Variables by name' })),
    devices: texts('Devices to check'),
    deviceGroups: texts('Groups of devices to check'),
    tasks: texts('Tasks'),
  },
  { title: 'PlanNode', description: 'Node of a compliance plan' },
);
export type PlanNode = SchemaData<typeof planNodeSchema>;

const status = Type.Enum(['draft', 'active'], { description: 'active: the plan is in force' });
export type PlanStatus = Static<typeof status>;

const weight = (of: string) => Type.Number({ minimum: 0, maximum: 100, description: `Weight of ${of}` });
const benchmark = (grade: string) =>
  Type.Number({ minimum: 0, maximum: 100, description: `The lowest score of the grade ${grade}` });

/** How scores and grades are computed. */
export const gradingSchema = closed(
  {
    weights: closed({ error: weight('an error'), warning: weight('a warning'), info: weight('an info') }),
    benchmarks: closed({ pass: benchmark('pass'), review: benchmark('review') }),
  },
  { title: 'Grading', description: 'How scores and grades are computed' },
);

const grading = Type.Union([gradingSchema, Type.Null()], {
  description: 'Weights and benchmarks; null: 2, 1 and 0.5, and 90 and 80',
});

export const usualThrottle = 5;
const throttle = Type.Integer({ minimum: 1, maximum: 50, description: 'How many devices are read at once' });

const ofPlan = {
  description: Type.String({ description: 'Its purpose' }),
  nodes: Type.Array(planNodeSchema, {
    description: 'Nodes to add; one with the same tree, version and nodeId replaces the earlier one',
  }),
  gbac: gbacInput,
  throttle,
  grading,
};

export const newPlanSchema = closed(
  { name: name('Name, unique among plans'), ...Type.Partial(Type.Object(ofPlan)).properties },
  { title: 'NewPlan', description: 'New compliance plan' },
);

const optionsOfNew = Type.Partial(Type.Object({ status, ...ofPlan }), {
  additionalProperties: false,
  title: 'NewPlanOptions',
  description: 'The parts of a new compliance plan beside its name',
});

/** A new plan in the form of clients: its parts are in `options`. */
const newPlanWithOptions = closed(
  { name: newPlanSchema.properties.name, options: optionsOfNew },
  { title: 'NewPlanWithOptions', description: 'New compliance plan' },
);

/** A new plan in either form. */
export const newPlanInEitherForm = Type.Unsafe<Static<typeof newPlanSchema> | Static<typeof newPlanWithOptions>>({
  if: { type: 'object', required: ['options'], properties: { options: {} } },
  then: newPlanWithOptions,
  else: newPlanSchema,
});

/** The input that makes a new plan. */
export const newPlanInput = closed({ ...newPlanSchema.properties, status: Type.Optional(status) });

/** A plan in an import. */
export const importedPlanSchema = closed(
  {
    id: Type.Optional(objectId('Id')),
    _id: Type.Optional(objectId('Id')),
    ...newPlanInput.properties,
    ...authoredByPeople,
  },
  { title: 'ImportedPlan', description: 'Compliance plan, as its GET gives it' },
);

/** A plan as it was, and when and by whom it was made. */
export const formerPlanSchema = closed({
  ...newPlanSchema.properties,
  status,
  created: authored.created,
  createdBy: authored.createdBy,
});

/** The options of `updateCompliancePlan`. Only given parts change. */
export const planOptionsSchema = Type.Partial(
  Type.Object({ name: name('New name, unique among plans'), status, ...ofPlan }),
  { additionalProperties: false, title: 'PlanOptions', description: 'Changes of a compliance plan' },
);

/** Nodes that join a plan. */
export const newPlanNodesSchema = closed({
  nodes: Type.Array(planNodeSchema, {
    minItems: 1,
    description: 'Nodes to add; one with the same tree, version and nodeId replaces the earlier one',
  }),
});

const { treeId, version, nodeId } = planNodeSchema.properties;

/** Nodes that leave a plan. */
export const formerPlanNodesSchema = closed({
  nodes: Type.Array(
    Type.Object({ treeId, version, nodeId }, { title: 'FormerPlanNode', description: 'Node of the plan' }),
    {
      minItems: 1,
      description: 'Nodes of the plan; members besides these three do not count',
    },
  ),
});

/** A plan in answers. Authors are account ids. */
export const planSchema = Type.Object(
  {
    id: objectId('Id'),
    _id: objectId('Id'),
    name: name('Name'),
    description: ofPlan.description,
    status,
    nodes: Type.Array(planNodeSchema, { description: 'Nodes' }),
    gbac: gbacSchema,
    throttle,
    grading,
    ...authored,
  },
  { title: 'Plan', description: 'Compliance plan' },
);
