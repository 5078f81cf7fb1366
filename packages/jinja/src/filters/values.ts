import { createHash } from 'node:crypto';
import { PythonError } from '../errors.ts';
import { needText } from '../values/arguments.ts';
import { contains } from '../values/compare.ts';
import { str } from '../values/print.ts';
import { isUndefined, type Run, textOf, truthy, typeName, type Value } from '../values/values.ts';
import { versionCompare } from '../versions.ts';
import type { Filters } from './define.ts';

const filterError = (message: string): PythonError => new PythonError('AnsibleFilterError', message);

/** Names of hashes: Python's, each with OpenSSL's. */
const hashes: ReadonlyMap<string, string> = new Map([
  ...['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512'].map((name) => [name, name] as const),
  ...['sha3_224', 'sha3_256', 'sha3_384', 'sha3_512'].map((name) => [name, name.replace('_', '-')] as const),
  ['blake2b', 'blake2b512'],
  ['blake2s', 'blake2s256'],
]);

const hash = (run: Run, value: Value, name: string): string => {
  const algorithm = hashes.get(name.toLowerCase());
  if (!algorithm) throw filterError(`unsupported hash type ${name}`);
  return createHash(algorithm)
    .update(bytesOf(run, value, 'utf-8'))
    .digest('hex');
};

/** The bytes of a text in an encoding, as in Python. */
const bytesOf = (run: Run, value: Value, encoding: string): Buffer => {
  const text = str(run, value);
  run.budget.make(text.length);
  run.budget.step(1 + (text.length >> 4));
  if (/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(text))
    throw new PythonError('UnicodeEncodeError', 'surrogates are not allowed');
  const name = encoding.toLowerCase().replaceAll('_', '-');
  if (['utf-8', 'utf8'].includes(name)) return Buffer.from(text);
  const most = { ascii: 0x7f, 'us-ascii': 0x7f, 'latin-1': 0xff, latin1: 0xff, 'iso-8859-1': 0xff }[name];
  if (most === undefined) throw new PythonError('LookupError', `unknown encoding: ${encoding}`);
  if ([...text].some((character) => character > String.fromCharCode(most)))
    throw new PythonError('UnicodeEncodeError', `'${encoding}' codec can't encode a character`);
  return Buffer.from(text, 'latin1');
};

/** True if a value is `yes`, `on`, `1`, `true` or 1. None stays None. */
const toBool = (run: Run, value: Value): Value => {
  const lowered = textOf(value)?.toLowerCase() ?? value;
  return value === null ? null : contains(run, ['yes', 'on', '1', 'true', 1n], lowered);
};

/** Ansible's filters for one value, by name. */
export const valueFilters: Filters = {
  ternary: {
    parameters: ['true_val', 'false_val', 'none_val?'],
    call: (_run, value: Value, yes: Value, no: Value, none: Value = null) => {
      if (value === null && none !== null) return none;
      return truthy(value) ? yes : no;
    },
  },
  mandatory: {
    parameters: ['msg?'],
    call: (run, value: Value, message: Value = null) => {
      if (!isUndefined(value)) return value;
      const [, name] = /^'([^']*)' is undefined$/.exec(value.message) ?? [];
      throw filterError(
        message === null
          ? `Mandatory variable ${name === undefined ? '' : `'${name}' `} not defined.`
          : str(run, message),
      );
    },
  },
  bool: { parameters: [], call: toBool },
  type_debug: { parameters: [], call: (_run, value: Value) => typeName(value) },
  hash: {
    parameters: ['hashtype?'],
    call: (run, value: Value, name: Value = 'sha1') => hash(run, value, needText(name)),
  },
  md5: { parameters: [], call: (run, value: Value) => hash(run, value, 'md5') },
  sha1: { parameters: [], call: (run, value: Value) => hash(run, value, 'sha1') },
  checksum: { parameters: [], call: (run, value: Value) => hash(run, value, 'sha1') },
  b64encode: {
    parameters: ['encoding?'],
    call: (run, value: Value, encoding: Value = 'utf-8') => {
      const bytes = bytesOf(run, value, textOf(encoding) ?? '');
      run.budget.make(Math.ceil((bytes.length * 4) / 3));
      return bytes.toString('base64');
    },
  },
  version_compare: versionCompare,
};
