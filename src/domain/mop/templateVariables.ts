import { own, step } from '@automation-platform/json';
import { type Fault, RequestError, refuseFaults } from '../engine/requestError.ts';

/** Variables by name. Only texts, numbers and booleans can replace a variable in a template. */
export type Variables = Readonly<Record<string, unknown>>;

const placeholder = /<!([^<>!]{1,256})!>/g;
const longestValue = 1000;
const longestText = 16_384;

/** The names of the variables in the texts, without duplicates. */
export const variablesIn = (texts: readonly string[]): readonly string[] => [
  ...new Set(texts.flatMap((text) => [...text.matchAll(placeholder)].map(([, name = '']) => name.trim()))),
];

const fault = (variables: Variables, name: string): string | undefined => {
  const value = own(variables, name);
  if (value === undefined) return `There is no variable ${JSON.stringify(name)}`;
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
    return `The variable ${JSON.stringify(name)} is no text, number or truth value`;
  return String(value).length > longestValue
    ? `The variable ${JSON.stringify(name)} has more than ${longestValue} characters`
    : undefined;
};

/** Throws `unprocessable` with all names that have no usable value, if there are any. */
export const refuseMissing = (names: readonly string[], variables: Variables): void => {
  const faults = names.flatMap((name): Fault[] => {
    const message = fault(variables, name);
    return message === undefined ? [] : [{ message, path: `/variables${step(name)}`, name }];
  });
  refuseFaults('unprocessable', faults, { characters: 1000 });
};

/** The text with every `<!name!>` replaced. `as` turns the value into its replacement. Every name must have a value. */
export const substituted = (
  text: string,
  variables: Variables,
  as: (value: string) => string = (value) => value,
): string => {
  const whole = text.replace(placeholder, (_, name: string) => as(String(variables[name.trim()])));
  if (whole.length > longestText)
    throw new RequestError('unprocessable', `With its variables a text has more than ${longestText} characters`, {
      path: '/variables',
    });
  return whole;
};

/** A pattern that matches the value only. */
export const quoted = (value: string): string => value.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
