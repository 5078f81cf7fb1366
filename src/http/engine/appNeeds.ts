import type { Context } from 'koa';
import type { Authenticator } from '../authentication/authenticate.ts';
import type { AreaRoutes } from './route.ts';
import type { Service } from './service.ts';

/** What access log and metrics are told of a request. */
export type Seen = {
  readonly requestId: string;
  readonly address: string;
  readonly method: string;
  readonly path: string;
  /** Name of the route and its area, '' when none was found. */
  readonly operation: string;
  readonly area: string;
  readonly user: string | undefined;
  /** As it was sent; undefined when it was not, or is none. */
  readonly traceparent: string | undefined;
  readonly status: number;
  readonly milliseconds: number;
};

/** What the active profile says about answers. */
export type HttpSettings = {
  /** Value of Access-Control-Allow-Origin; undefined: not sent. */
  readonly allowOrigin: string | undefined;
  /** Whether a Cache-Control header is sent. */
  readonly cacheControl: boolean;
  /** Name of the cookie that holds the token. */
  readonly cookieName: string;
  /** Milliseconds that an answer may take; 0: as long as it takes. */
  readonly timeout: number;
};

export type AppNeeds = {
  readonly areas: readonly AreaRoutes[];
  readonly service: Service;
  readonly authenticator: Authenticator;
  /** Resolves once reads show all that this node has acknowledged, and the position; undefined: they do already. */
  readonly settled: (minPosition: number) => Promise<void> | undefined;
  readonly limits: { readonly maxBytes: number; readonly maxImportBytes: number };
  readonly settings: () => HttpSettings;
  readonly addressOf: (ctx: Context) => string;
  /** Called once per answered request. */
  readonly observe: (seen: Seen) => void;
  readonly logBug: (error: unknown, requestId: string) => void;
  /** True while the service goes down: new requests are refused. */
  readonly stopping: () => boolean;
  /** Whether this node cannot reach the event log: only open routes are answered, and those of monitoring. */
  readonly cutOff: () => boolean;
  /** Whether an `Authorization` header carries METRICS_TOKEN. */
  readonly mayMeasure: (authorization: string) => boolean;
};
