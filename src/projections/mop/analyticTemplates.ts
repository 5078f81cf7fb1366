import { type AnalyticTemplateContent, analyticTemplate } from '../../domain/mop/analyticTemplates.ts';
import { projectGuard } from '../automation-studio/projects.ts';
import { projection } from '../engine/define.ts';
import { type TemplateDoc, templateFilters, templateSorts, templateSteps } from './mopTemplates.ts';

export type AnalyticTemplateDoc = TemplateDoc<AnalyticTemplateContent>;

const { created, changed, restored, deleted } = templateSteps<AnalyticTemplateContent>();

export const analyticTemplates = projection<AnalyticTemplateDoc>()(analyticTemplate, {
  collection: 'analyticTemplates',
  on: {
    analyticTemplateCreated: created,
    analyticTemplateChanged: changed,
    analyticTemplateRestored: restored,
    analyticTemplateDeleted: deleted,
  },
  sorts: templateSorts,
  filters: templateFilters,
  guard: ({ name }) => projectGuard(name),
});
