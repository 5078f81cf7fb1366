import type { Block, Context } from './context.ts';
import { bind } from './values/arguments.ts';
import { markup, type Run, type Thing, undefinedValue, type Value } from './values/values.ts';

/** The text of a block in a context. */
type TextOf = (context: Context, block: Block) => string;

const noParent = (name: string): Value => undefinedValue(`there is no parent block called '${name}'.`);

/** A block that a template can call: `self.name`, and `super`. */
const blockReference = (textOf: TextOf, context: Context, blocks: readonly Block[], at: number): Value => {
  const block = blocks[at];
  if (!block) return noParent(blocks[0]?.node.name ?? '');
  return {
    kind: 'thing',
    type: 'BlockReference',
    print: () => '<jinja2.runtime.BlockReference object>',
    get: (name) => (name === 'super' ? blockReference(textOf, context, blocks, at + 1) : undefined),
    call: (run: Run, args, kwargs) => {
      bind(block.node.name, [], args, kwargs);
      const text = run.budget.deeper(() => textOf(context, block));
      return run.escaping ? markup(text) : text;
    },
  };
};

/** `self`: the blocks of a template by name. */
export const selfOf = (context: Context, textOf: TextOf): Thing => ({
  kind: 'thing',
  type: 'TemplateReference',
  print: () => '<TemplateReference None>',
  get: (name) => {
    const blocks = context.blocks.get(name);
    return blocks && blockReference(textOf, context, blocks, 0);
  },
});

/** `super` in a block: the block that it overrides. */
export const superOf = (context: Context, block: Block, textOf: TextOf): Value => {
  const blocks = context.blocks.get(block.node.name) ?? [block];
  return blockReference(textOf, context, blocks, blocks.indexOf(block) + 1);
};
