import { PythonError, typeError, valueError } from './errors.ts';
import { argumentsOf, callValue, evaluate } from './evaluate.ts';
import { type Loop, loopOver } from './loop.ts';
import { macroOf } from './macro.ts';
import type { Body, CallNode, FilterNode, Statement, Target } from './parse/nodes.ts';
import { innerScope, lookUp, type Scope } from './scope.ts';
import { each } from './values/iterate.ts';
import { escaped, str } from './values/print.ts';
import { type Run, type Thing, type Value, generator, isThing, markup, truthy, typeName } from './values/values.ts';

type ForNode = Extract<Statement, { node: 'for' }>;

/** Where text goes: to the output, or into a value. */
type Sink = { text: string; readonly add: (text: string) => void };

/** How a body ended. */
type Ending = 'break' | 'continue' | undefined;

/** Renders a tree. The scope's names are the template's variables and globals. */
export const execute = (run: Run, tree: Body, globals: Scope): string => {
  const root = innerScope(globals);

  const sink = (count: (characters: number) => void): Sink => {
    const made: Sink = {
      text: '',
      add: (text) => {
        count(text.length);
        run.budget.fits(made.text.length);
        made.text += text;
      },
    };
    return made;
  };

  /** The text of a body, as a value. */
  const captured = (scope: Scope, body: Body): string => {
    const into = sink(run.budget.make);
    perform(body, scope, into);
    return into.text;
  };
  const asValue = (text: string): Value => (run.escaping ? markup(text) : text);

  const print = (value: Value, into: Sink): void => into.add(run.escaping ? escaped(run, value).text : str(run, value));

  const assign = (scope: Scope, target: Target, value: Value): void => {
    if (target.node === 'name') {
      scope.names.set(target.name, value);
      return;
    }
    if (target.node === 'member') {
      const object = lookUp(scope, target.name);
      if (object === undefined || !isThing(object) || !object.set)
        throw new PythonError('TemplateRuntimeError', 'cannot assign attribute on non-namespace object');
      object.set(target.attribute, value);
      return;
    }
    const { items } = target;
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
      assign(scope, item, values[i]!);
    });
  };

  const filtered = (scope: Scope, node: FilterNode, text: string): Value => {
    const of: Value = node.of ? filtered(scope, node.of as FilterNode, text) : asValue(text);
    const [args, kwargs] = argumentsOf(run, scope, node);
    run.line = node.line;
    return run.filter(node.name, of, args, kwargs);
  };

  /** The items that pass the loop's own test, one by one. */
  function* chosen({ target, test }: ForNode, scope: Scope, over: Value): Generator<Value> {
    for (const item of each(run, over)) {
      const inner = innerScope(scope);
      assign(inner, target, item);
      if (truthy(evaluate(run, inner, test!))) yield item;
    }
  }

  const repeat = (node: ForNode, scope: Scope, over: Value, into: Sink, depth: number): void => {
    const again = (inner: Value): Value =>
      run.budget.deeper(() => {
        const text = sink(run.budget.make);
        repeat(node, scope, inner, text, depth + 1);
        return asValue(text.text);
      });
    const items: Value = node.test ? generator('do_filter', chosen(node, scope, over)) : over;
    const loop: Loop = loopOver(run, items, depth, node.recursive ? again : undefined);
    let any = false;
    for (let item = loop.next(); item !== undefined; item = loop.next()) {
      any = true;
      const inner = innerScope(scope, new Map<string, Value>([['loop', loop.seen]]));
      assign(inner, node.target, item);
      if (perform(node.body, inner, into) === 'break') return;
    }
    if (!any) perform(node.otherwise, innerScope(scope), into);
  };

  const callBlock = (scope: Scope, call: CallNode, caller: Thing): Value => {
    const callee = evaluate(run, scope, call.callee);
    const [args, kwargs] = argumentsOf(run, scope, call);
    return callValue(run, callee, args, kwargs.set('caller', caller));
  };

  /** Does one statement. */
  const act = (node: Statement, scope: Scope, into: Sink): Ending => {
    run.budget.step();
    run.line = node.line;
    switch (node.node) {
      case 'data':
        into.add(node.text);
        return;
      case 'print': {
        const value = evaluate(run, scope, node.value);
        run.line = node.line;
        print(value, into);
        return;
      }
      case 'do':
        evaluate(run, scope, node.value);
        return;
      case 'set':
        assign(scope, node.target, evaluate(run, scope, node.value));
        return;
      case 'setBlock': {
        const inner = innerScope(scope);
        const text = captured(inner, node.body);
        const value = node.filter ? filtered(inner, node.filter, text) : text;
        assign(scope, node.target, run.escaping ? markup(str(run, value)) : value);
        return;
      }
      case 'if': {
        for (const { test, body } of node.branches)
          if (truthy(evaluate(run, scope, test))) return perform(body, scope, into);
        return perform(node.otherwise, scope, into);
      }
      case 'for': {
        const over = evaluate(run, scope, node.over);
        repeat(node, scope, over, into, 0);
        return;
      }
      case 'with': {
        const inner = innerScope(scope);
        for (const [target, value] of node.targets) assign(inner, target, evaluate(run, scope, value));
        return perform(node.body, inner, into);
      }
      case 'macro':
        scope.names.set(node.name, macroOf(run, node.name, node.signature, scope, captured));
        return;
      case 'callBlock': {
        const result = callBlock(scope, node.call, macroOf(run, undefined, node.signature, scope, captured));
        print(result, into);
        return;
      }
      case 'filterBlock': {
        const inner = innerScope(scope);
        const value = filtered(inner, node.filter, captured(inner, node.body));
        print(value, into);
        return;
      }
      case 'block':
        return perform(node.body, innerScope(node.scoped ? scope : root), into);
      case 'autoescape': {
        const before = run.escaping;
        run.escaping = truthy(evaluate(run, scope, node.value));
        const ending = perform(node.body, innerScope(scope), into);
        run.escaping = before;
        return ending;
      }
      case 'break':
      case 'continue':
        return node.node;
    }
  };

  const perform = (body: Body, scope: Scope, into: Sink): Ending => {
    for (const node of body) {
      const ending = act(node, scope, into);
      if (ending) return ending;
    }
    return undefined;
  };

  const output = sink(run.budget.print);
  perform(tree, root, output);
  return output.text;
};
