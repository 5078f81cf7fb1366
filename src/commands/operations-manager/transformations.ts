import { linearPatterns, type Patterns } from '@automation-platform/bounded-schemas';
import { plainValue } from '@automation-platform/json';
import jsonata from 'jsonata';
import { same } from '../../domain/engine/changes.ts';
import type { Actor } from '../../domain/engine/core.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import type { TriggerContent, TriggerFaults } from '../../domain/operations-manager/triggers.ts';
import { transformationOf } from '../../domain/operations-manager/triggerVariables.ts';
import { readTransformation } from '../../domain/template-builder/transformations.ts';
import { planOf, transformationNamed } from '../template-builder/transformations.ts';

// The parser takes a few milliseconds for such an expression.
const mostCharacters = 64 * 1024;

type JstFault = NonNullable<TriggerFaults['jstFault']>;

const unusable = (message: string, path: string): JstFault => ({
  code: 'invalid',
  message: `The transformation cannot be used: ${message}`,
  path,
});

/**
 * Why the transformation of a trigger cannot be used; undefined if it can, or if this version does not carry it out. One that
 * the trigger has named before is not looked for again.
 */
export const transformationFaultOf = async (
  document: object,
  before: TriggerContent | undefined,
  actor: Actor,
  tools: Parameters<typeof transformationNamed>[1],
): Promise<JstFault | undefined> => {
  const transformation = transformationOf(document);
  if (transformation.kind === 'jsonata') return faultOfExpression(transformation.expression);
  if (transformation.kind === 'document') return faultOfDocument(transformation.document);
  if (transformation.kind !== 'named' || (before && same(transformation, transformationOf(before)))) return undefined;
  if (await transformationNamed(transformation.idOrName, tools, actor)) return undefined;
  const message = `No transformation has the name or id ${JSON.stringify(transformation.idOrName)}`;
  return { code: 'not_found', message, path: '' };
};

const faultOfDocument = (document: object): JstFault | undefined => {
  try {
    const [fault] = planOf(readTransformation(plainValue(document) as never)).faults;
    return fault && unusable(fault.message, fault.path);
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return unusable(error.message, error.faults[0]?.path ?? '');
  }
};

const faultOfExpression = (expression: string): JstFault | undefined => {
  const at = (message: string): JstFault => unusable(message, '/expression');
  if (expression.length > mostCharacters) return at(`An expression may have ${mostCharacters} characters`);
  try {
    refusePatterns(jsonata(expression).ast());
    return undefined;
  } catch (error) {
    if (error instanceof RangeError) return at('It is nested too deeply');
    const { message, position } = error as { readonly message?: string; readonly position?: number };
    return at(`${message ?? 'It does not parse'}${position === undefined ? '' : ` (character ${position})`}`);
  }
};

/** Throws for a regular expression that cannot be matched in linear time. */
const refusePatterns = (tree: unknown, { get }: Pick<Patterns, 'get'> = linearPatterns()): void => {
  if (tree instanceof RegExp) get(tree.source);
  else if (typeof tree === 'object' && tree !== null)
    for (const part of Object.values(tree)) refusePatterns(part, { get });
};
