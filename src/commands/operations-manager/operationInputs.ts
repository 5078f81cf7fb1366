import { checker, type SchemaFault } from '@automation-platform/bounded-schemas';
import type { Members } from '@automation-platform/json';
import { Type } from 'typebox';
import { type OperationId, ownOperations } from '../../domain/operations-manager/workflows/ownOperations.ts';

type Check = (inputs: unknown) => readonly SchemaFault[];

/** Makes the check of an operation's inputs at its first use. */
const checks = (make: (operation: OperationId) => Check): ((operation: OperationId) => Check) => {
  const ready = new Map<OperationId, Check>();
  return (operation) => {
    const check = ready.get(operation) ?? make(operation);
    ready.set(operation, check);
    return check;
  };
};

const whole = checks((operation) => checker(ownOperations[operation].inputs));
const some = checks((operation) => checker(Type.Partial(ownOperations[operation].inputs)));

/** The faults of the inputs of an operation, with their JSON pointers. */
export const inputFaults = (operation: OperationId, inputs: Members): readonly SchemaFault[] =>
  whole(operation)(inputs);

/** The same where not all inputs are known yet. */
export const faultsOfSome = (operation: OperationId, inputs: Members): readonly SchemaFault[] =>
  some(operation)(inputs);
