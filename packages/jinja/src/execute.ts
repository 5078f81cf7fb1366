import { derivedContext } from './context.ts';
import { PythonError, typeError, valueError } from './errors.ts';
import { argumentsOf, callValue, evaluate } from './evaluate.ts';
import type { Library, Loaded } from './library.ts';
import { type Loop, loopOver } from './loop.ts';
import { macroOf } from './macro.ts';
import { useOther } from './otherTemplates.ts';
import type { Body, CallNode, FilterNode, Signature, Statement, Target } from './parse/nodes.ts';
import {
  contextOf,
  type Ending,
  newSink,
  printBlock,
  type Rendering,
  renderIn,
  type Shared,
  type Sink,
} from './rendering.ts';
import { innerScope, lookUp, type Scope } from './scope.ts';
import { each, itemAt } from './values/iterate.ts';
import { escaped, str, textRepr } from './values/print.ts';
import { generator, isThing, markup, type Run, type Thing, truthy, typeName, type Value } from './values/values.ts';

type Node<Name extends Statement['node']> = Extract<Statement, { node: Name }>;

const asValue = (run: Run, text: string): Value => (run.escaping ? markup(text) : text);

const print = (run: Run, value: Value, into: Sink): void =>
  into.add(run.escaping ? escaped(run, value).text : str(run, value));

const unpack = (run: Run, scope: Scope, items: readonly Target[], value: Value): void => {
  if (typeof value === 'bigint' || typeof value === 'number' || typeof value === 'boolean' || value === null)
    throw typeError(`cannot unpack non-iterable ${typeName(value)} object`);
  const values: Value[] = [];
  for (const item of each(run, value)) {
    if (values.length === items.length) throw valueError(`too many values to unpack (expected ${items.length})`);
    values.push(item);
  }
  if (values.length < items.length)
    throw valueError(`not enough values to unpack (expected ${items.length}, got ${values.length})`);
  items.forEach((item, i) => {
    assign(run, scope, item, itemAt(values, i));
  });
};

const assign = (run: Run, scope: Scope, target: Target, value: Value): void => {
  switch (target.node) {
    case 'name':
      scope.names.set(target.name, value);
      return;
    case 'member': {
      const object = lookUp(scope, target.name);
      if (object === undefined || !isThing(object) || !object.set)
        throw new PythonError('TemplateRuntimeError', 'cannot assign attribute on non-namespace object');
      object.set(target.attribute, value);
      return;
    }
    case 'targets':
      unpack(run, scope, target.items, value);
  }
};

/** Runs a body and returns its text as a value. */
const captured = (rendering: Rendering, scope: Scope, body: Body): string => {
  const { run } = rendering;
  const into = newSink(run, run.budget.make);
  perform(rendering, body, scope, into);
  return into.text;
};

const filtered = (run: Run, scope: Scope, node: FilterNode, text: string): Value => {
  const of = node.of?.node === 'filter' ? filtered(run, scope, node.of, text) : asValue(run, text);
  const [args, kwargs] = argumentsOf(run, scope, node);
  run.line = node.line;
  return run.filter(node.name, of, args, kwargs);
};

/** Yields the items that pass the loop's own test. */
function* chooseItems(run: Run, scope: Scope, { target, test }: Node<'for'>, over: Value): Generator<Value> {
  for (const item of each(run, over)) {
    const inner = innerScope(scope);
    assign(run, inner, target, item);
    if (!test || truthy(evaluate(run, inner, test))) yield item;
  }
}

type Repetition = {
  readonly node: Node<'for'>;
  readonly scope: Scope;
  readonly over: Value;
  readonly into: Sink;
  /** 0 for a loop that does not recurse, and one more for each recursion. */
  readonly depth: number;
};

const repeat = (rendering: Rendering, repetition: Repetition): void => {
  const { run } = rendering;
  const { node, scope, over, into, depth } = repetition;
  const again = (inner: Value): Value =>
    run.budget.deeper(() => {
      const text = newSink(run, run.budget.make);
      repeat(rendering, { node, scope, over: inner, into: text, depth: depth + 1 });
      return asValue(run, text.text);
    });
  const items: Value = node.test ? generator('do_filter', chooseItems(run, scope, node, over)) : over;
  const loop: Loop = loopOver(run, items, depth, node.recursive ? again : undefined);
  let any = false;
  for (let item = loop.next(); item !== undefined; item = loop.next()) {
    any = true;
    const inner = innerScope(scope, new Map<string, Value>(node.extended ? [['loop', loop.variable]] : []));
    assign(run, inner, node.target, item);
    if (perform(rendering, node.body, inner, into) === 'break') return;
  }
  if (!any) perform(rendering, node.otherwise, innerScope(scope), into);
};

const callBlock = (run: Run, scope: Scope, call: CallNode, caller: Thing): Value => {
  const callee = evaluate(run, scope, call.callee);
  const [args, kwargs] = argumentsOf(run, scope, call);
  return callValue(run, callee, args, kwargs.set('caller', caller));
};

