import { Type } from 'typebox';
import { anything, type Described, describeTopics, flag, members, nothing, restored, text } from '../engine/topics.ts';
import { analyticTemplate } from './analyticTemplates.ts';
import { commandTemplate } from './commandTemplates.ts';

const header = {
  name: text,
  description: anything,
  os: anything,
  passRule: flag,
  namespace: anything,
};
const rules = Type.Array(members);
const commands = {
  ...header,
  commands: Type.Array(Type.Object({ command: text, passRule: flag, rules })),
};
const pairs = {
  ...header,
  prepostCommands: Type.Array(
    Type.Object({
      preRawCommand: text,
      postRawCommand: text,
      passRule: flag,
      rules,
      preCommandResHTML: text,
      postCommandResHTML: text,
    }),
  ),
};

export const mopTopics: readonly Described[] = [
  describeTopics(commandTemplate, {
    commandTemplateCreated: ['A command template was created', Type.Object(commands)],
    commandTemplateChanged: ['Members of a command template changed', Type.Partial(Type.Object(commands))],
    commandTemplateRestored: [
      'A command template got the content of an imported document',
      Type.Object({ ...commands, ...restored }),
    ],
    commandTemplateDeleted: ['A command template was deleted', nothing],
  }),
  describeTopics(analyticTemplate, {
    analyticTemplateCreated: ['An analytic template was created', Type.Object(pairs)],
    analyticTemplateChanged: ['Members of an analytic template changed', Type.Partial(Type.Object(pairs))],
    analyticTemplateRestored: [
      'An analytic template got the content of an imported document',
      Type.Object({ ...pairs, ...restored }),
    ],
    analyticTemplateDeleted: ['An analytic template was deleted', nothing],
  }),
];
