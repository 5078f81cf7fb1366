import { type TProperties, Type } from 'typebox';
import { objectId, time } from '../../domain/engine/authors.ts';
import { executionStatus } from '../../domain/lifecycle-manager/actionExecutions.ts';
import { lastActionSchema } from '../../domain/lifecycle-manager/lastActions.ts';
import { groupMembers } from '../../domain/lifecycle-manager/resourceGroups.ts';
import { instanceMembers } from '../../domain/lifecycle-manager/resourceInstances.ts';
import { actionSchema, modelMembers } from '../../domain/lifecycle-manager/resourceModels.ts';
import { jobError } from '../../domain/operations-manager/jobSchemas.ts';

const text = (description: string) => Type.String({ description });
const author = (description: string) =>
  Type.Union(
    [
      Type.Object(
        {
          _id: text('Id of the account'),
          username: text('Name to log in with'),
          firstname: text('Name to greet with'),
          provenance: text('The provider of the account'),
        },
        { title: 'Author', description: 'Account' },
      ),
      Type.Null(),
    ],
    { description },
  );

const document = (members: TProperties, options: { readonly title: string; readonly description: string }) =>
  Type.Object(
    {
      _id: objectId('Id'),
      ...members,
      created: time('When it was made'),
      createdBy: author('The account that created it'),
      lastUpdated: time('When it was last changed'),
      lastUpdatedBy: author('The account that changed it last'),
    },
    options,
  );
const modelId = objectId('Id of the model');
const lastAction = Type.Optional(lastActionSchema);

export const modelSchema = document(modelMembers, { title: 'ResourceModel', description: 'Model of resources' });
export const instanceSchema = document(
  { modelId, ...instanceMembers, lastAction },
  { title: 'ResourceInstance', description: 'Instance of a model' },
);
export const groupSchema = document(
  { ...groupMembers, lastAction },
  { title: 'ResourceGroup', description: 'Group of instances of a model' },
);

const error = Type.Union([Type.Null(), jobError], { description: 'The error' });

export const executionSchema = Type.Object(
  {
    _id: objectId('Id'),
    modelId,
    action: actionSchema,
    target: Type.Object(
      {
        type: Type.Enum(['instance', 'group'], { description: 'Its kind' }),
        _id: objectId('Id'),
        name: text('Name at the start'),
      },
      { description: 'The instance or group that the action runs on, or makes' },
    ),
    inputs: instanceMembers.instanceData,
    status: executionStatus,
    tasks: Type.Array(
      Type.Object(
        {
          job: Type.Union([Type.Null(), objectId('Id')], { description: 'Id of its job; null without a workflow' }),
          instanceId: objectId('Id of the instance'),
          instanceName: text('Name of the instance at the start'),
          status: executionStatus,
          error,
        },
        { title: 'ActionTask', description: 'The run of the action on one instance' },
      ),
      { description: 'One for each instance' },
    ),
    error,
    created: time('When it was started'),
    createdBy: author('The account that started it'),
    lastUpdated: time('When it last changed'),
  },
  { title: 'ActionExecution', description: 'Run of an action' },
);

/** The schema of the answer of `deleteResourceModel`. */
export const deletionSchema = Type.Object(
  {
    _id: objectId('Id of the model'),
    deletedInstances: Type.Integer({ minimum: 0, description: 'How many instances went with it' }),
  },
  { title: 'ResourceModelDeletion', description: 'The deletion' },
);
