import { PythonError, typeError, undefinedError, valueError } from '../errors.ts';
import { toFloatOf } from './parseNumber.ts';
import { isUndefined, numberOf, textOf, typeName, type Value } from './values.ts';

/** float(value), or int(value) for values that are not texts. */
export const toNumberOf = (value: Value, type: 'int' | 'float'): bigint | number => {
  const number = numberOf(value);
  if (number === undefined) {
    if (isUndefined(value)) throw undefinedError(value.message);
    const text = textOf(value);
    if (text === undefined || type === 'int')
      throw typeError(`${type}() argument must be a string or a real number, not '${typeName(value)}'`);
    return toFloatOf(text);
  }
  if (type === 'float') {
    const float = Number(number);
    if (typeof number === 'bigint' && !Number.isFinite(float))
      throw new PythonError('OverflowError', 'int too large to convert to float');
    return float;
  }
  if (typeof number === 'bigint') return number;
  if (Number.isNaN(number)) throw valueError('cannot convert float NaN to integer');
  if (!Number.isFinite(number)) throw new PythonError('OverflowError', 'cannot convert float infinity to integer');
  return BigInt(Math.trunc(number));
};
