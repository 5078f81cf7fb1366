import { type CommandTemplateContent, commandTemplate } from '../../domain/mop/commandTemplates.ts';
import { projectGuard } from '../automation-studio/projects.ts';
import { projection } from '../engine/define.ts';
import { type TemplateDoc, templateFilters, templateSorts, templateSteps } from './mopTemplates.ts';

export type CommandTemplateDoc = TemplateDoc<CommandTemplateContent>;

const { created, changed, restored, deleted } = templateSteps<CommandTemplateContent>();

export const commandTemplates = projection<CommandTemplateDoc>()(commandTemplate, {
  collection: 'commandTemplates',
  on: {
    commandTemplateCreated: created,
    commandTemplateChanged: changed,
    commandTemplateRestored: restored,
    commandTemplateDeleted: deleted,
  },
  component: 'mop-template',
  sorts: templateSorts,
  filters: templateFilters,
  guard: ({ name }) => projectGuard(name),
});
