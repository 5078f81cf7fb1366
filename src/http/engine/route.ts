import type { TSchema } from 'typebox';
import type { AnyCommand } from '../../commands/engine/define.ts';
import type { CommandResult } from '../../commands/engine/handle.ts';
import type { Actor, Area } from '../../domain/engine/core.ts';
import type { Collection, Projection } from '../../projections/engine/define.ts';
import type { Access, Principal } from '../authentication/principal.ts';
import type { Service } from './service.ts';

/** The parameters of a path, by name. */
export type Params<Name extends string = string> = Readonly<Record<Name, string>>;

/** A function that routes of every kind may have: the builder of a route (routes.ts) checks what its arguments are. */
type Checked<Arguments extends readonly unknown[], Result> = { call(...args: Arguments): Result }['call'];

/** A request as routes see it: checked, with the caller known. */
export type Call<Name extends string = string, Body = unknown, Query = Readonly<Record<string, unknown>>> = {
  readonly params: Params<Name>;
  /** Query parameters that the route declares, converted as their schemas say. */
  readonly query: Query;
  /** The body, which fits the route's schema; `{}` when there was none. */
  readonly body: Body;
  readonly actor: Actor;
  /** Undefined on open routes. */
  readonly principal: Principal | undefined;
  readonly requestId: string;
  /** As the caller sent it, if it is one. */
  readonly traceparent: string | undefined;
  /** The caller's address: of the socket, or as TRUST_PROXY allows. */
  readonly address: string;
  readonly header: (name: string) => string;
  readonly method: string;
  /** As it was sent, without the query. */
  readonly path: string;
  readonly querystring: string;
  /** The body as it was sent; '' when there was none. */
  readonly bodyText: string;
  /** Aborted once nobody waits for the answer any more; the reason is a refusal. Made at the first call. */
  readonly abandoned: () => AbortSignal;
};

/** What a route that runs by itself answers; `text` is sent as it is, else `body` as JSON. */
export type Answer = {
  readonly status?: number;
  readonly body?: unknown;
  readonly text?: string | Buffer;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Of the last event stored by it. */
  readonly position?: number;
  readonly replayed?: boolean;
};

/** Puts the area's members around a document's JSON text. */
export type Envelope = (text: string, done?: CommandResult) => string;

/** The same around the document of a change. */
export type ChangeEnvelope = (text: string, done: CommandResult) => string;

/** The same around a list of documents' JSON texts. */
export type ListEnvelope = (
  texts: readonly string[],
  page: { readonly skip: number; readonly limit: number; readonly total: number },
) => string;

/**
 * What a route's resource hangs on: `of` are the parents, `param` names one in the path. The resource's filter field
 * `field` has its id; without one the list is of documents that live in the parent's stream (`children` of its
 * projection).
 */
export type Parent<Name extends string = string, Filter extends string = string> = {
  readonly of: Projection;
  readonly param: Name;
  readonly field?: Filter;
};

/** Adds what comes from other streams to a document when it is read. */
export type Join<Doc, C extends Call = Call> = (doc: Doc, service: Service, call: C) => Promise<unknown>;

/** The join of any route. */
export type AnyJoin = Checked<[doc: unknown, service: Service, call: Call], Promise<unknown>>;

/** What routes of every kind say. */
export type Common = {
  /** The operation's name: what roles list, what events keep. Contract. */
  readonly name: string;
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Within the area's prefix, parameters as `:id`. Literal segments come before parameters in the table. */
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  readonly deprecated?: true;
  /** expressProps.timeout does not end it: streams, and what a timeout too short is mended by. */
  readonly untimed?: true;
  /** It tells of the node itself: answered also while log or read models are away, to whom the node knows already. */
  readonly monitoring?: true;
  /** Who sends METRICS_TOKEN needs no login. */
  readonly byMetricsToken?: true;
  /** It starts something that goes on after the answer; metrics count how often that is refused. */
  readonly starts?: true;
  /** The body may have MAX_IMPORT_BYTES. */
  readonly large?: true;
  /** Query parameters beside those of lists. */
  readonly query?: Readonly<Record<string, TSchema>>;
  readonly body?: TSchema;
  /**
   * The member of the body that is kept as it was written: numbers of any size and kind, members in their order
   * (domain/engine/exactJson.ts).
   */
  readonly exact?: string;
  /**
   * In `key` and `input` the parameters are ids then, whatever the path says; what hangs on another parent is not
   * found.
   */
  readonly parent?: Parent;
  /** Schema of the 200 answer. */
  readonly answer: TSchema;
};

/**
 * A change. Which resource: `key` (natural keys, or an id that is given), else a new id for commands on `new`, else
 * what `named` says (a parameter, `id` unless given, or a function of path and body), which may be an id or a name.
 * `input` makes the command's input from path and body; without it the body is the input, `{}` if there is none.
 */
export type CommandRoute = Common & {
  readonly command: AnyCommand;
  readonly key?: Checked<[params: Params, body: unknown, actor: Actor], string | undefined>;
  readonly named?: string | Checked<[params: Params, body: unknown], string>;
  readonly input?: Checked<[params: Params, body: unknown], unknown>;
  readonly join?: AnyJoin;
  readonly envelope: ChangeEnvelope;
};

/** One document: by `key`, else by the parameter `named` (`id` unless given), which may be a name. */
export type GetRoute = Common & {
  readonly get: Projection;
  readonly key?: Checked<[params: Params], string>;
  readonly named?: string;
  /** The document as long as there is none. */
  readonly otherwise?: unknown;
  readonly join?: AnyJoin;
  readonly envelope: Envelope;
};

/** A list in the one dialect of all lists. */
export type ListRoute = Common & {
  readonly list: Collection;
  /** Default direction; 1 unless given. */
  readonly order?: 1 | -1;
  /** Default limit; 25 unless given. */
  readonly limit?: number;
  readonly join?: AnyJoin;
  /** The query parameter that asks for the join; without it every answer is joined. */
  readonly joinOn?: string;
  readonly envelope: ListEnvelope;
};

/** Anything else. `list`: what it answers is a list as well, and `run` reads the query string by `listQueryOf`. */
export type ActionRoute = Common & {
  readonly list?: Pick<Collection, 'sorts' | 'filters'>;
  readonly run: Checked<[call: Call, service: Service], Promise<Answer>>;
};

export type Route = CommandRoute | GetRoute | ListRoute | ActionRoute;

/** The routes of one area; `service` routes are in no role and no list of methods. */
export type AreaRoutes = {
  readonly area: Area | 'service';
  readonly prefix: string;
  readonly routes: readonly Route[];
};
