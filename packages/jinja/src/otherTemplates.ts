import { addParent, exportedNames } from './context.ts';
import { isRaised, PythonError, undefinedError } from './errors.ts';
import { evaluate } from './evaluate.ts';
import type { Loaded } from './library.ts';
import type { Statement } from './parse/nodes.ts';
import { contextOf, type Module, newSink, type Rendering, renderIn, type Shared, type Sink } from './rendering.ts';
import { copiedScope, type Scope } from './scope.ts';
import { each } from './values/iterate.ts';
import { repr, textRepr } from './values/print.ts';
import { isUndefined, orElse, textOf, truthy, undefinedValue, type Value } from './values/values.ts';

type Node<Name extends Statement['node']> = Extract<Statement, { node: Name }>;

const notFound = (message: string): PythonError => new PythonError('TemplateNotFound', message);

/** The template of a name. */
const templateNamed = ({ run, library }: Rendering, value: Value): Loaded => {
  if (isUndefined(value)) throw undefinedError(value.message);
  const name = textOf(value);
  const found = name === undefined ? undefined : library.find(name);
  if (found) return found;
  throw notFound(`There is no template ${repr(run, value)}`);
};

/** The first template of several names that there is. */
const firstNamed = ({ run, library }: Rendering, values: Value): Loaded => {
  if (isUndefined(values)) throw undefinedError(values.message);
  if (!truthy(values)) throw notFound('There is no template in an empty list');
  const names: string[] = [];
  for (const value of each(run, values)) {
    const name = textOf(value);
    const found = name === undefined ? undefined : library.find(name);
    if (found) return found;
    names.push(repr(run, value));
  }
  throw notFound(`There is none of the templates ${names.join(', ')}`);
};

/** The template to include; undefined if it may be missing and is. */
const included = (rendering: Rendering, node: Node<'include'>, scope: Scope): Loaded | undefined => {
  const { run } = rendering;
  const { template: expression, ignoreMissing, line } = node;
  const value = evaluate(run, scope, expression);
  run.line = line;
  const isList = expression.node === 'list' || expression.node === 'tuple';
  try {
    const isOne = !isList && (textOf(value) !== undefined || isUndefined(value));
    return isOne ? templateNamed(rendering, value) : firstNamed(rendering, value);
  } catch (error) {
    if (ignoreMissing && isRaised(error, 'TemplateNotFound')) return undefined;
    throw error;
  }
};

const newModule = (shared: Shared, template: Loaded, outer: Scope): Module => {
  const { run } = shared;
  const context = contextOf(shared, outer, template);
  const into = newSink(run, run.budget.make);
  renderIn(shared, context, template, into);
  const names = exportedNames(context);
  const { name = '' } = template;
  return {
    kind: 'thing',
    type: 'TemplateModule',
    template: name,
    print: () => `<TemplateModule ${textRepr(name)}>`,
    text: () => into.text,
    get: (name) => names.get(name),
  };
};

/** The module of a template that is given no context. It is rendered once. */
const plainModule = (shared: Shared, template: Loaded): Module => {
  const cachedModule = shared.modules.get(template);
  if (cachedModule) return cachedModule;
  const module = newModule(shared, template, shared.globals);
  shared.modules.set(template, module);
  return module;
};

const include = (rendering: Rendering, node: Node<'include'>, scope: Scope, into: Sink): void => {
  const template = included(rendering, node, scope);
  if (!template) return;
  if (node.withContext) renderIn(rendering, contextOf(rendering, scope, template), template, into);
  else into.add(plainModule(rendering, template).text());
};

const imported = (rendering: Rendering, node: Node<'import' | 'from'>, scope: Scope): Module => {
  const name = evaluate(rendering.run, scope, node.template);
  rendering.run.line = node.line;
  const template = templateNamed(rendering, name);
  if (!node.withContext) return plainModule(rendering, template);
  const names = copiedScope(scope);
  rendering.run.budget.make(names.names.size);
  return newModule(rendering, template, names);
};

/** Sets a name to something that is imported. */
const setImported = ({ context }: Rendering, scope: Scope, name: string, value: Value): void => {
  scope.names.set(name, value);
  if (scope === context.root) context.imported.add(name);
};

const importNames = (rendering: Rendering, node: Node<'from'>, scope: Scope): void => {
  const module = imported(rendering, node, scope);
  for (const [name, here] of node.names) {
    const missing = () =>
      undefinedValue(`the template ${textRepr(module.template)} does not export the requested name ${textRepr(name)}`);
    setImported(rendering, scope, here, orElse(module.get?.(name), missing));
  }
};

const extend = (rendering: Rendering, node: Node<'extends'>, scope: Scope): void => {
  const { run, child, context } = rendering;
  if (!child || child.parent) throw new PythonError('TemplateRuntimeError', 'extended multiple times');
  const name = evaluate(run, scope, node.template);
  run.line = node.line;
  const parent = templateNamed(rendering, name);
  addParent(context, parent);
  child.parent = parent;
};

/** Does a statement that uses another template. */
export const useOther = (
  rendering: Rendering,
  node: Node<'extends' | 'include' | 'import' | 'from'>,
  scope: Scope,
  into: Sink,
): void => {
  switch (node.node) {
    case 'extends':
      extend(rendering, node, scope);
      return;
    case 'include':
      include(rendering, node, scope, into);
      return;
    case 'import':
      setImported(rendering, scope, node.name, imported(rendering, node, scope));
      return;
    case 'from':
      importNames(rendering, node, scope);
  }
};
