import type { LoginSettings } from './authenticate.ts';

/** What the service does differently by its active profile. */
export type Settings = LoginSettings & {
  /** Value of Access-Control-Allow-Origin; undefined: not sent. */
  readonly allowOrigin: string | undefined;
  /** Whether a Cache-Control header is sent. */
  readonly cacheControl: boolean;
};

const defaults: Settings = {
  admins: [], logoutTime: 30, principalTimeout: 1, cookieName: 'token', uniqueSession: false, allowOrigin: undefined, cacheControl: false,
};

/** The settings as of now: the same object as long as they have not changed. */
export const settings = (): Settings => defaults;
