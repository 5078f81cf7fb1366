import { type Static, type TSchema, Type } from 'typebox';
import type { CommandOn } from '../../commands/engine/define.ts';
import type { Projection } from '../../projections/engine/define.ts';
import type { Access } from '../authentication/principal.ts';
import { plain, results, resultsWithMessage, withMessage, withStatus } from './envelopes.ts';
import type { Call, CommandRoute, Common, GetRoute, Join, ListRoute, Params, Parent } from './route.ts';
import { withBody } from './routes.ts';
import { changed, enveloped, listed } from './schemas.ts';

type Resource<Doc> = {
  /** As messages name it: "Successfully created group". */
  readonly noun: string;
  /** Answers are `{message, data, metadata}`, of which lists name this plural. */
  readonly inMessages?: string;
  /** The path of the list, and that of one resource. */
  readonly path: string;
  readonly one: string;
  readonly documents: Projection<Doc>;
  readonly schema: TSchema;
  /** The access that reading needs, and that changes need. */
  readonly read: Access;
  readonly change: Access;
  /** As in CommandRoute. */
  readonly key?: (params: Params, body?: unknown) => string;
  readonly named?: string;
  readonly parent?: Parent;
  readonly join?: Join<Doc, Call<string, unknown, Readonly<Record<never, never>>>>;
};

type About<Doc> = Pick<Common, 'name' | 'summary'> & Partial<Common> & Pick<Resource<Doc>, 'join'>;
type Change<Doc, Input, Body extends TSchema> = About<Doc> & {
  readonly command: CommandOn<Input>;
  readonly body?: Body;
  readonly input?: (params: Params, body: Static<Body>) => NoInfer<Input>;
  readonly key?: (params: Params, body: Input) => string | undefined;
  readonly envelope?: CommandRoute['envelope'];
};

/** The usual routes of a kind of resource, whose paths, access, envelopes and answers are the same for all. */
export const resourceRoutes = <Doc>(resource: Resource<Doc>) => {
  const { noun, inMessages, path, one, documents, schema, read, change, ...ways } = resource;
  const { key: _, named: __, ...joins } = ways;
  const message = (verb: string, what = noun): string => `Successfully ${verb} ${what}`;
  const changeAnswers = (verb: string) => ({
    access: change,
    ...(inMessages === undefined
      ? { envelope: withStatus(() => message(verb)), answer: changed(schema) }
      : { envelope: withMessage(message(verb)), answer: enveloped(schema) }),
  });
  const listOf =
    inMessages === undefined
      ? { envelope: results, answer: listed(schema) }
      : {
          envelope: resultsWithMessage(message('retrieved', inMessages)),
          answer: enveloped(Type.Array(schema)),
        };
  const getOf =
    inMessages === undefined
      ? { envelope: plain, answer: schema }
      : { envelope: withMessage(message('retrieved')), answer: enveloped(schema) };
  const changing = (route: Omit<CommandRoute, 'body'> & { readonly body?: TSchema }): CommandRoute =>
    withBody({ ...route, body: route.body ?? route.command.input });
  return {
    list: (about: About<Doc> & Pick<ListRoute, 'order'>): ListRoute => ({
      method: 'get',
      path,
      access: read,
      list: documents,
      ...listOf,
      ...joins,
      ...about,
    }),
    get: (about: About<Doc> & Partial<Pick<GetRoute, 'envelope'>>): GetRoute => ({
      method: 'get',
      path: one,
      access: read,
      get: documents,
      ...getOf,
      ...ways,
      ...about,
    }),
    create: <Input, Body extends TSchema = TSchema>(about: Change<Doc, Input, Body>): CommandRoute =>
      changing({ method: 'post', path, ...changeAnswers('created'), ...joins, ...about }),
    update: <Input, Body extends TSchema = TSchema>(about: Change<Doc, Input, Body>): CommandRoute =>
      changing({ method: 'patch', path: one, ...changeAnswers('updated'), ...ways, ...about }),
    remove: <Input, Body extends TSchema = TSchema>(about: Change<Doc, Input, Body>): CommandRoute =>
      changing({ method: 'delete', path: one, ...changeAnswers('deleted'), ...ways, ...about }),
  };
};
