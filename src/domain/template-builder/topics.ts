import { Type } from 'typebox';
import { anything, type Described, describeTopics, nothing, restored, text } from '../engine/topics.ts';
import { template } from './templates.ts';

const content = {
  name: text,
  type: text,
  template: text,
  description: text,
  command: text,
  data: anything,
  group: text,
  tags: Type.Array(anything),
};

export const templateTopics: readonly Described[] = [
  describeTopics(template, {
    templateCreated: ['A template was created', Type.Object(content)],
    templateChanged: ['Members of a template changed', Type.Partial(Type.Object(content))],
    templateRestored: ['A template got the content of an imported document', Type.Object({ ...content, ...restored })],
    templateDeleted: ['A template was deleted', nothing],
  }),
];
