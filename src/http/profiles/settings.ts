import type { Log } from '@automation-platform/concurrency';
import type { Tools } from '../../commands/engine/define.ts';
import { same } from '../../domain/engine/changes.ts';
import type { ProfileContent } from '../../domain/profiles/profileSchemas.ts';
import { activeProfile, activeProfileId, adminsOf, profile } from '../../domain/profiles/profiles.ts';
import { isUnusable } from '../../store/tampered.ts';
import type { LoginSettings } from '../authentication/principal.ts';
import type { HttpSettings } from '../engine/appNeeds.ts';
import { corsOf } from '../engine/send.ts';

/** The settings of the service that the active profile gives. */
export type Settings = LoginSettings &
  HttpSettings & {
    /** The lowest level that is logged, in pino's terms; undefined: the profile does not set it. */
    readonly logLevel: 'error' | 'warn' | 'info' | 'debug' | 'trace' | undefined;
    /** How long the shutdown waits for answers in progress, in milliseconds. */
    readonly shutdownMs: number;
    /** Names of adapters in the order in which they are asked for a device. Other adapters follow by name. */
    readonly adapterOrder: readonly string[];
    /** True if refused requests and exports are recorded in the log. */
    readonly audit: boolean;
    /** How many events are decided at once: which triggers they fire. */
    readonly eventWorkerCount: number;
    /** How many engines render templates and evaluate expressions. */
    readonly transformationWorkerCount: number;
    /** How many jobs run here at once. */
    readonly jobsAtOnce: number;
    /** How many jobs may begin in a window of time; 0: any number. */
    readonly startLimit: { readonly most: number; readonly windowMs: number };
  };

/** Jobs that run at once for each of `taskWorkerThreadCount`. */
const jobsPerThread = 16;

/** The settings of a profile. Properties that it lacks have their defaults. */
export const settingsOf = (properties: ProfileContent): Settings => {
  const {
    authenticationProps = {},
    expressProps = {},
    loggerProps = {},
    systemProps = {},
    adapterStrategy = {},
    auditProps = {},
  } = properties;
  const { logoutTime = 30, principalTimeout = 1, cookieName = 'token' } = authenticationProps;
  const { uniqueSession = false, brokerPrincipal = true, relayStateTimeout = 300 } = authenticationProps;
  const { access_control_allow_credentials: credentials = false, cacheControl = false, timeout = 0 } = expressProps;
  const level = loggerProps.console_level ?? loggerProps.log_level;
  return {
    admins: adminsOf(properties),
    logoutTime,
    principalTimeout,
    cookieName,
    uniqueSession,
    brokerPrincipal,
    relayStateTimeout,
    cors: corsOf(expressProps.access_control_allow_origin, credentials),
    cacheControl,
    timeout,
    logLevel: level === 'spam' ? 'trace' : level,
    shutdownMs: 1000 * (systemProps.shutdownTimeout ?? 10),
    adapterOrder: adapterStrategy.device?.order ?? [],
    audit: auditProps.audit ?? true,
    eventWorkerCount: systemProps.eventWorkerCount ?? 3,
    transformationWorkerCount: Math.max(1, systemProps.transformationWorkerCount ?? 3),
    jobsAtOnce: jobsPerThread * Math.max(1, systemProps.taskWorkerThreadCount ?? 1),
    startLimit: {
      most: systemProps.taskWorkerRateLimit ?? 0,
      windowMs: 1000 * Math.max(1, systemProps.taskWorkerRateLimitPeriod ?? 1),
    },
  };
};

type Needs = {
  readonly state: Tools['state'];
  /** Called with the settings when they have changed. */
  readonly onChange: (settings: Settings) => void;
  readonly log: Log;
};

const concerning = new Set([profile.category, activeProfile.category]);
const retryMs = 1000;

/**
 * Keeps the settings in force: those of the active profile, read from its stream, or the defaults. The object and its
 * list of admins stay the same until they change.
 */
export const activeSettings = ({ state, onChange, log }: Needs) => {
  let current = settingsOf({});
  let latest = Promise.resolve();
  let retry: NodeJS.Timeout | undefined;
  const listeners = [onChange];

  /**
   * The properties of the active profile; undefined if the profile cannot be read. Then the settings stay, because a
   * retry would not help.
   */
  const properties = async (): Promise<ProfileContent | undefined> => {
    try {
      const { id } = await state(activeProfile, activeProfileId);
      return id === undefined ? {} : (await state(profile, id)).properties;
    } catch (error) {
      if (!isUnusable(error)) throw error;
      log('The active profile cannot be read; the settings stay as they are', { error });
      return undefined;
    }
  };

  const read = async (): Promise<void> => {
    const found = await properties();
    if (!found) return;
    const next = settingsOf(found);
    if (same(current, next)) return;
    current = { ...next, admins: same(current.admins, next.admins) ? current.admins : next.admins };
    for (const listener of listeners) listener(current);
  };

  /** Reads the settings again. Reads run one after the other, so that an older result never replaces a newer one. */
  const refresh = (): Promise<void> => {
    const mine = latest.then(read);
    latest = mine.catch(() => undefined);
    return mine;
  };

  /** Reads the settings again after an event that concerns them. Never rejects: it tries again until it succeeds. */
  const onStored = async (): Promise<void> => {
    clearTimeout(retry);
    await refresh().catch((error: unknown) => {
      log('The active profile cannot be read; trying again', { error });
      retry = setTimeout(() => void onStored(), retryMs).unref();
    });
  };

  return {
    /** The categories of the streams whose events `onStored` needs. */
    categories: concerning,
    current: (): Settings => current,
    /** Calls the listener with the settings when they have changed. */
    onChange: (listener: (settings: Settings) => void): void => void listeners.push(listener),
    refresh,
    onStored,
    stop: (): void => clearTimeout(retry),
  };
};

export type ActiveSettings = ReturnType<typeof activeSettings>;
