import type { Duplex } from 'node:stream';

/** A device. It listens at `host`, or its name, and at `port`, or that of SSH. `ostype`: a name of its type. */
export type Device = {
  readonly name: string;
  readonly host?: string;
  readonly port?: number;
  readonly ostype?: string;
};

/** How a device is logged in to, and spoken to where its type says it otherwise. */
export type SshProperties = {
  readonly username?: string;
  readonly password?: string;
  readonly privateKey?: string;
  readonly passphrase?: string;
  readonly enablePassword?: string;
  /** The fingerprint of the host key, or one for each device by its name. */
  readonly hostKey?: string | Readonly<Record<string, string>>;
  /** Seconds that a session waits for the next call of its device; 30 unless given, 0: never. */
  readonly keepSession?: number;
  /** Characters that prompts end with. */
  readonly prompt?: string;
  readonly setup?: readonly string[];
  readonly enter?: readonly string[];
  readonly leave?: readonly string[];
  readonly show?: string;
  readonly refusals?: readonly string[];
  readonly harmless?: readonly string[];
};

/** The network, which the caller brings. */
export type Network = {
  /** Opens a connection. Rejects when the signal aborts, and with `SshFailure` for a place that is not allowed. */
  connect(place: { readonly host: string; readonly port: number }, signal: AbortSignal): Promise<Duplex>;
  /** Why a connection failed or was ended, in words without secrets. */
  reasonOf(error: unknown): string;
};

/** A host key as a device shows it. */
export type HostKey = { readonly fingerprint: string; readonly type: string };

/**
 * The facts about a change beside the answer: no secrets of the configuration stand in it. `verified`: the configuration shows
 * every line; null if it could not be read, or does not tell. `left`: the lines before the refused one that stay on the device;
 * null if that is not known.
 */
export type ChangeAccount = {
  readonly verified?: boolean | null;
  readonly output?: string;
  readonly unrecognized?: string[];
  readonly warnings?: string[];
  readonly refused?: { readonly line: number; readonly text: string };
  readonly left?: string[] | null;
};

/**
 * The answer of a device: its status, that of HTTP which is nearest to it, and its body as JSON text. `unverified`: nobody knows
 * whether the device took all of a configuration.
 */
export type DeviceAnswer = {
  readonly status: number;
  readonly text: string;
  readonly unverified?: true;
  readonly account?: ChangeAccount;
  /** The configuration of the device after the change, where it was read back. */
  readonly running?: string;
};
