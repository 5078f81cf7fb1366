import type { ServerResponse } from 'node:http';
import type { TSchema } from 'typebox';
import type { AnyCommand } from '../../commands/engine/define.ts';
import type { CommandResult } from '../../commands/engine/handle.ts';
import type { Actor, Area } from '../../domain/engine/core.ts';
import type { Resource } from '../../domain/engine/resource.ts';
import type { Collection, Projection } from '../../projections/engine/define.ts';
import type { Where } from '../../projections/engine/port.ts';
import type { Access, Principal } from '../authentication/principal.ts';
import type { Service } from './service.ts';

/** The part of a list that a query asks for. */
export type Page = {
  readonly where?: Where;
  readonly sort: string;
  readonly order: 1 | -1;
  readonly skip: number;
  readonly limit: number;
};

/** The parameters of a path, by name. */
export type Params<Name extends string = string> = Readonly<Record<Name, string>>;

/**
 * The type of a route's function with its arguments erased, so that a list can hold routes of every kind. The functions
 * in routes.ts check the types of the arguments.
 */
type Checked<Arguments extends readonly unknown[], Result> = { call(...args: Arguments): Result }['call'];

/** A request as routes see it: validated, and the caller is known. */
export type Call<Name extends string = string, Body = unknown, Query = Readonly<Record<string, unknown>>> = {
  readonly params: Params<Name>;
  /** Query parameters that the route declares, converted to the types of their schemas. */
  readonly query: Query;
  /** The body, valid by the route's schema; `{}` when the request had none. */
  readonly body: Body;
  readonly actor: Actor;
  /** Undefined on open routes. */
  readonly principal: Principal | undefined;
  readonly requestId: string;
  /** The header as the caller sent it; undefined when it is missing or malformed. */
  readonly traceparent: string | undefined;
  /** The caller's address: that of the socket, or one in X-Forwarded-For if TRUST_PROXY allows. */
  readonly address: string;
  /** True if nobody on the way can read the answer: the caller is on this machine, or the way is encrypted. */
  readonly isSecret: () => boolean;
  /** The value of a header, which may be empty; undefined if the request has none of this name. */
  readonly header: (name: string) => string | undefined;
  readonly method: string;
  /** The path as it was sent, without the query. */
  readonly path: string;
  readonly querystring: string;
  /** The body's text as it was sent; '' when there was none. */
  readonly bodyText: string;
  /** Gives a signal that aborts when nobody waits for the answer any more. Its reason is a RequestError. */
  readonly abandoned: () => AbortSignal;
};

/** The answer of an action route. `text` is sent unchanged; without `text`, `body` is sent as JSON. */
export type Answer = {
  readonly status?: number;
  readonly body?: unknown;
  readonly text?: string | Buffer;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Answers of GET have one by themselves. */
  readonly etag?: string;
  /** Position of the last event that the request stored. */
  readonly position?: number;
  readonly replayed?: boolean;
  /** The resource of which the answer is an export: audits record it. */
  readonly exported?: Resource;
  /** The resources whose secrets the answer has in clear: audits record them. */
  readonly inClear?: readonly Resource[];
  /** Sends the body bit by bit, over an answer whose head is written. It ends the answer itself. */
  readonly stream?: (res: ServerResponse) => void;
};

/** Puts the members of an envelope around a document's JSON text. */
export type Envelope = (text: string, result?: CommandResult) => string;

/** Puts the members of an envelope around the document of a change. */
export type ChangeEnvelope = (text: string, result: CommandResult) => string;

/** Puts the members of an envelope around a list of documents' JSON texts. */
export type ListEnvelope = (
  texts: readonly string[],
  page: { readonly skip: number; readonly limit: number; readonly total: number },
) => string;

/**
 * The parent of a route's resource: `of` is the parent's projection, and the path parameter `param` names the parent.
 * The resource's filter field `field` holds the parent's id. Without `field` the route lists child documents, which
 * share the parent's stream (`children` of its projection).
 */
export type Parent<Name extends string = string, Filter extends string = string> = {
  readonly of: Projection;
  readonly param: Name;
  readonly field?: Filter;
};

/** A call whose query parameters nobody reads. */
type CallWithoutQuery = Call<string, unknown, Readonly<Record<never, never>>>;

/**
 * Adds data of other streams to a document when the document is read. A join that reads query parameters says so with
 * the type of its call.
 */
export type Join<Doc, C extends Call<string, unknown, object> = CallWithoutQuery> = (
  doc: Doc,
  service: Service,
  call: C,
) => Promise<unknown>;

/** The join of any route, with its arguments erased. */
export type AnyJoin = Checked<[doc: unknown, service: Service, call: Call], Promise<unknown>>;

