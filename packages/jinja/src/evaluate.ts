import { typeError, undefinedError } from './errors.ts';
import type { CallArguments, Expression } from './parse/nodes.ts';
import { lookUp, type Scope } from './scope.ts';
import { attribute, item, sliced } from './values/access.ts';
import { needText } from './values/arguments.ts';
import { concatenated, operate, signed } from './values/arithmetic.ts';
import { contains, equal, ordered } from './values/compare.ts';
import { newDict } from './values/dicts.ts';
import { each } from './values/iterate.ts';
import { textRepr } from './values/print.ts';
import {
  isDict,
  isThing,
  isUndefined,
  type Kwargs,
  orElse,
  type Run,
  truthy,
  tuple,
  typeName,
  undefinedValue,
  type Value,
} from './values/values.ts';

/** Evaluates the arguments of a call, including those that `*` and `**` add. */
export const argumentsOf = (
  run: Run,
  scope: Scope,
  { args, kwargs, allArgs, allKwargs }: CallArguments,
): readonly [Value[], Map<string, Value>] => {
  const argumentValues = args.map((arg) => evaluate(run, scope, arg));
  const named = new Map<string, Value>();
  for (const [name, value] of kwargs) named.set(name, evaluate(run, scope, value));
  if (allArgs) for (const value of each(run, evaluate(run, scope, allArgs))) argumentValues.push(value);
  if (allKwargs) {
    const dict = evaluate(run, scope, allKwargs);
    if (!isDict(dict))
      throw isUndefined(dict)
        ? undefinedError(dict.message)
        : typeError(`argument after ** must be a mapping, not ${typeName(dict)}`);
    for (const [key, value] of dict.entries.values()) {
      const name = needText(key, 'keywords');
      if (named.has(name)) throw typeError(`got multiple values for keyword argument '${name}'`);
      named.set(name, value);
    }
  }
  return [argumentValues, named];
};

/** Calls a value. Throws as Python does when it cannot be called. */
export const callValue = (run: Run, callee: Value, args: readonly Value[], kwargs: Kwargs): Value => {
  if (isUndefined(callee)) throw undefinedError(callee.message);
  if (!isThing(callee) || !callee.call) throw typeError(`'${typeName(callee)}' object is not callable`);
  const { line } = run;
  const result = callee.call(run, args, kwargs);
  run.line = line;
  return result;
};

const compared = (run: Run, operator: string, a: Value, b: Value): boolean => {
  switch (operator) {
    case '==':
      return equal(run, a, b);
    case '!=':
      return !equal(run, a, b);
    case 'in':
      return contains(run, b, a);
    case 'not in':
      return !contains(run, b, a);
    default:
      return ordered(run, operator as '<', a, b);
  }
};

type Applied = Extract<Expression, { node: 'call' | 'filter' | 'test' }>;

const applied = (run: Run, scope: Scope, node: Applied): Value => {
  const operand = node.node === 'call' ? node.callee : node.of;
  // execute.ts applies the filters of a block, which have no operand of their own.
  if (!operand) throw new Error('A filter of a block is no expression');
  const of = evaluate(run, scope, operand);
  const [args, kwargs] = argumentsOf(run, scope, node);
  run.line = node.line;
  if (node.node === 'call') return callValue(run, of, args, kwargs);
  return node.node === 'filter' ? run.filter(node.name, of, args, kwargs) : run.test(node.name, of, args, kwargs);
};

/** `a < b < c`: compares each operand with the one before it, until a comparison does not hold. */
const chained = (run: Run, scope: Scope, { first, rest }: Extract<Expression, { node: 'compare' }>): boolean => {
  let leftValue = evaluate(run, scope, first);
  for (const [operator, part] of rest) {
    const right = evaluate(run, scope, part);
    if (!compared(run, operator, leftValue, right)) return false;
    leftValue = right;
  }
  return true;
};

const noElse = (line: number): Value =>
  undefinedValue(`the inline if-expression on line ${line} evaluated to false and no else section was defined.`);

/** The value of an expression in a scope. */
export const evaluate = (run: Run, scope: Scope, node: Expression): Value => {
  run.budget.step();
  run.line = node.line;
  const value = (part: Expression): Value => evaluate(run, scope, part);
  switch (node.node) {
    case 'constant':
      return node.value;
    case 'name':
      return orElse(lookUp(scope, node.name), () => undefinedValue(`${textRepr(node.name)} is undefined`));
    case 'attribute':
      return attribute(run, value(node.of), node.name);
    case 'item':
      return item(run, value(node.of), value(node.key));
    case 'slice': {
      const of = value(node.of);
      const start = node.start ? value(node.start) : null;
      const stop = node.stop ? value(node.stop) : null;
      const step = node.step ? value(node.step) : null;
      return sliced(run, of, { start, stop, step });
    }
    case 'call':
    case 'filter':
    case 'test':
      return applied(run, scope, node);
    case 'binary': {
      const leftValue = value(node.left);
      const right = value(node.right);
      run.line = node.line;
      return operate(run, node.operator, leftValue, right);
    }
    case 'sign':
      return signed(node.sign, value(node.of));
    case 'not':
      return !truthy(value(node.of));
    case 'and': {
      const leftValue = value(node.left);
      return truthy(leftValue) ? value(node.right) : leftValue;
    }
    case 'or': {
      const leftValue = value(node.left);
      return truthy(leftValue) ? leftValue : value(node.right);
    }
    case 'compare':
      return chained(run, scope, node);
    case 'concat':
      return concatenated(run, node.parts.map(value));
    case 'condition':
      if (truthy(value(node.test))) return value(node.then);
      return node.otherwise ? value(node.otherwise) : noElse(node.line);
    case 'list':
      return node.items.map(value);
    case 'tuple':
      return tuple(node.items.map(value));
    case 'dict':
      return newDict(node.pairs.map(([key, member]) => [value(key), value(member)]));
  }
};
