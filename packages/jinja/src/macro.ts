import { typeError } from './errors.ts';
import { evaluate } from './evaluate.ts';
import type { Signature } from './parse/nodes.ts';
import { innerScope, type Scope } from './scope.ts';
import { newDict } from './values/dicts.ts';
import { textRepr } from './values/print.ts';
import {
  type Kwargs,
  markup,
  orElse,
  type Run,
  type Thing,
  tuple,
  undefinedValue,
  type Value,
} from './values/values.ts';

/** A macro, or the body of a call block. The body of a call block becomes `caller` and has no name. */
type Macro = {
  readonly name: string | undefined;
  readonly signature: Signature;
  readonly outer: Scope;
  /** Renders the body in a scope. */
  readonly render: (scope: Scope, body: Signature['body']) => string;
};

/** A macro keeps whether its text is escaped, and its template, from where it is defined. */
type DefinedMacro = Macro & Pick<Run, 'escaping' | 'template'>;

const shownName = ({ name }: Macro): string => (name === undefined ? 'None' : textRepr(name));

/** True if a macro gets a special name: its body reads the name, and no parameter has this name. */
const catches = ({ signature }: Macro, special: string): boolean =>
  signature.uses.has(special) && !signature.parameters.includes(special);

/** Sets `caller`, `kwargs` and `varargs`. Throws for arguments without a parameter, unless these names take them. */
const takeRest = (macro: Macro, scope: Scope, args: readonly Value[], rest: Map<string, Value>): void => {
  const { parameters } = macro.signature;
  if (catches(macro, 'caller')) {
    const caller = orElse(rest.get('caller'), () => undefinedValue('No caller defined'));
    scope.names.set('caller', caller);
    rest.delete('caller');
  }
  const [extra] = rest.keys();
  if (catches(macro, 'kwargs')) {
    scope.names.set('kwargs', newDict(rest));
  } else if (rest.has('caller')) {
    throw typeError(
      `macro ${shownName(macro)} was invoked with two values for the special caller argument. This is most likely a bug.`,
    );
  } else if (extra !== undefined) {
    throw typeError(`macro ${shownName(macro)} takes no keyword argument ${textRepr(extra)}`);
  }
  if (catches(macro, 'varargs')) scope.names.set('varargs', tuple(args.slice(parameters.length)));
  else if (args.length > parameters.length)
    throw typeError(`macro ${shownName(macro)} takes not more than ${parameters.length} argument(s)`);
};

/** Sets the parameters. The default of a parameter can read the parameters before it. */
const setParameters = (run: Run, macro: Macro, scope: Scope, argumentValues: readonly (Value | undefined)[]): void => {
  const { parameters, defaults } = macro.signature;
  const preset = (parameter: string, i: number): Value => {
    const expression = defaults[i - (parameters.length - defaults.length)];
    if (expression) return evaluate(run, scope, expression);
    return undefinedValue(`parameter ${textRepr(parameter)} was not provided`);
  };
  parameters.forEach((parameter, i) => {
    scope.names.set(
      parameter,
      orElse(argumentValues[i], () => preset(parameter, i)),
    );
  });
};

const call = (run: Run, macro: DefinedMacro, args: readonly Value[], kwargs: Kwargs): Value => {
  const rest = new Map(kwargs);
  const scope = innerScope(macro.outer);
  const argumentsInOrder = macro.signature.parameters.map((parameter, i) => {
    if (i < args.length) return args[i];
    const value = rest.get(parameter);
    rest.delete(parameter);
    return value;
  });
  takeRest(macro, scope, args, rest);
  const { escaping, template } = run;
  run.escaping = macro.escaping;
  run.template = macro.template;
  setParameters(run, macro, scope, argumentsInOrder);
  const text = macro.render(scope, macro.signature.body);
  run.escaping = escaping;
  run.template = template;
  return escaping ? markup(text) : text;
};

export const macroOf = (run: Run, macro: Macro): Thing => {
  const { name, signature } = macro;
  const defined: DefinedMacro = { ...macro, escaping: run.escaping, template: run.template };
  const attributes: ReadonlyMap<string, Value> = new Map<string, Value>([
    ['name', name ?? null],
    ['arguments', tuple(signature.parameters)],
    ['catch_kwargs', catches(macro, 'kwargs')],
    ['catch_varargs', catches(macro, 'varargs')],
    ['caller', catches(macro, 'caller')],
  ]);
  return {
    kind: 'thing',
    type: 'Macro',
    print: () => `<Macro ${name === undefined ? 'anonymous' : shownName(macro)}>`,
    get: (attribute) => attributes.get(attribute),
    call: (run, args, kwargs) => run.budget.deeper(() => call(run, defined, args, kwargs)),
  };
};
