import { Type } from 'typebox';
import {
  type AnalyticTemplateDocument,
  analyticTemplate,
  analyticTemplateChangeSchema,
  analyticTemplateDocuments,
  change,
  contentOf,
  create,
  importedAnalyticTemplateSchema,
  importOne,
  newAnalyticTemplateSchema,
  patternsIn,
  remove,
} from '../../domain/mop/analyticTemplates.ts';
import { sealImported, type TemplateRefs } from '../../domain/mop/mopTemplates.ts';
import { analyticTemplates } from '../../projections/mop/analyticTemplates.ts';
import { importAuthors } from '../authorization/authors.ts';
import { commandsOf } from '../engine/define.ts';
import { by, byImport, imported, type Kind } from '../engine/kinds.ts';
import { patternFaults } from './searches.ts';

const command = commandsOf(analyticTemplate);

const refsOf = async ({
  input: { template },
}: {
  readonly input: { readonly template: AnalyticTemplateDocument };
}): Promise<TemplateRefs> => ({ patternFaults: await patternFaults(patternsIn(contentOf(template))) });

export const createAnalyticTemplate = command({
  name: 'createAnalyticTemplate',
  input: Type.Object({ template: newAnalyticTemplateSchema }, { additionalProperties: false }),
  on: 'new',
  prepare: refsOf,
  decide: create,
});
export const updateAnalyticTemplate = command({
  name: 'updateAnalyticTemplate',
  input: Type.Object({ template: analyticTemplateChangeSchema }, { additionalProperties: false }),
  on: 'existing',
  prepare: refsOf,
  decide: change,
});
export const deleteAnalyticTemplate = command({
  name: 'deleteAnalyticTemplate',
  on: 'existing',
  prepare: async (): Promise<TemplateRefs> => ({}),
  decide: remove,
});
export const importAnalyticTemplate = command({
  name: 'importAnalyticTemplate',
  input: Type.Object({ template: importedAnalyticTemplateSchema, overwrite: Type.Optional(Type.Boolean()) }),
  on: 'any',
  decide: importOne,
  seal: sealImported,
  prepare: ({ id, input }, tools): Promise<TemplateRefs> =>
    importAuthors({ aggregate: analyticTemplate, id, documents: [input.template], ...input }, tools),
});

export const analyticTemplateKind: Kind = {
  ...imported({
    documents: analyticTemplateDocuments,
    collection: analyticTemplates,
    command: importAnalyticTemplate,
    member: 'template',
    inside: '/template',
  }),
  remove: deleteAnalyticTemplate,
  restore: {
    there: by(updateAnalyticTemplate),
    deleted: byImport(importAnalyticTemplate, 'template', 'importTemplate'),
  },
};
