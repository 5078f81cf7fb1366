import type { Tools } from '../../../commands/engine/define.ts';
import type { Tree } from '../../../domain/configuration-manager/treeSchemas.ts';
import { openNamed } from '../../../domain/engine/secretFields.ts';
import { trees } from '../../../projections/configuration-manager/trees.ts';
import type { ReadAs } from './readAs.ts';
import type { OperationFor } from './run.ts';

type Needs = { readonly tools: Pick<Tools, 'mayRead' | 'query' | 'unseal'>; readonly read: ReadAs };

/** Golden configuration trees. Their secrets are sealed by their names again, where the outputs are stored. */
export const treeRuns = ({ tools, read }: Needs) => {
  const getTree: OperationFor<'ConfigurationManager.getGoldenConfigTree'> = async ({ inputs, step }) => ({
    tree: openNamed(await read(trees, inputs.treeId, await step()), tools.unseal),
  });

  const getTrees: OperationFor<'ConfigurationManager.getGoldenConfigTrees'> = async ({ step }) => {
    const actor = await step();
    const found: Tree[] = [];
    for (let page = await tools.query(trees); page.length > 0; page = await tools.query(trees, undefined, found.length))
      found.push(...page);
    const readable = found.filter((tree) => tools.mayRead(trees, tree, actor));
    return { goldenConfigTrees: openNamed(readable, tools.unseal) };
  };

  return { getTree, getTrees };
};
