import type { CommandTemplateContent, CommandTemplateDocument } from '../../../src/domain/mop/commandTemplates.ts';

export const document: CommandTemplateDocument = {
  name: 'Check',
  commands: [{ command: 'show version', rules: [{ rule: '17', eval: 'contains' }] }],
};
export const content: CommandTemplateContent = {
  name: 'Check',
  description: '',
  os: '',
  passRule: true,
  namespace: null,
  commands: [{ command: 'show version', passRule: true, rules: [{ rule: '17', eval: 'contains' }] }],
};
