import { type Block, type Context, inTemplate, newContext, within } from './context.ts';
import type { Library, Loaded } from './library.ts';
import type { Body } from './parse/nodes.ts';
import { selfOf, superOf } from './references.ts';
import { innerScope, type Scope } from './scope.ts';
import type { Run, Thing, Value } from './values/values.ts';

/** Takes the text that is printed: for the output, or for a value. */
export type Sink = { text: string; readonly add: (text: string) => void };

/** How a body ended. */
export type Ending = 'break' | 'continue' | undefined;

/** A template that was rendered to be imported: its name, its names and its text. */
export type Module = Thing & { readonly template: string; readonly text: () => string };

/** The state that all templates of one rendering share. */
export type Shared = {
  readonly run: Run;
  readonly library: Library;
  /** The names that every template knows. */
  readonly globals: Scope;
  /** The templates that were imported, or included, without a context. */
  readonly modules: Map<Loaded, Module>;
  /** The templates at work, each of which has called the next one. */
  readonly chain: Loaded[];
  /** Does the statements of a body. */
  readonly perform: (rendering: Rendering, body: Body, scope: Scope, into: Sink) => Ending;
};

/** A template that is rendered. */
export type Rendering = Shared & {
  readonly context: Context;
  /**
   * The parent of the template, once `extends` has named it. From then on, nothing outside of blocks is printed.
   * Undefined in blocks, macros and the like.
   */
  readonly child: { parent: Loaded | undefined } | undefined;
};

export const newSink = (run: Run, count: (characters: number) => void): Sink => {
  const sink: Sink = {
    text: '',
    add: (text) => {
      count(text.length);
      run.budget.fits(sink.text.length);
      sink.text += text;
    },
  };
  return sink;
};

/** Prints a block in a context. */
export const printBlock = (shared: Shared, context: Context, block: Block, into: Sink): void =>
  inTemplate(shared.run, block.template, () => {
    const { self, text } = selfIn(shared, context);
    const names = new Map<string, Value>([['self', self]]);
    if (block.node.readsSuper) names.set('super', superOf(context, block, text));
    shared.perform({ ...shared, context, child: undefined }, block.node.body, innerScope(context.root, names), into);
  });

/** `self` in a context, and the function that renders blocks in it. */
const selfIn = (shared: Shared, context: Context) => {
  const text = (of: Context, block: Block): string => {
    const into = newSink(shared.run, shared.run.budget.make);
    printBlock(shared, of, block, into);
    return into.text;
  };
  return { self: selfOf(context, text), text };
};

/** A context for a template that is given the names of a scope. */
export const contextOf = (shared: Shared, outer: Scope, template: Loaded): Context => {
  const around = innerScope(outer);
  const context = newContext(around, template);
  around.names.set('self', selfIn(shared, context).self);
  return context;
};

/** Renders a template and then its parent, in one context. */
export const renderIn = (shared: Shared, context: Context, template: Loaded, into: Sink): void =>
  within(shared.chain, template, () =>
    inTemplate(shared.run, template, () => {
      const child: NonNullable<Rendering['child']> = { parent: undefined };
      shared.perform({ ...shared, context, child }, template.tree.body, context.root, into);
      if (child.parent) renderIn(shared, context, child.parent, into);
    }),
  );
