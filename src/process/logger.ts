import { isNativeError } from 'node:util/types';
import { plainText } from '@automation-platform/client';
import { type DestinationStream, type Logger, pino } from 'pino';
import { withoutLogins } from './withoutLogins.ts';

// More levels than any logged object has. The limit ends objects that contain themselves.
const mostDeep = 5;

/**
 * An error as it is logged, with these members only: libraries attach requests, bodies and credentials to their errors.
 */
const shownError = (error: Error, deep: number): Record<string, unknown> => {
  const { name, message, stack, cause } = error;
  const record: Record<string, unknown> = { type: name, message };
  if ('code' in error) record.code = error.code;
  if (stack !== undefined) record.stack = stack;
  if (cause !== undefined) record.cause = shownValue(cause, deep + 1);
  if ('errors' in error && Array.isArray(error.errors)) record.errors = shownValue(error.errors, deep + 1);
  return record;
};

const isPlain = (value: object): boolean => [Object.prototype, null].includes(Object.getPrototypeOf(value));

/** Replaces errors at any depth: JSON would write them as `{}`. */
const shownValue = (value: unknown, deep: number): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (deep > mostDeep) return '...';
  if (isNativeError(value) || value instanceof Error) return shownError(value, deep);
  if (Array.isArray(value)) return value.map((item) => shownValue(item, deep + 1));
  return isPlain(value) ? shownMembers(value, deep) : value;
};

const isScalar = (value: unknown): boolean => typeof value !== 'object' || value === null;

const shownMembers = (value: object, deep: number): Record<string, unknown> => {
  // As most entries are, those of requests above all.
  if (Object.values(value).every(isScalar)) return value as Record<string, unknown>;
  const record: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) record[name] = shownValue(member, deep + 1);
  return record;
};

/** The service's logger. It writes each entry as one line of JSON; `forPeople` makes other lines of them. */
export const serviceLogger = (level: string, destination: DestinationStream): Logger =>
  pino(
    {
      level,
      base: null,
      formatters: { log: (about) => shownMembers(about, 0) },
      // Pino's own serializer would shorten the errors that `shownError` writes.
      serializers: { err: (error: unknown) => error },
      hooks: { streamWrite: withoutLogins },
    },
    destination,
  );

/** A member of an entry as `name=value`. An error brings its stack, which stands on lines of its own. */
const shownMember = ([name, value]: [string, unknown]): string => {
  if (typeof value === 'number') return `${name}=${Math.round(value * 10) / 10}`;
  return `${name}=${typeof value === 'string' && /^[^\s"]+$/.test(value) ? value : JSON.stringify(value)}`;
};

/** The stacks of an entry's errors, the causes too. */
const stacksIn = (value: unknown): readonly string[] => {
  if (typeof value !== 'object' || value === null) return [];
  const { stack } = value as { readonly stack?: unknown };
  return [...(typeof stack === 'string' ? [stack] : []), ...Object.values(value).flatMap(stacksIn)];
};

/** A line of the log for people: time, level, message, members, and the stacks of errors below. */
const lineForPeople = (line: string): string => {
  const { time, level, msg, ...members } = JSON.parse(line) as Record<string, unknown>;
  const at = new Date(Number(time)).toTimeString().slice(0, 8);
  const name = (pino.levels.labels[Number(level)] ?? '').padEnd(5);
  const maskedEntries = Object.entries(
    JSON.parse(JSON.stringify(members, (key, value) => (key === 'stack' ? undefined : value))),
  );
  const first = [at, name, msg, ...maskedEntries.map(shownMember)].join(' ');
  return `${plainText([first, ...stacksIn(members)].join('\n').replaceAll('\n', '\n  '))}\n`;
};

/** Where a logger writes to, when people read it: a terminal. */
export const forPeople = (destination: DestinationStream): DestinationStream => ({
  write: (line) => destination.write(lineForPeople(line)),
});
