import type { Tools } from '../../commands/engine/define.ts';
import { same } from '../../domain/engine/changes.ts';
import type { ProfileContent } from '../../domain/profiles/profileSchemas.ts';
import { activeProfile, activeProfileId, adminsOf, profile } from '../../domain/profiles/profiles.ts';
import { type Recorded, splitStream } from '../../store/event.ts';
import { isUnusable } from '../../store/tampered.ts';
import type { LoginSettings } from '../authentication/authenticate.ts';
import type { HttpSettings } from '../engine/appNeeds.ts';

/** What the service does differently by its active profile. */
export type Settings = LoginSettings &
  HttpSettings & {
    /** Least level that is logged, as pino calls it; undefined: the profile does not say. */
    readonly logLevel: 'error' | 'warn' | 'info' | 'debug' | 'trace' | undefined;
    /** Milliseconds that answers under way are waited for at the end. */
    readonly shutdownMs: number;
    /** Names of adapters in the order in which they are asked for a device; others follow by name. */
    readonly adapterOrder: readonly string[];
  };

/** The settings that a profile makes; what it does not say is as without a profile. */
export const settingsOf = (properties: ProfileContent): Settings => {
  const {
    authenticationProps = {},
    expressProps = {},
    loggerProps = {},
    systemProps = {},
    adapterStrategy = {},
  } = properties;
  const { logoutTime = 30, principalTimeout = 1, cookieName = 'token', uniqueSession = false } = authenticationProps;
  const { access_control_allow_origin: allowOrigin, cacheControl = false, timeout = 0 } = expressProps;
  const level = loggerProps.console_level ?? loggerProps.log_level;
  return {
    admins: adminsOf(properties),
    logoutTime,
    principalTimeout,
    cookieName,
    uniqueSession,
    allowOrigin,
    cacheControl,
    timeout,
    logLevel: level === 'spam' ? 'trace' : level,
    shutdownMs: 1000 * (systemProps.shutdownTimeout ?? 10),
    adapterOrder: adapterStrategy.device?.order ?? [],
  };
};

type Needs = {
  readonly state: Tools['state'];
  /** Told the settings when they have changed. */
  readonly onChange: (settings: Settings) => void;
  readonly log: (message: string, about: Record<string, unknown>) => void;
};

const concerning = new Set([profile.category, activeProfile.category]);
const retryMs = 1000;

/**
 * The settings in force: those of the active profile as its stream has them, without one the defaults. The object stays
 * the same until they change, and so does its list of admins.
 */
export const activeSettings = ({ state, onChange, log }: Needs) => {
  let current = settingsOf({});
  let latest = Promise.resolve();
  let retry: NodeJS.Timeout | undefined;

  /** Of the active profile. One that cannot be read changes nothing: to try again would not help. */
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
    onChange(current);
  };

  /** Reads anew, one at a time, so that none overtakes a later one. */
  const refresh = (): Promise<void> => {
    const mine = latest.then(read);
    latest = mine.catch(() => undefined);
    return mine;
  };

  /** The same when some of the events concern it. Never fails: it tries again until it can read. */
  const told = async (events: readonly Pick<Recorded, 'stream'>[]): Promise<void> => {
    if (!events.some(({ stream }) => concerning.has(splitStream(stream).category))) return;
    clearTimeout(retry);
    await refresh().catch((error: unknown) => {
      log('The active profile cannot be read; trying again', { error });
      retry = setTimeout(() => void told(events), retryMs).unref();
    });
  };

  return {
    categories: concerning,
    current: (): Settings => current,
    refresh,
    told,
    stop: (): void => clearTimeout(retry),
  };
};

export type ActiveSettings = ReturnType<typeof activeSettings>;
