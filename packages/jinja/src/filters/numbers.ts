import { isRaised, PythonError, typeError } from '../errors.ts';
import { needInt, toIndex, unusable } from '../values/arguments.ts';
import { operate } from '../values/arithmetic.ts';
import { toNumberOf } from '../values/convert.ts';
import { fixed, notFinite, roundFloat } from '../values/floats.ts';
import { toIntOf } from '../values/parseNumber.ts';
import { intOf, numberOf, type Run, textOf, truthy, typeName, type Value } from '../values/values.ts';
import type { Filters } from './define.ts';

const roundInt = (run: Run, value: bigint, digits: bigint): bigint => {
  if (digits >= 0n) return value;
  run.budget.bits(-digits * 4n);
  const unit = 10n ** -digits;
  const size = value < 0n ? -value : value;
  const rest = size % unit;
  const down = size - rest;
  const up = 2n * rest > unit || (2n * rest === unit && (down / unit) % 2n === 1n);
  const result = up ? down + unit : down;
  return value < 0n ? -result : result;
};

const decimalUnits = ['kB', 'MB', 'GB', 'TB', 'PB', 'EB', 'ZB', 'YB'];
const binaryUnits = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB', 'ZiB', 'YiB'];

export const numberFilters: Filters = {
  abs: {
    parameters: [],
    call: (_run, value: Value) => {
      const number = numberOf(value);
      if (number === undefined) throw typeError(`bad operand type for abs(): '${typeName(value)}'`);
      if (typeof number === 'number') return Math.abs(number);
      return number < 0n ? -number : number;
    },
  },
  int: {
    parameters: ['default?', 'base?'],
    call: (_run, value: Value, otherwise: Value = 0n, base: Value = 10n) => {
      try {
        const text = textOf(value);
        return text === undefined ? toNumberOf(value, 'int') : toIntOf(text, toIndex(needInt(base)));
      } catch (error) {
        if (!isRaised(error, 'TypeError', 'ValueError')) throw error;
      }
      try {
        return toNumberOf(toNumberOf(value, 'float'), 'int');
      } catch (error) {
        if (!isRaised(error, 'TypeError', 'ValueError')) throw error;
        return otherwise;
      }
    },
  },
  float: {
    parameters: ['default?'],
    call: (_run, value: Value, otherwise: Value = 0) => {
      try {
        return toNumberOf(value, 'float');
      } catch (error) {
        if (!isRaised(error, 'TypeError', 'ValueError')) throw error;
        return otherwise;
      }
    },
  },
  round: {
    parameters: ['precision?', 'method?'],
    call: (run, value: Value, precision: Value = 0n, method: Value = 'common') => {
      const how = textOf(method);
      if (how !== 'common' && how !== 'ceil' && how !== 'floor')
        throw new PythonError('FilterArgumentError', 'method must be common, ceil or floor');
      const number = numberOf(value);
      if (how === 'common') {
        if (number === undefined) throw typeError(`type ${typeName(value)} doesn't define __round__ method`);
        if (precision === null) return typeof number === 'bigint' ? number : toNumberOf(roundFloat(number, 0), 'int');
        return typeof number === 'bigint'
          ? roundInt(run, number, needInt(precision))
          : roundFloat(number, toIndex(needInt(precision)));
      }
      const scale = operate(run, '**', 10n, precision);
      const scaled = numberOf(operate(run, '*', value, scale));
      if (scaled === undefined) throw unusable(value, `must be real number, not ${typeName(value)}`);
      if (typeof scaled === 'bigint') return operate(run, '/', scaled, scale);
      const whole = how === 'ceil' ? Math.ceil(scaled) : Math.floor(scaled);
      return operate(run, '/', toNumberOf(whole, 'int'), scale);
    },
  },
  filesizeformat: {
    parameters: ['binary?'],
    call: (_run, value: Value, binary: Value = false) => {
      const bytes = Number(toNumberOf(value, 'float'));
      const base = truthy(binary) ? 1024 : 1000;
      if (bytes === 1) return '1 Byte';
      if (bytes < base) return `${intOf(toNumberOf(bytes, 'int'))} Bytes`;
      const units = truthy(binary) ? binaryUnits : decimalUnits;
      let unit = 0;
      while (unit < units.length - 1 && !(bytes < base ** (unit + 2))) unit++;
      const size = (base * bytes) / base ** (unit + 2);
      return `${Number.isFinite(size) ? fixed(size, 1) : notFinite(size)} ${units[unit]}`;
    },
  },
};
