import type { Actor, Name } from '../../domain/engine/core.ts';

/** Who asks for a command on which resource, and how. */
export type Request = {
  readonly id: string;
  readonly input: unknown;
  readonly actor: Actor;
  /** Name of the route or reaction, kept in the events. */
  readonly operation: string;
  readonly requestId: string;
  /** Id of the event that this follows from; the request's id where it comes from outside. */
  readonly causation?: string | undefined;
  /** Correlation of that event; the request's id where it comes from outside. */
  readonly correlation?: string | undefined;
  readonly traceparent?: string | undefined;
  /** The revision the caller saw; `some`: any, `none`: it must not be there. Else `stale`. */
  readonly ifRevision?: number | 'some' | 'none' | undefined;
  /** Same key and digest again: the first answer. Same key, other digest: `unprocessable`. */
  readonly idempotency?: { readonly key: string; readonly request: string } | undefined;
  /** The name that the caller has called the resource by, if it was not its id. */
  readonly calledBy?: Pick<Name, 'name' | 'parent'> | undefined;
};
