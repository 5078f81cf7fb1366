import { exactEntries } from '../../domain/engine/exactJson.ts';
import { limits, newBudget } from './budget.ts';
import { limitError, PythonError, reasonOf, TemplateError, undefinedError } from './errors.ts';
import { execute } from './execute.ts';
import { filters } from './filters/all.ts';
import { callFilter } from './filters/define.ts';
import { globals } from './globals.ts';
import { nearest } from './nearest.ts';
import { parse } from './parse/parser.ts';
import { innerScope } from './scope.ts';
import { callTest, tests } from './tests.ts';
import { attribute, item } from './values/access.ts';
import type { Named } from './values/arguments.ts';
import { fromJson } from './values/dicts.ts';
import { repr } from './values/print.ts';
import { isUndefined, type Run, textOf, type Value } from './values/values.ts';

const named = <T>(run: Run, what: string, table: ReadonlyMap<string, T>, name: Value): Named<T> => {
  const text = textOf(name);
  const found = text === undefined ? undefined : table.get(text);
  if (text !== undefined && found !== undefined) return [text, found];
  if (isUndefined(name))
    throw undefinedError(
      `No ${what} named ${repr(run, name)}. (${name.message}; did you forget to quote the callable name?)`,
    );
  const near = text === undefined ? '' : nearest(text, table.keys());
  throw new PythonError('TemplateRuntimeError', `No ${what} named ${repr(run, name)}.${near}`);
};

/**
 * Renders a template with variables from JSON, which may have the marks of domain/engine/exactJson.ts. For every fault
 * of a template it throws `TemplateError` with line and reason.
 */
export const renderTemplate = (template: string, variables: Readonly<Record<string, unknown>>): string => {
  const run: Run = {
    budget: newBudget(),
    line: 1,
    escaping: false,
    filter: (name, value, args, kwargs) =>
      callFilter(run, named(run, 'filter', filters, name), value, { args, kwargs }),
    test: (name, value, args, kwargs) => callTest(run, named(run, 'test', tests, name), value, { args, kwargs }),
    attribute: (value, name) => attribute(run, value, name),
    item: (value, key) => item(run, value, key),
  };
  try {
    const tree = parse(template, {
      filter: (name) => filters.has(name),
      test: (name) => tests.has(name),
      nearest: (name) => nearest(name, filters.keys()),
    });
    const given = new Map(exactEntries(variables).map(([name, value]) => [name, fromJson(value)]));
    const output = execute(run, tree, innerScope(innerScope(undefined, new Map(globals)), given));
    if (Buffer.byteLength(output) > limits.output)
      throw limitError(`The template prints more than ${limits.output} bytes`);
    return output;
  } catch (error) {
    if (error instanceof PythonError) throw new TemplateError(reasonOf(error), run.line);
    if (error instanceof RangeError)
      throw new TemplateError('The template, or a value in it, is nested too deeply', run.line);
    throw error;
  }
};
