import type { Filter } from '../filters/define.ts';
import { needText } from '../values/arguments.ts';
import type { Value } from '../values/values.ts';
import { search } from './parser.ts';

/** Ansible's filter: searches a value by an expression of JMESPath. */
export const jsonQuery: Filter = {
  parameters: ['expr'],
  call: (run, value: Value, expression: Value) => search(run, needText(expression, 'expr'), value),
};
