import type { Value } from './values/values.ts';

/** The names of a scope and their values. Other names are looked up in the outer scope. */
export type Scope = { readonly names: Map<string, Value>; readonly outer: Scope | undefined };

export const innerScope = (outer: Scope | undefined, names = new Map<string, Value>()): Scope => ({ names, outer });

/** A scope with the same names and values, which later assignments do not change. */
export const copiedScope = (scope: Scope): Scope => {
  const names = new Map<string, Value>();
  for (let at: Scope | undefined = scope; at; at = at.outer)
    for (const [name, value] of at.names) if (!names.has(name)) names.set(name, value);
  return innerScope(undefined, names);
};

export const lookUp = (scope: Scope, name: string): Value | undefined => {
  for (let at: Scope | undefined = scope; at; at = at.outer) {
    const found = at.names.get(name);
    if (found !== undefined) return found;
  }
  return undefined;
};
