import { Type } from 'typebox';
import {
  type Described,
  describeTopics,
  gbac,
  members,
  nothing,
  object,
  restored,
  sealed,
  text,
  textOrNull,
  texts,
  whole,
} from '../engine/topics.ts';
import { adapter } from './adapters.ts';
import { deviceConfiguration } from './deviceConfigurations.ts';
import { deviceGroupImport } from './deviceGroupImports.ts';
import { deviceGroup } from './deviceGroups.ts';
import { planDeletion } from './planDeletions.ts';
import { plan } from './plans.ts';
import { tree } from './trees.ts';

const adapterContent = {
  type: text,
  properties: members,
  devices: Type.Array(Type.Object({ name: text }), { description: 'Devices, with what is known of each' }),
};
const about = { adapter: text, device: text, digest: text, lines: whole };
const outcome = Type.Object({
  ...about,
  status: Type.Union([Type.Integer(), Type.Null()]),
  answer: Type.Union([sealed, Type.Null()]),
  reason: Type.Optional(text),
  unverified: Type.Optional(Type.Literal(true)),
});
const group = { name: text, description: text, devices: texts };
const { imported: _, ...authors } = restored;
const plans = {
  name: text,
  description: text,
  status: text,
  nodes: Type.Array(
    Type.Object({
      treeId: text,
      version: text,
      nodeId: text,
      variables: Type.Optional(object),
      devices: Type.Optional(texts),
      deviceGroups: Type.Optional(texts),
      tasks: Type.Optional(texts),
    }),
  ),
  gbac,
};
const node = Type.Object({ name: text, configId: text });

export const configurationTopics: readonly Described[] = [
  describeTopics(adapter, {
    adapterCreated: ['An adapter was created', Type.Object({ name: text, ...adapterContent })],
    adapterReplaced: ['An adapter got new content', Type.Object(adapterContent)],
    adapterDeleted: ['An adapter was deleted', nothing],
  }),
  describeTopics(deviceConfiguration, {
    deviceConfigurationAttempted: ['A device is about to be configured', Type.Object(about)],
    deviceConfigurationApplied: ['A device took a configuration', outcome],
    deviceConfigurationFailed: ['A device did not take a configuration', outcome],
  }),
  describeTopics(deviceGroup, {
    deviceGroupCreated: ['A device group was created', Type.Object(group)],
    deviceGroupRestored: [
      'A device group was taken in with the times and authors of its document',
      Type.Object({ ...group, ...authors }),
    ],
    deviceGroupDeleted: ['A device group was deleted', nothing],
  }),
  describeTopics(deviceGroupImport, {
    deviceGroupsImported: [
      'Device groups are to be taken in',
      Type.Object({
        groups: Type.Array(Type.Object({ _id: text, ...group, ...Type.Partial(Type.Object(authors)).properties })),
      }),
    ],
  }),
  describeTopics(plan, {
    planCreated: ['A compliance plan was created', Type.Object(plans)],
    planNamed: ['A compliance plan got another name', Type.Object({ name: text })],
    planDescribed: ['A compliance plan got another description', Type.Object({ description: text })],
    planNodesAdded: ['Nodes were added to a compliance plan, or replaced in it', Type.Object({ nodes: plans.nodes })],
    planStatusSet: ['A compliance plan came into force, or became a draft again', Type.Object({ status: text })],
    planGbacSet: ['A compliance plan got other access lists', Type.Object({ gbac })],
    planRestored: ['A compliance plan became what it was before', Type.Object({ ...plans, gbac, ...authors })],
    planDeleted: ['A compliance plan was deleted', nothing],
  }),
  describeTopics(planDeletion, {
    plansDeleted: ['Compliance plans are to be deleted', Type.Object({ planIds: texts })],
  }),
  describeTopics(tree, {
    treeCreated: [
      'A golden configuration tree was created',
      Type.Object({ name: text, deviceType: textOrNull, root: node }),
    ],
    treeVersionAdded: [
      'A tree got a version that begins as a copy of another',
      Type.Object({ name: text, base: text }),
    ],
    treeNodeAdded: [
      'A version of a tree got a node',
      Type.Object({ version: text, parent: text, name: text, configId: text }),
    ],
    treeVariablesSet: ['Variables of a version were set', Type.Object({ version: text, variables: members })],
    treeVariablesDeleted: ['Variables of a version were deleted', Type.Object({ version: text, names: texts })],
    treeRestored: [
      'A tree got the content of an imported document',
      Type.Object({
        name: text,
        deviceType: textOrNull,
        versions: Type.Array(Type.Object({ name: text, root: node, variables: members })),
        imported: restored.imported,
      }),
    ],
    treeDeleted: ['A tree was deleted', nothing],
  }),
];