/** The fields that routes of every kind have. */
export type Common = {
  /** The operation's name. Roles and stored events contain it, so it must never change. */
  readonly name: string;
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /**
   * The path below the area's prefix; parameters are written `:id`. In the table of routes, literal segments come
   * before parameters.
   */
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  /** Another address of the operation of this name, as other programs call it (http/compatibility). */
  readonly alias?: true;
  readonly access: Access;
  /** Another method that lets callers in. `run` refuses them what takes the route's own method. */
  readonly alternative?: { readonly name: string; readonly access: Access };
  readonly deprecated?: true;
  /**
   * The profile's `expressProps.timeout` does not apply: for streams, and for the operations that correct a timeout
   * that is too short.
   */
  readonly untimed?: true;
  /**
   * The route describes the node itself. It is answered even while log or read models are away, to callers whom the
   * node knows already.
   */
  readonly monitoring?: true;
  /** A caller who sends METRICS_TOKEN needs no login. */
  readonly byMetricsToken?: true;
  /**
   * For operations other than documents and lists: it changes nothing and answers from read models alone. So its query
   * takes `asOf`.
   */
  readonly reads?: true;
  /** For operations other than documents and lists: `If-Match` is that of the resource that it changes. */
  readonly conditional?: true;
  /** The operation starts work that goes on after the answer. Metrics count how often such requests are refused. */
  readonly starts?: true;
  /** The header X-Claim may name the claim of the job that sends the request. */
  readonly byClaim?: true;
  /** The body may have up to MAX_IMPORT_BYTES instead of MAX_BODY_BYTES. */
  readonly large?: true;
  /** Query parameters besides those that every list has. */
  readonly query?: Readonly<Record<string, TSchema>>;
  readonly body?: TSchema;
  /** A request without body may have the members of the body in its query, which declares them. */
  readonly bodyInQuery?: true;
  /** The body may be a form (application/x-www-form-urlencoded): another service writes it, and this is how it does. */
  readonly form?: true;
  /** Another service writes the query: nothing in it is refused, and `run` reads it as it is. */
  readonly foreignQuery?: true;
  /**
   * The member of the body, or `*` for all, that is kept exactly as it was written: numbers of any size, members in their order
   * (packages/json).
   */
  readonly exact?: string;
  /**
   * The resource's parent. With a parent, `key` and `input` get ids as parameters, even if the path has names. A
   * resource of another parent is `not_found`.
   */
  readonly parent?: Parent;
  /** The answer is 204, and has no body. */
  readonly empty?: true;
  /** Schema of the 200 answer. */
  readonly answer: TSchema;
};

/**
 * A change. The resource's id comes from the first of these that applies: `key` (for natural keys and given ids); a new
 * id if the command is on `new`; `named`, which gives an id or a name. `named` is a path parameter (`id` by default) or
 * a function of path and body. `input` makes the command's input from path and body; without it the body is the input.
 */
export type CommandRoute = Common & {
  readonly command: AnyCommand;
  /** Throws for a body that the caller may not send. */
  readonly refuse?: Checked<[call: Call], void>;
  readonly key?: Checked<[params: Params, body: unknown, actor: Actor], string | undefined>;
  readonly named?: string | Checked<[params: Params, body: unknown], string>;
  readonly input?: Checked<[params: Params, body: unknown], unknown>;
  readonly join?: AnyJoin;
  readonly envelope: ChangeEnvelope;
};

/** One document, found by `key`, else by the path parameter `named` (`id` by default), which holds an id or a name. */
export type GetRoute = Common & {
  readonly get: Projection;
  readonly key?: Checked<[params: Params], string>;
  readonly named?: string;
  /** The document to show while none exists. */
  readonly otherwise?: unknown;
  /** The answer is an export: audits record it. */
  readonly exports?: true;
  readonly join?: AnyJoin;
  readonly envelope: Envelope;
};

/** A list with the query parameters that all lists share. */
export type ListRoute = Common & {
  readonly list: Collection;
  /** Default direction; 1 if not set. */
  readonly order?: 1 | -1;
  /** Default limit; 25 if not set. */
  readonly limit?: number;
  /** The page that further parameters of the route ask for, in other words than all lists have. */
  readonly page?: Checked<[page: Page, values: unknown], Page>;
  readonly join?: AnyJoin;
  /** The part of a document that the join reads. It is made once for each revision; without it the join gets the document. */
  readonly outline?: Checked<[doc: unknown], object>;
  /** The query parameter that asks for the join; if not set, every answer is joined. */
  readonly joinOn?: string;
  /**
   * Without a query, the answer is an array of all documents, 1,000 at most. Each is the result of this function. Published
   * clients read such lists.
   */
  readonly bare?: AnyJoin;
  readonly envelope: ListEnvelope;
};

/**
 * Any other operation. `list` is set if the answer is a list too; then `run` reads the query string with `listQueryOf`.
 */
export type ActionRoute = Common & {
  readonly list?: Pick<Collection, 'sorts' | 'filters'>;
  /** The documents of which the answer shows one, if there is such a projection. */
  readonly shows?: Projection;
  readonly run: Checked<[call: Call, service: Service], Promise<Answer>>;
};

export type Route = CommandRoute | GetRoute | ListRoute | ActionRoute;

/** The routes of one area. Routes of the area `service` are in no role and not in the list of methods. */
export type AreaRoutes = {
  readonly area: Area | 'service';
  readonly prefix: string;
  /** Other spellings of the first words of paths, by the spelling: `{devicegroups: 'deviceGroups'}`. */
  readonly spellings?: Readonly<Record<string, string>>;
  readonly routes: readonly Route[];
  /** The paths are those of other programs. Their rows come last. */
  readonly compatible?: true;
};
