import { RequestError } from '../../domain/engine/requestError.ts';
import { isDamage } from '../integrity.ts';

const kinds = { busy: 5, corrupt: 11, full: 13, constraint: 19, notADatabase: 26 } as const;

// The low byte of an error code of SQLite is its kind.
const isOf = (error: unknown, ...names: readonly (keyof typeof kinds)[]): boolean => {
  const kind = ((error as { errcode?: number } | null)?.errcode ?? 0) % 256;
  return names.some((name) => kinds[name] === kind);
};

/** The log is not as its only writer left it. */
export class NotAsLeft extends Error {}

/** True if an error says that another connection holds a lock. */
export const isBusy = (error: unknown): boolean => isOf(error, 'busy');

/** True if an error says that a file could not grow. A commit with this error has not written its last page. */
export const isFull = (error: unknown): boolean => isOf(error, 'full');

/** True if opening the file again cannot help: it is damaged, or not as its only writer left it. */
export const isForGood = (error: unknown): boolean =>
  error instanceof NotAsLeft || isOf(error, 'corrupt', 'notADatabase', 'constraint');

/**
 * The message of an error. Threads send each other this text, because errors of the driver lose their message between
 * threads.
 */
export const inWords = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Runs a read of the log. An error of the driver becomes `RequestError('unavailable')`: the next read may succeed. */
export const reading = <T>(read: () => T): T => {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof RequestError || isDamage(cause)) throw cause;
    throw new RequestError('unavailable', `The log cannot be read: ${inWords(cause)}`, { cause });
  }
};

/** Adds the file's name to an error of the driver, which names no file. Other errors stay the same. */
export const naming = (file: string, error: unknown): unknown => {
  const isDrivers = (error as { errcode?: number }).errcode !== undefined;
  return isDrivers ? new Error(`${file}: ${inWords(error)}`, { cause: error }) : error;
};
