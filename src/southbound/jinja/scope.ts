import type { Value } from './values/values.ts';

/** Names and what they mean here; those that are not here are looked up further out. */
export type Scope = { readonly names: Map<string, Value>; readonly outer: Scope | undefined };

export const innerScope = (outer: Scope | undefined, names = new Map<string, Value>()): Scope => ({ names, outer });

export const lookUp = (scope: Scope, name: string): Value | undefined => {
  for (let at: Scope | undefined = scope; at; at = at.outer) {
    const found = at.names.get(name);
    if (found !== undefined) return found;
  }
  return undefined;
};
