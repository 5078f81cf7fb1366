import { exactText } from '@automation-platform/json';
import { importTree, treeMeant } from '../../commands/configuration-manager/trees.ts';
import { exportedTree, missingInTree } from '../../domain/configuration-manager/treeImports.ts';
import { importedTreeSchema, type Tree, treeSchema } from '../../domain/configuration-manager/treeSchemas.ts';
import { maskTree, tree } from '../../domain/configuration-manager/trees.ts';
import { trees } from '../../projections/configuration-manager/trees.ts';
import { importRoute } from '../engine/imports.ts';
import type { Route } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';
import { wordsSchema } from '../engine/schemas.ts';

const importTrees = importRoute({
  name: 'importTrees',
  method: 'post',
  path: '/import/configs',
  access: ['operators'],
  summary: 'Import golden configuration trees',
  description:
    'Takes what exports give, and golden configurations as other installations publish them: one document for each ' +
    'tree, with all its versions. Ids are kept. The same document again is no change; other content under a used id ' +
    'or name is 409 unless overwrite is true.',
  member: 'trees',
  document: importedTreeSchema,
  shown: treeSchema,
  take: async ({ document, path, overwrite, fresh, about }, { handle, tools }) => {
    const id = await treeMeant(document, fresh, tools);
    const { doc, position, replayed } = await handle(importTree, {
      ...about,
      id,
      input: { tree: document, overwrite },
    });
    const missingSecrets = missingInTree(document, await tools.state(tree, id), path);
    return { data: maskTree(doc as Tree), position, replayed, missingSecrets };
  },
});

const exportTree = actionRoute({
  name: 'exportTree',
  method: 'get',
  reads: true,
  path: '/configs/:id/export',
  access: ['operators', 'readers'],
  summary: 'Export a golden configuration tree',
  description:
    'What the import of trees takes back, with all that an import brought and the service does not know. Secrets are ' +
    'masked.',
  query: { as: wordsSchema },
  answer: importedTreeSchema,
  run: async ({ params, actor, query }, { entry, tools }) => {
    const { id } = await entry(trees, params.id, actor);
    return {
      text: exactText(exportedTree(id, await tools.state(tree, id), query.as)),
      exported: { kind: tree.category, id },
    };
  },
});

/** Imports and exports of whole trees. */
export const treeTransferRoutes: readonly Route[] = [importTrees, exportTree];
