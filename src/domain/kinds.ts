import { scheduledJobDocuments } from './automation-catalog/scheduledJobImports.ts';
import { projectDocuments } from './automation-studio/projects.ts';
import { deviceGroupDocuments } from './configuration-manager/deviceGroupImports.ts';
import { treeDocuments } from './configuration-manager/treeImports.ts';
import type { DocumentKind } from './engine/documentKinds.ts';
import { formDocuments } from './json-forms/forms.ts';
import { modelDocuments } from './lifecycle-manager/resourceModels.ts';
import { analyticTemplateDocuments } from './mop/analyticTemplates.ts';
import { commandTemplateDocuments } from './mop/commandTemplates.ts';
import { automationDocuments } from './operations-manager/importedAutomations.ts';
import { workflowDocuments } from './operations-manager/workflow.ts';
import { templateDocuments } from './template-builder/templates.ts';
import { transformationDocuments } from './template-builder/transformations.ts';

/** The kinds of documents of any installation, in the order of their installation: a kind that another one names comes first. */
export const documentKinds: readonly DocumentKind[] = [
  formDocuments,
  templateDocuments,
  commandTemplateDocuments,
  analyticTemplateDocuments,
  deviceGroupDocuments,
  treeDocuments,
  scheduledJobDocuments,
  transformationDocuments,
  workflowDocuments,
  projectDocuments,
  automationDocuments,
  modelDocuments,
];

/** The kinds that packages install, by the types of their documents. */
export const installedKinds: ReadonlyMap<string, DocumentKind> = new Map(
  documentKinds.flatMap((kind) => kind.types.map((type) => [type, kind] as const)),
);
