import { typeError } from './errors.ts';
import { evaluate } from './evaluate.ts';
import type { Signature } from './parse/nodes.ts';
import { innerScope, type Scope } from './scope.ts';
import { newDict } from './values/dicts.ts';
import { textRepr } from './values/print.ts';
import { type Run, type Thing, type Value, markup, orElse, tuple, undefinedValue } from './values/values.ts';

/** A macro, or what a call block hands over as `caller` (no name). `render` gives the text of the body in a scope. */
export const macroOf = (
  run: Run,
  name: string | undefined,
  { parameters, defaults, uses, body }: Signature,
  outer: Scope,
  render: (scope: Scope, body: Signature['body']) => string,
): Thing => {
  const escapingHere = run.escaping;
  const shown = name === undefined ? 'None' : textRepr(name);
  const catches = (special: string): boolean => uses.has(special) && !parameters.includes(special);
  const attributes: ReadonlyMap<string, Value> = new Map<string, Value>([
    ['name', name ?? null],
    ['arguments', tuple(parameters)],
    ['catch_kwargs', catches('kwargs')],
    ['catch_varargs', catches('varargs')],
    ['caller', catches('caller')],
  ]);
  return {
    kind: 'thing',
    type: 'Macro',
    shown: () => `<Macro ${name === undefined ? 'anonymous' : shown}>`,
    get: (attribute) => attributes.get(attribute),
    call: (run, args, kwargs) =>
      run.budget.deeper(() => {
        const rest = new Map(kwargs);
        const scope = innerScope(outer);
        const given = parameters.map((parameter, i) => {
          if (i < args.length) return args[i]!;
          const value = rest.get(parameter);
          rest.delete(parameter);
          return value;
        });
        if (catches('caller')) {
          scope.names.set(
            'caller',
            orElse(rest.get('caller'), () => undefinedValue('No caller defined')),
          );
          rest.delete('caller');
        }
        if (catches('kwargs')) scope.names.set('kwargs', newDict(rest));
        else if (rest.has('caller'))
          throw typeError(
            `macro ${shown} was invoked with two values for the special caller argument. This is most likely a bug.`,
          );
        else if (rest.size > 0)
          throw typeError(`macro ${shown} takes no keyword argument ${textRepr([...rest.keys()][0]!)}`);
        if (catches('varargs')) scope.names.set('varargs', tuple(args.slice(parameters.length)));
        else if (args.length > parameters.length)
          throw typeError(`macro ${shown} takes not more than ${parameters.length} argument(s)`);

        const escaping = run.escaping;
        run.escaping = escapingHere;
        parameters.forEach((parameter, i) => {
          const preset = defaults[i - (parameters.length - defaults.length)];
          scope.names.set(
            parameter,
            orElse(given[i], () =>
              preset
                ? evaluate(run, scope, preset)
                : undefinedValue(`parameter ${textRepr(parameter)} was not provided`),
            ),
          );
        });
        const text = render(scope, body);
        run.escaping = escaping;
        return escaping ? markup(text) : text;
      }),
  };
};
