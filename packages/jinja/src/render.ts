import { exactEntries, isWellFormed, nearestName } from '@automation-platform/json';
import { type Budget, limits, newBudget } from './budget.ts';
import { shortName } from './collections.ts';
import { limitError, PythonError, reasonOf, TemplateError, undefinedError } from './errors.ts';
import { execute } from './execute.ts';
import { filters } from './filters/all.ts';
import { callFilter } from './filters/define.ts';
import { globals } from './globals.ts';
import { type Library, type Loaded, newLibrary, type Texts, Wanted } from './library.ts';
import { parse } from './parse/parser.ts';
import { innerScope } from './scope.ts';
import { callTest, tests } from './tests.ts';
import { attribute, item } from './values/access.ts';
import type { Named } from './values/arguments.ts';
import { fromJson } from './values/dicts.ts';
import { repr } from './values/print.ts';
import { isUndefined, type Run, textOf, type Value } from './values/values.ts';

/** A sentence that names the nearest of the names, if one is near. Collections do not count. */
const hint = (name: string, names: Iterable<string>): string => {
  const near = nearestName(shortName(name), new Set([...names].map(shortName)));
  return near === undefined ? '' : ` The nearest is '${near}'.`;
};

const named = <T>(run: Run, what: string, table: ReadonlyMap<string, T>, name: Value): Named<T> => {
  const text = textOf(name);
  const found = text === undefined ? undefined : table.get(text);
  if (text !== undefined && found !== undefined) return [text, found];
  if (isUndefined(name))
    throw undefinedError(
      `No ${what} named ${repr(run, name)}. (${name.message}; did you forget to quote the callable name?)`,
    );
  const near = text === undefined ? '' : hint(text, table.keys());
  throw new PythonError('TemplateRuntimeError', `No ${what} named ${repr(run, name)}.${near}`);
};

const declaredNames = {
  filter: (name: string) => filters.has(name),
  test: (name: string) => tests.has(name),
  hint: {
    filter: (name: string) => hint(name, filters.keys()),
    test: (name: string) => hint(name, tests.keys()),
  },
};

const newRun = (budget: Budget, template: Loaded): Run => {
  const run: Run = {
    budget,
    template,
    line: 1,
    escaping: false,
    filter: (name, value, args, kwargs) =>
      callFilter(run, named(run, 'filter', filters, name), value, { args, kwargs }),
    test: (name, value, args, kwargs) => callTest(run, named(run, 'test', tests, name), value, { args, kwargs }),
    attribute: (value, name) => attribute(run, value, name),
    item: (value, key) => item(run, value, key),
  };
  return run;
};

const textIn = (main: Loaded, variables: Template['variables'], library: Library, budget: Budget): string => {
  const run = newRun(budget, main);
  try {
    const globalScope = innerScope(undefined, new Map(globals));
    const variableValues = new Map(exactEntries(variables).map(([name, value]) => [name, fromJson(value)]));
    const output = execute(run, main, library, {
      globals: globalScope,
      variables: innerScope(globalScope, variableValues),
    });
    if (Buffer.byteLength(output) > limits.output)
      throw limitError(`The template prints more than ${limits.output} bytes`);
    if (!isWellFormed(output)) throw new PythonError('UnicodeEncodeError', 'surrogates are not allowed');
    return output;
  } catch (error) {
    const other = run.template === main ? undefined : run.template.name;
    if (error instanceof PythonError) throw new TemplateError(reasonOf(error), run.line, other);
    if (error instanceof RangeError)
      throw new TemplateError('The template, or a value in it, is nested too deeply', run.line, other);
    throw error;
  }
};

/** A template to render. `name`: it is the stored one of that name. */
export type Template = {
  readonly template: string;
  readonly name?: string | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
};

/** One template that is rendered. Other templates that it uses are asked for by name. */
export type Job = {
  /** Takes templates that were asked for. */
  readonly add: (texts: Texts) => void;
  /**
   * Renders from the beginning. Answers the text, or the names of the templates that must be known first. Throws
   * `TemplateError` with line and reason; nothing else is thrown for a bad template.
   */
  readonly attempt: () => { readonly text: string } | { readonly wanted: readonly string[] };
};

/** Throws `TemplateError` with line and reason unless the template can be parsed. */
export const checkTemplate = (template: string): void => {
  parse(template, declaredNames);
};

/** The variables are of JSON; they may have marks (exactValue). */
export const newJob = ({ template, name, variables }: Template): Job => {
  const startUsage = process.cpuUsage();
  const library = newLibrary((text) => parse(text, declaredNames));
  let main: Loaded | undefined;
  const load = (): Loaded => {
    const loadedTemplate = { name, tree: parse(template, declaredNames) };
    library.note(loadedTemplate.tree);
    return loadedTemplate;
  };
  return {
    add: library.add,
    attempt: () => {
      main ??= load();
      const missingTemplates = library.wanted();
      if (missingTemplates.length > 0) return { wanted: missingTemplates };
      try {
        return { text: textIn(main, variables, library, newBudget(startUsage)) };
      } catch (error) {
        if (error instanceof Wanted) return { wanted: [error.template] };
        throw error;
      }
    },
  };
};

/** Renders a template at once. `stored` are the other templates that there are. */
export const renderTemplate = (
  template: string,
  variables: Template['variables'],
  stored: ReadonlyMap<string, string> = new Map(),
): string => {
  const job = newJob({ template, variables });
  for (;;) {
    const outcome = job.attempt();
    if ('text' in outcome) return outcome.text;
    job.add(outcome.wanted.map((name) => [name, stored.get(name) ?? null]));
  }
};