const setBlock = (rendering: Rendering, node: Node<'setBlock'>, scope: Scope): void => {
  const { run } = rendering;
  const inner = innerScope(scope);
  const text = captured({ ...rendering, child: undefined }, inner, node.body);
  const value = node.filter ? filtered(run, inner, node.filter, text) : text;
  set(rendering, scope, node.target, run.escaping ? markup(str(run, value)) : value);
};

const autoescape = (rendering: Rendering, node: Node<'autoescape'>, scope: Scope, into: Sink): Ending => {
  const { run } = rendering;
  const before = run.escaping;
  run.escaping = truthy(evaluate(run, scope, node.value));
  const ending = perform(rendering, node.body, innerScope(scope), into);
  run.escaping = before;
  return ending;
};

/** A macro, or the body of a call block (no name). */
const macro = (rendering: Rendering, scope: Scope, name: string | undefined, signature: Signature): Thing => {
  const own = { ...rendering, child: undefined };
  return macroOf(rendering.run, { name, signature, outer: scope, render: (inner, body) => captured(own, inner, body) });
};

const blockHere = (rendering: Rendering, node: Node<'block'>, scope: Scope, into: Sink): void => {
  const { context, child } = rendering;
  if (child?.parent && scope === context.root) return;
  const [block, ...overridden] = context.blocks.get(node.name) ?? [];
  if (!block) throw new Error(`The context lacks the block ${node.name}`);
  if (node.required && overridden.length === 0)
    throw new PythonError('TemplateRuntimeError', `Required block ${textRepr(node.name)} not found`);
  printBlock(rendering, node.scoped ? derivedContext(context, scope) : context, block, into);
};

/** The names that an assignment sets. */
const namesIn = (target: Target): readonly string[] => {
  if (target.node === 'targets') return target.items.flatMap(namesIn);
  return target.node === 'name' ? [target.name] : [];
};

/** Assigns outside of blocks and loops make names that an import of the template gets. */
const set = ({ run, context }: Rendering, scope: Scope, target: Target, value: Value): void => {
  assign(run, scope, target, value);
  if (scope === context.root) for (const name of namesIn(target)) context.imported.delete(name);
};

/** Runs one statement. Returns `break` or `continue` if the statement ends the body so. */
const act = (rendering: Rendering, node: Statement, scope: Scope, into: Sink): Ending => {
  const { run } = rendering;
  run.budget.step();
  run.line = node.line;
  switch (node.node) {
    case 'data':
      if (rendering.child?.parent) return;
      into.add(node.text);
      return;
    case 'print': {
      if (rendering.child?.parent) return;
      const value = evaluate(run, scope, node.value);
      run.line = node.line;
      print(run, value, into);
      return;
    }
    case 'do':
      evaluate(run, scope, node.value);
      return;
    case 'set':
      set(rendering, scope, node.target, evaluate(run, scope, node.value));
      return;
    case 'setBlock':
      setBlock(rendering, node, scope);
      return;
    case 'if':
      for (const { test, body } of node.branches)
        if (truthy(evaluate(run, scope, test))) return perform(rendering, body, scope, into);
      return perform(rendering, node.otherwise, scope, into);
    case 'for':
      repeat(rendering, { node, scope, over: evaluate(run, scope, node.over), into, depth: 0 });
      return;
    case 'with': {
      const inner = innerScope(scope);
      for (const [target, value] of node.targets) assign(run, inner, target, evaluate(run, scope, value));
      return perform(rendering, node.body, inner, into);
    }
    case 'macro':
      scope.names.set(node.name, macro(rendering, scope, node.name, node.signature));
      if (scope === rendering.context.root) rendering.context.imported.delete(node.name);
      return;
    case 'callBlock':
      print(run, callBlock(run, scope, node.call, macro(rendering, scope, undefined, node.signature)), into);
      return;
    case 'filterBlock': {
      const inner = innerScope(scope);
      print(run, filtered(run, inner, node.filter, captured(rendering, inner, node.body)), into);
      return;
    }
    case 'block':
      blockHere(rendering, node, scope, into);
      return;
    case 'extends':
    case 'include':
    case 'import':
    case 'from':
      useOther(rendering, node, scope, into);
      return;
    case 'autoescape':
      return autoescape(rendering, node, scope, into);
    case 'break':
    case 'continue':
      return node.node;
  }
};

const perform = (rendering: Rendering, body: Body, scope: Scope, into: Sink): Ending => {
  for (const node of body) {
    const ending = act(rendering, node, scope, into);
    if (ending) return ending;
  }
  return undefined;
};

/** The names that all templates know, and within them those that this one is given. */
type Names = { readonly globals: Scope; readonly variables: Scope };

/** Renders a template. */
export const execute = (run: Run, template: Loaded, library: Library, { globals, variables }: Names): string => {
  const shared: Shared = { run, library, globals, modules: new Map(), chain: [], perform };
  const output = newSink(run, run.budget.print);
  renderIn(shared, contextOf(shared, variables, template), template, output);
  return output.text;
};
