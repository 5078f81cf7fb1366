import type { Static, TSchema } from 'typebox';
import { type CommandOn, noInput } from '../../commands/engine/define.ts';
import type { Actor, Event } from '../../domain/engine/core.ts';
import type { Collection, Projection } from '../../projections/engine/define.ts';
import { plain, results } from './envelopes.ts';
import type {
  ActionRoute,
  Answer,
  Call,
  ChangeEnvelope,
  CommandRoute,
  Common,
  Envelope,
  GetRoute,
  Join,
  ListEnvelope,
  ListRoute,
  Page,
  Params,
  Parent,
} from './route.ts';
import type { Service } from './service.ts';

/*
 * One function for each kind of route. They return their argument almost unchanged. Their types let the compiler check
 * that a route's functions fit its path, schemas, command and collection.
 */

/** Names of the parameters in a path: `id` for `/trees/:id`. */
type ParamIn<Path extends string> = Path extends `${string}:${infer Rest}`
  ? Rest extends `${infer Name}/${infer More}`
    ? Name | ParamIn<More>
    : Rest
  : never;

type ParamsIn<Path extends string> = Params<ParamIn<Path>>;

/** Query parameters by name. */
type Queries = Readonly<Record<string, TSchema>>;
type QueryOf<Q extends Queries> = { readonly [Name in keyof Q]?: Static<Q[Name]> };

type ReadBase<Path extends string, Q extends Queries, Filter extends string> = Omit<Base<Path, Q, Filter>, 'method'> & {
  readonly method?: Common['method'];
};

type Base<Path extends string, Q extends Queries, Filter extends string = string> = Omit<
  Common,
  'path' | 'query' | 'body' | 'exact' | 'parent'
> & {
  readonly path: Path;
  readonly query?: Q;
  readonly parent?: Parent<ParamIn<Path>, Filter>;
};

type NoQueries = Record<never, TSchema>;

/** How a change finds its resource (see CommandRoute). */
type Target<Path extends string, Body> = {
  readonly key?: (params: ParamsIn<Path>, body: Body, actor: Actor) => string | undefined;
  readonly named?: ParamIn<Path> | ((params: ParamsIn<Path>, body: Body) => string);
};

/** Leaves out `body` on a route that takes none. */
export const withBody = ({ body, ...route }: CommandRoute & { readonly body: TSchema }): CommandRoute =>
  body === noInput ? route : { ...route, body };

/** A route of a change whose body is the input of its command. */
export const commandRoute = <const Path extends string, Input, Doc, Q extends Queries = NoQueries>(
  route: Base<Path, Q> &
    Target<Path, Input> & {
      readonly command: CommandOn<Input>;
      readonly body?: never;
      readonly exact?: (keyof Input & string) | '*';
      readonly refuse?: (call: Call<ParamIn<Path>, Input, QueryOf<Q>>) => void;
      readonly join?: Join<Doc, Call<ParamIn<Path>, Input, QueryOf<Q>>>;
      readonly envelope: ChangeEnvelope;
    },
): CommandRoute => withBody({ ...route, body: route.command.input });

/**
 * A route of a change whose input is made from the path and a body with its own schema; `noInput` if there is no body.
 */
export const mappedCommandRoute = <
  const Path extends string,
  Input,
  Doc,
  Body extends TSchema,
  Q extends Queries = NoQueries,
>(
  route: Base<Path, Q> &
    Target<Path, Static<Body>> & {
      readonly command: CommandOn<Input>;
      readonly body: Body;
      readonly input: (params: ParamsIn<Path>, body: Static<Body>) => NoInfer<Input>;
      readonly exact?: keyof Static<Body> & string;
      readonly join?: Join<Doc, Call<ParamIn<Path>, Static<Body>, QueryOf<Q>>>;
      readonly envelope: ChangeEnvelope;
    },
): CommandRoute => withBody(route);

/** A route that gives one document: a GET that answers the document itself, unless it says otherwise. */
export const getRoute = <
  const Path extends string,
  Doc,
  E extends Event,
  Filter extends string,
  Q extends Queries = NoQueries,
>(
  route: ReadBase<Path, Q, NoInfer<Filter>> & {
    readonly get: Projection<Doc, E, string, Filter>;
    readonly key?: (params: ParamsIn<Path>) => string;
    readonly named?: ParamIn<Path>;
    readonly otherwise?: unknown;
    readonly exports?: true;
    readonly join?: Join<NoInfer<Doc>, Call<ParamIn<Path>, unknown, QueryOf<Q>>>;
    readonly envelope?: Envelope;
  },
): GetRoute => ({ method: 'get', envelope: plain, ...route });

/** A route that gives a list: a GET that answers `{results, total}`, unless it says otherwise. */
export const listRoute = <
  const Path extends string,
  Doc,
  Filter extends string,
  Q extends Queries = NoQueries,
  Part = Doc,
>(
  route: ReadBase<Path, Q, NoInfer<Filter>> & {
    readonly list: Collection<Doc, string, Filter>;
    readonly order?: 1 | -1;
    readonly limit?: number;
    readonly page?: (page: Page, values: QueryOf<Q>) => Page;
    readonly join?: Join<NoInfer<Part>, Call<ParamIn<Path>, unknown, QueryOf<Q>>>;
    readonly outline?: (doc: NoInfer<Doc>) => Part & object;
    readonly joinOn?: keyof NoInfer<Q> & string;
    readonly bare?: Join<NoInfer<Doc>, Call<ParamIn<Path>>>;
    readonly envelope?: ListEnvelope;
  },
): ListRoute => ({ method: 'get', envelope: results, ...route });

/** A route of any other operation. */
export const actionRoute = <
  const Path extends string,
  Body extends TSchema = typeof noInput,
  Q extends Queries = NoQueries,
>(
  route: Base<Path, Q> & {
    readonly body?: Body;
    readonly exact?: (keyof Static<Body> & string) | '*';
    readonly list?: Pick<Collection, 'sorts' | 'filters'>;
    readonly shows?: Projection;
    readonly run: (call: Call<ParamIn<Path>, Static<Body>, QueryOf<Q>>, service: Service) => Promise<Answer>;
  },
): ActionRoute => route;
