import type { Context } from 'koa';
import type { Actor } from '../../domain/engine/core.ts';
import type { Moment } from '../../domain/engine/moments.ts';
import type { Code } from '../../domain/engine/requestError.ts';
import type { Resource } from '../../domain/engine/resource.ts';
import type { Authenticator } from '../authentication/authenticate.ts';
import type { Past } from './asOf.ts';
import type { AreaRoutes } from './route.ts';
import type { Cors } from './send.ts';
import type { Service } from './service.ts';

/** One request, as access log and metrics see it. */
export type Seen = {
  readonly requestId: string;
  readonly address: string;
  readonly method: string;
  readonly path: string;
  /** Name of the route. It and `area` are '' when no route was found. */
  readonly operation: string;
  readonly area: string;
  readonly user: string | undefined;
  /** The header as it was sent; undefined when it is missing or malformed. */
  readonly traceparent: string | undefined;
  readonly status: number;
  readonly milliseconds: number;
};

/** Notes requests for audits. It is called only for those that it is about. */
type Recorder = {
  /** The request was refused: the caller is unknown, may not do this, or asks too often. */
  readonly denied: (row: {
    readonly account: string | null;
    readonly address: string;
    /** Name of the route; null if there is none. */
    readonly operation: string | null;
    readonly code: Code;
  }) => void;
  /** The answer was the export of a resource. */
  readonly exported: (row: HandedOut) => void;
  /** The answer had the secrets of a resource in clear. */
  readonly secretsHandedOut: (row: HandedOut) => void;
};

type HandedOut = {
  readonly account: string | null;
  readonly address: string;
  readonly operation: string;
  readonly resource: Resource;
};

/** Settings of the active profile that concern answers. */
export type HttpSettings = {
  readonly cors: Cors;
  /** True if answers have a Cache-Control header. */
  readonly cacheControl: boolean;
  /** Name of the cookie that holds the token. */
  readonly cookieName: string;
  /** Milliseconds that an answer may take; 0: no limit. */
  readonly timeout: number;
};

export type AppNeeds = {
  readonly areas: readonly AreaRoutes[];
  /** Says in words which part is missing at an address that has no route; undefined if nobody expects a route there. */
  readonly missingAt: (method: string, path: string) => string | undefined;
  readonly service: Service;
  readonly authenticator: Authenticator;
  /**
   * Resolves once reads show `minPosition` and all that this node has acknowledged; undefined: they show it already.
   */
  readonly caughtUp: (minPosition: number) => Promise<void> | undefined;
  /** The service as of a moment, as the actor may see it now. Throws `invalid` for a position beyond the log. */
  readonly past: (moment: Moment, actor: Actor) => Promise<Past>;
  readonly limits: { readonly maxBytes: number; readonly maxImportBytes: number };
  readonly settings: () => HttpSettings;
  readonly addressOf: (ctx: Context) => string;
  /** True if nobody on the way to the caller can read the answer. */
  readonly isSecret: (ctx: Context) => boolean;
  /** Called once for each answered request. */
  readonly observe: (request: Seen) => void;
  readonly recorder: Recorder;
  readonly logBug: (error: unknown, requestId: string) => void;
  /** True while the service shuts down: new requests are refused. */
  readonly stopping: () => boolean;
  /** True while this node cannot reach the event log: it answers open routes and monitoring routes only. */
  readonly cutOff: () => boolean;
  /** True if an `Authorization` header carries METRICS_TOKEN. */
  readonly mayMeasure: (authorization: string) => boolean;
};
