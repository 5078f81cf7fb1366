import { CallRefused, calls, type Operations } from '@automation-platform/client';
import { computed, signal } from '@preact/signals';
import { asOf } from './location.ts';

/** The address of the platform: that of the page, without its last part. */
export const url = new URL('.', location.href).href.replace(/\/$/, '');

export type Caller = Operations['service.whoami']['answer'];

/** The account that is logged in; null: none; undefined: not known yet. */
export const caller = signal<Caller | null | undefined>(undefined);
/** True if the login has ended while the page shows something. */
export const hasEnded = signal(false);
/** False while the platform does not answer. */
export const isReachable = signal(true);
/** How many calls have waited for their answers longer than people like. */
export const slowCalls = signal(0);
/** Grows when all that is shown should be asked for again. */
export const refreshes = signal(0);

const { call: send } = calls({ url });

type Name = keyof Operations;
type Input<N extends Name> = Operations[N]['input'];
export type Answered<N extends Name> = { readonly body: Operations[N]['answer']; readonly headers: Headers };

/** The platform does not answer at all. */
class Unreachable extends Error {
  override readonly name = 'Unreachable';
}

export const refresh = (): void => {
  refreshes.value++;
};

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1000));
let isProbing = false;

/** Waits until the platform answers, then asks for everything again. */
const probe = async (): Promise<void> => {
  if (isProbing) return;
  isProbing = true;
  isReachable.value = false;
  for (;;) {
    await pause();
    const answer = await fetch(`${url}/health/ready`).catch(() => undefined);
    if (answer?.ok) break;
  }
  isProbing = false;
  isReachable.value = true;
  refresh();
};

const longMs = 3000;

/** Calls an operation. Throws `CallRefused`, or `Unreachable`. */
export const call = async <N extends Name>(name: N, input?: Input<N>): Promise<Answered<N>> => {
  let isSlow = 0;
  const timer = setTimeout(() => {
    isSlow = 1;
    slowCalls.value++;
  }, longMs);
  try {
    return await (send as (name: N, input?: Input<N>) => Promise<Answered<N>>)(name, input);
  } catch (error) {
    if (error instanceof TypeError) {
      void probe();
      throw new Unreachable('The platform does not answer. All that you typed is still here.');
    }
    if (error instanceof CallRefused && error.status === 401 && caller.value) hasEnded.value = true;
    if (error instanceof CallRefused && error.status === 403) void askForRights();
    throw error;
  } finally {
    clearTimeout(timer);
    slowCalls.value -= isSlow;
  }
};

/** Operations that can answer as of an earlier moment. */
export type Past = { [N in Name]: Input<N> extends { query?: { asOf?: string } } ? N : never }[Name];

/** Reads at the moment that the page shows. */
export const read = async <N extends Past>(name: N, input?: Input<N>): Promise<Operations[N]['answer']> =>
  (await readWhole(name, input)).body;

/** The same, with the headers of the answer. */
export const readWhole = <N extends Past>(name: N, input?: Input<N>): Promise<Answered<N>> => {
  const moment = asOf.value;
  const { query, ...rest } = (input ?? {}) as { readonly query?: object };
  const whole = moment === undefined ? input : { ...rest, query: { ...query, asOf: moment } };
  return call(name, whole as Input<N>);
};

/** Finds events, the newest first, until the moment that the page shows. */
export const findEvents = async (
  query: NonNullable<Input<'audit.getAuditEvents'>['query']>,
): Promise<Operations['audit.getAuditEvents']['answer']> =>
  (await call('audit.getAuditEvents', { query: { ...query, ...(asOf.value && { until: asOf.value }) } })).body;

/** A key by which a change that is sent twice is carried out once. */
export const newKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');

/** The headers of a change that is sent once. */
export const newKeyHeader = (): { readonly 'Idempotency-Key': string } => ({ 'Idempotency-Key': newKey() });

export { CallRefused };

/** True if the caller may call the operation `area.name`. */
export const may = (operation: Name | 'operations-manager.streamEvents'): boolean => {
  const [area = '', name = ''] = operation.split('.');
  return caller.value?.methods[area]?.includes(name) === true;
};

/** False while the page shows an earlier moment: nothing can be changed then. */
export const isNow = computed(() => asOf.value === undefined);

/** The text of an error, with the places of its faults. */
export const wordsOf = (error: unknown): string => {
  if (!(error instanceof CallRefused)) return error instanceof Error ? error.message : String(error);
  const more = error.errors.map(({ path, message }) => (path ? `${path}: ${message}` : message));
  const others = more.filter((text) => !text.endsWith(error.message));
  return [error.message, ...others].join('. ');
};

/** Notes who is logged in. The page is told of another account, and of other rights, alone. */
const noteCaller = (found: Caller): void => {
  if (JSON.stringify(found) !== JSON.stringify(caller.value)) caller.value = found;
  hasEnded.value = false;
};

let isAsking = false;

/** Asks who is logged in: the rights may have changed, or the login has ended. */
export const askForRights = async (): Promise<void> => {
  if (isAsking) return;
  isAsking = true;
  const before = caller.value;
  await call('service.whoami').then(
    ({ body }) => caller.value === before && noteCaller(body),
    () => undefined,
  );
  isAsking = false;
};

/** All tabs of this browser: they have the same cookie. */
const tabs = new BroadcastChannel('login');
tabs.onmessage = askForRights;

/** Finds out who is logged in, as soon as the platform can say it. */
export const whoAmI = async (): Promise<void> => {
  for (;;) {
    try {
      noteCaller((await call('service.whoami')).body);
      return;
    } catch (error) {
      const status = error instanceof CallRefused ? error.status : undefined;
      if (status === 401) {
        caller.value = null;
        return;
      }
      if (status !== 503 && !(error instanceof Unreachable)) throw error;
    }
    await pause();
  }
};

/** Logs in; the browser keeps the cookie. Throws `CallRefused`. */
export const logIn = async (username: string, password: string): Promise<void> => {
  await call('service.login', { body: { username, password } });
  await whoAmI();
  tabs.postMessage('begun');
  refresh();
};

export const logOut = async (): Promise<void> => {
  await call('service.logout').catch(() => undefined);
  tabs.postMessage('ended');
  caller.value = null;
  hasEnded.value = false;
};
