import { checker, type SchemaFault } from '@automation-platform/bounded-schemas';
import type { Members } from '@automation-platform/json';
import { type TSchema, Type } from 'typebox';
import { type OperationId, ownOperations } from '../../domain/operations-manager/workflows/ownOperations.ts';

/** The schemas of inputs none of which is required, by operation. Each is made at its first use. */
const partial = new Map<OperationId, TSchema>();

const partialOf = (operation: OperationId): TSchema => {
  const schema = partial.get(operation) ?? Type.Partial(ownOperations[operation].inputs);
  partial.set(operation, schema);
  return schema;
};

/** The faults of the inputs of an operation, with their JSON pointers. */
export const inputFaults = (operation: OperationId, inputs: Members): readonly SchemaFault[] =>
  checker(ownOperations[operation].inputs)(inputs);

/** The same where not all inputs are known yet. */
export const faultsOfSome = (operation: OperationId, inputs: Members): readonly SchemaFault[] =>
  checker(partialOf(operation))(inputs);
