import type { Filters } from '@automation-platform/bounded-schemas';
import type { GuardedClock } from '@automation-platform/concurrency';
import type { Tools } from '../../commands/engine/define.ts';
import type { Handle } from '../../commands/engine/handle.ts';
import type { Request } from '../../commands/engine/requests.ts';
import type { Retries } from '../../commands/engine/retries.ts';
import type { TamperedGuard } from '../../commands/engine/tamperedGuard.ts';
import type { Actor, Aggregate } from '../../domain/engine/core.ts';
import type { Collection, Projection } from '../../projections/engine/define.ts';
import type { Entry, ReadModel } from '../../projections/engine/port.ts';
import type { Devices, Renderer } from '../../southbound/port.ts';
import type { EventStore, StoredEvent } from '../../store/port.ts';
import type { Authenticator } from '../authentication/authenticate.ts';
import type { Principal } from '../authentication/principal.ts';
import type { EventReading } from '../events/asked.ts';

type Sees = (viewer: Principal, event: Pick<StoredEvent, 'stream' | 'type' | 'position'>) => Promise<boolean>;

/** Events of the log, and who sees them. */
type SeenEvents = Pick<EventStore, 'at' | 'head'> & {
  readonly sees: Sees;
  /** The same in audits, which show more. */
  readonly seesInAudit: Sees;
  /** True if the viewer sees all events of a type (true) or none; undefined: access lists decide about each. */
  readonly seesType: (viewer: Principal, type: string) => boolean | undefined;
  /** The account as of now, with its rights; undefined if it is deleted or inactive. */
  readonly viewerOf: (account: string) => Promise<Principal | undefined>;
};

/** Runs of triggers and reactions that failed. */
export type ParkedRuns = {
  /** The event, whether it can be read or not; undefined if the log has none there. */
  readonly eventOf: (stream: string, revision: number) => Promise<StoredEvent | undefined>;
  /** Tries once more. Throws `not_found` if nothing is parked under the id. */
  readonly retry: (
    id: string,
    about: Omit<Request, 'id' | 'input'>,
  ) => Promise<{
    readonly job: string | null;
    readonly refused: { readonly reason: string; readonly message: string } | null;
  }>;
};

/**
 * The parts of the running service that routes may use. Reads wait for everything that this node has acknowledged. It is
 * an interface, so that an area can add parts of its own: the engine knows no area.
 */
export interface Service {
  readonly handle: Handle;
  readonly model: ReadModel;
  readonly tools: Tools;
  /** Finds the resource that a repeated request has changed before. */
  readonly retries: Retries;
  /** The entry with an id or a name, if the actor may read it; else throws `not_found`. */
  readonly entry: (projection: Projection, idOrName: string, actor: Actor) => Promise<Entry>;
  /** The entry with an id, if the actor may read it; else throws `not_found`. */
  readonly entryById: (projection: Projection, id: string, actor: Actor) => Promise<Entry>;
  /** Tells a missing resource from one whose stream was tampered with. */
  readonly tampered: TamperedGuard;
  /** The collection that shows an aggregate's documents; undefined if there is none. */
  readonly collectionOf: (aggregate: Aggregate) => Collection | undefined;
  /** Authentication, login and logout. */
  readonly auth: Authenticator;
  /** The devices of all adapters. */
  readonly devices: Devices;
  /** The time by the clock of this node, and when that has waited last. */
  readonly moment: GuardedClock['moment'];
  /** Keyed digest of a text. */
  readonly digest: (text: string) => string;
  /** The template engine. */
  readonly renderer: Renderer;
  /** Runs and reactions that failed. */
  readonly parked: ParkedRuns;
  /** The compiled filters of triggers. */
  readonly filters: Filters;
  /** Events of the log, and who sees them. */
  readonly events: SeenEvents;
  /** Status of the node, as GET /health/status shows it. */
  readonly status: () => Promise<Record<string, unknown>>;
  /** Tells readers of the events of the log. */
  readonly eventStream: EventReading;
  readonly metrics: () => Promise<{ readonly text: string; readonly type: string }>;
  /**
   * True if requests can be answered: the read models have caught up, nothing has stopped, and the log is served if it
   * should be.
   */
  readonly ready: () => Promise<boolean>;
}
