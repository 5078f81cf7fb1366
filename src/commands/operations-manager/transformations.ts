import { linearPatterns, type Patterns } from '@automation-platform/bounded-schemas';
import jsonata from 'jsonata';
import { transformationOf } from '../../domain/operations-manager/triggerVariables.ts';

// The parser takes a few milliseconds for such an expression.
const mostCharacters = 64 * 1024;

/** Why the transformation of a trigger cannot be used; empty if it can, or if this version does not carry it out. */
export const transformationFaultOf = (given: object): { readonly jstFault?: string } => {
  const transformation = transformationOf(given);
  if (transformation.kind !== 'jsonata') return {};
  const reason = faultOf(transformation.expression);
  return reason === undefined ? {} : { jstFault: reason };
};

const faultOf = (expression: string): string | undefined => {
  if (expression.length > mostCharacters) return `An expression may have ${mostCharacters} characters`;
  try {
    refusePatterns(jsonata(expression).ast());
    return undefined;
  } catch (error) {
    if (error instanceof RangeError) return 'It is nested too deeply';
    const { message, position } = error as { readonly message?: string; readonly position?: number };
    return `${message ?? 'It does not parse'}${position === undefined ? '' : ` (character ${position})`}`;
  }
};

/** Throws for a regular expression that cannot be matched in linear time. */
const refusePatterns = (tree: unknown, { get }: Pick<Patterns, 'get'> = linearPatterns()): void => {
  if (tree instanceof RegExp) get(tree.source);
  else if (typeof tree === 'object' && tree !== null)
    for (const part of Object.values(tree)) refusePatterns(part, { get });
};
