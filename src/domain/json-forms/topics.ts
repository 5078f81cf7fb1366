import { Type } from 'typebox';
import {
  anything,
  type Described,
  describeTopics,
  nothing,
  object,
  restored,
  text,
  textOrNull,
  texts,
} from '../engine/topics.ts';
import { formDeletion } from './formDeletions.ts';
import { form } from './forms.ts';

const content = {
  name: text,
  description: textOrNull,
  struct: object,
  schema: object,
  uiSchema: anything,
  validationSchema: anything,
  bindingSchema: anything,
  version: text,
  tags: Type.Array(anything),
  namespace: anything,
};

export const formTopics: readonly Described[] = [
  describeTopics(form, {
    formCreated: ['A form was created', Type.Object(content)],
    formChanged: ['Members of a form changed', Type.Partial(Type.Object(content))],
    formRestored: ['A form got the content of an imported document', Type.Object({ ...content, ...restored })],
    formDeleted: ['A form was deleted', nothing],
  }),
  describeTopics(formDeletion, {
    formsDeleted: ['Forms are to be deleted', Type.Object({ ids: texts })],
    formDeletionCompleted: ['All forms of a deletion are deleted', nothing],
  }),
];
