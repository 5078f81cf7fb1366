import type { Tools } from '../../commands/engine/define.ts';
import type { Handle } from '../../commands/engine/handle.ts';
import type { Retries } from '../../commands/engine/retries.ts';
import type { TamperedGuard } from '../../commands/engine/tamperedGuard.ts';
import type { Actor, Aggregate } from '../../domain/engine/core.ts';
import type { Collection, Projection } from '../../projections/engine/define.ts';
import type { Entry, ReadStore } from '../../projections/engine/port.ts';
import type { Devices, Renderer } from '../../southbound/port.ts';
import type { Authenticator } from '../authentication/authenticate.ts';

/** What routes may use of the running service. Reads wait for what this node has acknowledged. */
export type Service = {
  readonly handle: Handle;
  readonly model: ReadStore;
  readonly tools: Tools;
  /** Finds what a request that is sent again was about. */
  readonly retries: Retries;
  /** The entry that an id or a name means, if the actor may read it; else `not_found`. */
  readonly entry: (projection: Projection, idOrName: string, actor: Actor) => Promise<Entry>;
  /** The same by id alone. */
  readonly entryById: (projection: Projection, id: string, actor: Actor) => Promise<Entry>;
  /** Tells what is not there from what is in a stream that somebody else has touched. */
  readonly tampered: TamperedGuard;
  /** The collection whose documents show an aggregate, if there is one. */
  readonly collectionOf: (aggregate: Aggregate) => Collection | undefined;
  /** Who calls, and logging in and out. */
  readonly auth: Authenticator;
  /** The devices of all adapters. */
  readonly devices: Devices;
  /** Keyed digest of a text. */
  readonly digest: (text: string) => string;
  /** The template engine. */
  readonly renderer: Renderer;
  /** What monitoring asks. */
  readonly status: () => Promise<Record<string, unknown>>;
  readonly metrics: () => Promise<{ readonly text: string; readonly type: string }>;
  /**
   * Whether requests can be answered: the read models have caught up, nothing has stopped, the log is served if it is
   * to be.
   */
  readonly ready: () => Promise<boolean>;
};
