import type { Actor, Name } from '../../domain/engine/core.ts';

/** A request for a command: the resource, the input, the caller and the conditions. */
export type Request = {
  readonly id: string;
  /**
   * There should be no such resource: its id was just made, or looked for in vain. Then its stream is read only if there
   * is one all the same.
   */
  readonly fresh?: boolean | undefined;
  readonly input: unknown;
  readonly actor: Actor;
  /** The name of the route or reaction, stored in the events. */
  readonly operation: string;
  readonly requestId: string;
  /** The id of the event that this request follows from; for requests from outside, the request's id. */
  readonly causation?: string | undefined;
  /** The correlation of that event; for requests from outside, the request's id. */
  readonly correlation?: string | undefined;
  readonly traceparent?: string | undefined;
  /**
   * The condition on the resource: at this revision, `some`: it exists, `none`: it does not exist. Otherwise `stale`.
   */
  readonly ifRevision?: number | 'some' | 'none' | undefined;
  /**
   * The same key with the same digest gets the first answer again. The same key with another digest is `unprocessable`.
   */
  readonly idempotency?: { readonly key: string; readonly request: string } | undefined;
  /** The depth of the events that the command stores: of published events, that of the job that publishes; absent: 0. */
  readonly depth?: number | undefined;
  /** The id of the last event that the command stores, a UUID. Without it, the id is any. */
  readonly eventId?: string | undefined;
  /** Nobody waits for the command: reads need not show what it stores. */
  readonly background?: boolean | undefined;
  /** The name by which the caller called the resource, if it was not the id. */
  readonly calledBy?: Pick<Name, 'name' | 'parent'> | undefined;
};
