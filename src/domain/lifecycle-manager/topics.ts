import { Type } from 'typebox';
import {
  type Described,
  describeTopics,
  members,
  nothing,
  restored,
  text,
  textOrNull,
  texts,
  whole,
} from '../engine/topics.ts';
import { actionExecution } from './actionExecutions.ts';
import { lastAction } from './lastActions.ts';
import { resourceGroup } from './resourceGroups.ts';
import { resourceInstance } from './resourceInstances.ts';
import { resourceModel } from './resourceModels.ts';

const action = Type.Object({ _id: text, name: text, type: text, workflow: textOrNull, description: text });
const error = Type.Union([Type.String(), members]);
const model = Type.Object({ name: text, description: text, schema: members, actions: Type.Array(action) });
const instance = { name: text, description: text, instanceData: members };

export const resourceTopics: readonly Described[] = [
  describeTopics(resourceModel, {
    resourceModelCreated: ['A resource model was created', model],
    resourceModelChanged: ['Members of a resource model changed', Type.Partial(model)],
    resourceModelRestored: [
      'A resource model got the content of an imported document',
      Type.Object({ ...model.properties, ...restored }),
    ],
    resourceModelDeleted: [
      'A resource model was deleted, with its instances and groups',
      Type.Object({ deletedInstances: whole }),
    ],
    resourceModelPartsRemoved: [
      'Instances and groups of a deleted model were removed',
      Type.Object({ removed: whole }),
    ],
  }),
  describeTopics(resourceInstance, {
    resourceInstanceCreated: ['A resource instance was created', Type.Object({ modelId: text, ...instance })],
    resourceInstanceChanged: ['Members of a resource instance changed', Type.Partial(Type.Object(instance))],
    resourceInstanceDeleted: ['A resource instance was deleted', nothing],
  }),
  describeTopics(resourceGroup, {
    resourceGroupCreated: [
      'A group of instances was created',
      Type.Object({ modelId: text, name: text, description: text, instances: texts }),
    ],
    resourceGroupMembersChanged: [
      'Instances came into a group or left it',
      Type.Object({ added: texts, removed: texts }),
    ],
    resourceGroupDeleted: ['A group of instances was deleted', nothing],
  }),
  describeTopics(actionExecution, {
    actionStarted: [
      'An action on an instance or a group began',
      Type.Object({
        modelId: text,
        action,
        automation: Type.Optional(Type.Union([Type.Null(), text])),
        target: Type.Object({ type: text, _id: text, name: text }),
        instanceDescription: text,
        inputs: members,
        tasks: Type.Array(Type.Object({ _id: text, instanceId: text, instanceName: text })),
        started: text,
      }),
    ],
    actionTaskChanged: [
      'The part of an action that concerns one instance changed its status',
      Type.Object({
        task: text,
        status: text,
        error: Type.Optional(error),
        instanceData: Type.Optional(members),
      }),
    ],
    actionCancelRequested: ['Somebody asked to cancel an action', nothing],
    actionPaused: ['An action paused', nothing],
    actionResumed: ['An action went on', nothing],
    actionCompleted: ['An action ended well', nothing],
    actionErrored: ['An action ended in error', Type.Object({ error })],
    actionCanceled: ['An action was canceled', nothing],
  }),
  describeTopics(lastAction, {
    lastActionSet: [
      'An instance or a group got its last action',
      Type.Object({ _id: text, executionId: text, name: text, type: text, status: text, started: text }),
    ],
    lastActionCleared: ['An instance or a group with a last action was deleted', nothing],
  }),
];
