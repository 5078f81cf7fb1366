import { randomUUID } from 'node:crypto';
import { isSealed, type Sealed } from '../domain/engine/sealed.ts';
import { isOwnStream } from '../events/ownStreams.ts';
import { type WholeLog, WrongRevision } from '../store/port.ts';
import { checkOf, givenKey, makeKey, secrets } from './secrets.ts';

/** The stream that identifies the key with which the secrets of a log are sealed. Its last event counts. */
export const keyStream = 'secret-key';

const keyChecked = '@platform/log:keyChecked';

type Needs = {
  readonly log: WholeLog;
  readonly fromSetting: string | undefined;
  /** The key file, used when there is no setting. */
  readonly file: string;
  /** The time of the note, in epoch milliseconds; that of the machine unless given. */
  readonly now?: () => number;
};

type Noted = { readonly revision: number; readonly check: string | undefined };

/** The check in an event; undefined if the event cannot be read. */
const checkIn = (data: string): string | undefined => {
  try {
    const { check } = JSON.parse(data) as { readonly check: unknown };
    return typeof check === 'string' ? check : undefined;
  } catch {
    return undefined;
  }
};

const readNote = async (log: WholeLog): Promise<Noted> => {
  let last: Noted = { revision: -1, check: undefined };
  for await (const events of log.read(keyStream)) {
    for (const { revision, data } of events) last = { revision, check: checkIn(data) ?? last.check };
  }
  return last;
};

const note = async (
  { log, now = Date.now }: Pick<Needs, 'log' | 'now'>,
  key: Uint8Array,
  after: number,
): Promise<void> => {
  const event = {
    id: randomUUID(),
    type: keyChecked,
    data: JSON.stringify({ check: checkOf(key) }),
    metadata: JSON.stringify({ at: new Date(now()).toISOString() }),
  };
  await log.append(keyStream, after, [event]);
};

const sealedIn = (text: string): Sealed | undefined => {
  let found: Sealed | undefined;
  const look = (_: string, value: unknown): unknown => {
    if (isSealed(value)) found ??= value;
    return value;
  };
  try {
    JSON.parse(text, look);
  } catch {
    // Any log may have events that are not JSON. They hold no secret that anybody could open.
  }
  return found;
};

/** The first sealed value in the platform's own streams. */
const firstSealed = async (log: WholeLog): Promise<Sealed | undefined> => {
  for await (const { events } of log.readAll(0, ['@platform/'])) {
    for (const { stream, data } of events) {
      const sealed = data.includes('"$sealed"') && isOwnStream(stream) ? sealedIn(data) : undefined;
      if (sealed) return sealed;
    }
  }
  return undefined;
};

const opens = (key: Uint8Array, sealed: Sealed): boolean => {
  try {
    secrets({ key }).unseal(sealed);
    return true;
  } catch {
    return false;
  }
};

const advice = 'If that key is lost, see "A lost key" in docs/operations.md';

const missing = (file: string): Error =>
  new Error(
    'The log holds secrets, and their key is not here: set SECRET_KEY, or put the secret.key of this log at ' +
      `${file}. ${advice}`,
  );

const another = ({ fromSetting, file }: Needs): Error => {
  const keySource = fromSetting === undefined ? `The key file ${file} (SECRET_KEY is not set)` : 'SECRET_KEY';
  return new Error(`${keySource} is not the key that the secrets in the log are sealed with. ${advice}`);
};

/** The key of a log that does not identify its key yet: an older log, or a new one. */
const keyOfSilentLog = async (needs: Needs): Promise<Uint8Array> => {
  const { log, file } = needs;
  const secretKey = givenKey(needs);
  const sealed = await firstSealed(log);
  if (sealed && !secretKey) throw missing(file);
  if (sealed && secretKey && !opens(secretKey, sealed)) throw another(needs);
  const key = secretKey ?? makeKey(file);
  try {
    await note(needs, key, -1);
  } catch (error) {
    // Another node was faster; the key that it noted counts.
    if (error instanceof WrongRevision) return keyOfLog(needs);
    throw error;
  }
  return key;
};

/**
 * The key that opens the secrets in a log: from the setting, else from the key file. A new key is made only for a log
 * that holds no secret. Throws an Error that names the setting when the key is missing or is not the log's.
 */
export const keyOfLog = async (needs: Needs): Promise<Uint8Array> => {
  const { check } = await readNote(needs.log);
  if (check === undefined) return keyOfSilentLog(needs);
  const key = givenKey(needs);
  if (!key) throw missing(needs.file);
  if (checkOf(key) !== check) throw another(needs);
  return key;
};

/**
 * Makes the key of the setting, or else of the key file, the key of the log from now on. A missing key file is made.
 * Values that another key has sealed can never be opened again.
 */
export const replaceKey = async (needs: Needs): Promise<Uint8Array> => {
  const { log, fromSetting, file } = needs;
  const key = givenKey({ fromSetting, file }) ?? makeKey(file);
  const { revision, check } = await readNote(log);
  if (check !== checkOf(key)) await note(needs, key, revision);
  return key;
};
