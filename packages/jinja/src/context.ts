import { limits } from './budget.ts';
import { limitError, type PythonError } from './errors.ts';
import type { Loaded } from './library.ts';
import type { BlockNode } from './parse/nodes.ts';
import { innerScope, type Scope } from './scope.ts';
import type { Run, Value } from './values/values.ts';

/** A block, and the template that has it. */
export type Block = { readonly node: BlockNode; readonly template: Loaded };

/** The state that a template shares with its parents while they are rendered. */
export type Context = {
  /** The names that they set outside of blocks and loops. Around it are the names that they are given. */
  readonly root: Scope;
  /** Blocks by name. The first one counts; each overrides those behind it. */
  readonly blocks: Map<string, Block[]>;
  /** Names in `root` that stand for imports. An import of this template does not get them. */
  readonly imported: Set<string>;
};

export const newContext = (outer: Scope, template: Loaded): Context => {
  const blocks = [...template.tree.blocks.values()].map((node): [string, Block[]] => [node.name, [{ node, template }]]);
  return { root: innerScope(outer), blocks: new Map(blocks), imported: new Set() };
};

/** The context of a scoped block: its names are those of the place where it stands. */
export const derivedContext = (context: Context, scope: Scope): Context => ({ ...context, root: scope });

/** Adds the blocks of a parent. */
export const addParent = ({ blocks }: Context, template: Loaded): void => {
  for (const node of template.tree.blocks.values()) {
    const block = { node, template };
    const others = blocks.get(node.name);
    if (others) others.push(block);
    else blocks.set(node.name, [block]);
  }
};

/** The names and values that an import of the template gets. */
export const exportedNames = ({ root, imported }: Context): ReadonlyMap<string, Value> =>
  new Map([...root.names].filter(([name]) => !imported.has(name) && !name.startsWith('_')));

/** Does work of a template: errors name it, and nothing is escaped in it at first. */
export const inTemplate = <T>(run: Run, template: Loaded, work: () => T): T => {
  const { template: before, escaping, line } = run;
  run.template = template;
  run.escaping = false;
  const result = work();
  run.template = before;
  run.escaping = escaping;
  run.line = line;
  return result;
};

const nameOfTemplate = (template: Loaded | undefined): string => template?.name ?? 'the given text';

/** Why the templates, each of which has called the next one, are too many. */
const tooDeep = (chain: readonly Loaded[]): PythonError => {
  const names = chain.map(nameOfTemplate);
  for (const [first, name] of names.entries()) {
    const next = names.indexOf(name, first + 1);
    if (next < 0) continue;
    return limitError(`The templates call each other without end: ${names.slice(first, next + 1).join(' -> ')}`);
  }
  return limitError(`Templates are nested deeper than ${limits.nesting}: ${names.join(' -> ')}`);
};

/** Does work within a template that another one has called: `chain` are those at work, from the first to this one. */
export const within = <T>(chain: Loaded[], template: Loaded, work: () => T): T => {
  chain.push(template);
  if (chain.length > limits.nesting + 1) throw tooDeep(chain);
  const result = work();
  chain.pop();
  return result;
};
