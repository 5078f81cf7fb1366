import { exactText, type Members } from '@automation-platform/json';
import { type Static, type TSchema, Type } from 'typebox';
import type { Request } from '../../commands/engine/requests.ts';
import type { Aggregate } from '../../domain/engine/core.ts';
import { defined } from '../../domain/engine/defined.ts';
import { exported, type Imported, type Words } from '../../domain/engine/importedDocuments.ts';
import { missingSecrets } from '../../domain/engine/importedSecrets.ts';
import { type Fault, RequestError } from '../../domain/engine/requestError.ts';
import { missingSecretsSchema, warningsSchema } from '../../domain/engine/schemas.ts';
import type { ActionRoute, Call } from './route.ts';
import { enveloped, faultSchema, overwriteSchema } from './schemas.ts';
import { newId, requestOf } from './serve.ts';
import type { Service } from './service.ts';

/** The result of one imported document. */
type Taken = {
  readonly data: unknown;
  readonly position: number;
  readonly replayed: boolean;
  /** The places in the request of the masked secrets for which nothing is stored (`missingIn`). */
  readonly missingSecrets?: readonly string[];
  /** Imported parts that never run. */
  readonly warnings?: readonly Fault[];
};

type Import<Document extends TSchema> = Pick<
  ActionRoute,
  'name' | 'method' | 'path' | 'access' | 'summary' | 'description'
> & {
  /** The member of the body that holds the documents. */
  readonly member: string;
  /** The title of the body's schema, and with Result that of each result, if several routes have them. */
  readonly title?: string;
  /** True if it holds one document, not a list; the answer has that document, not a list of results. */
  readonly single?: true;
  /** True if the answer has a `status`: `success`, or `incomplete` if documents were refused. */
  readonly status?: true;
  /** The lenient schema of a document. */
  readonly document: Document;
  /** Schema of the answer for each imported document. */
  readonly itemSchema: TSchema;
  /**
   * Imports one document. It is given as it was written, with the marks of packages/json. `path` points to
   * it in the request. `fresh` is an id for a document without one; a retry gets the same id. `about` is the part of
   * the command's request that comes from the call.
   */
  readonly take: (
    request: {
      readonly document: Static<Document>;
      readonly path: string;
      readonly overwrite: boolean;
      readonly fresh: string;
      readonly about: Omit<Request, 'id' | 'input'>;
    },
    service: Service,
    call: Call,
  ) => Promise<Taken>;
};

const bodyOf = (member: string, schema: TSchema) =>
  Type.Object(
    {
      [member]: schema,
      overwrite: overwriteSchema,
      options: Type.Optional(
        Type.Object(
          { overwrite: Type.Optional(Type.Boolean({ description: 'The same' })) },
          { additionalProperties: false },
        ),
      ),
    },
    { additionalProperties: false },
  );

const has = (...members: readonly string[]) => ({
  type: 'object',
  required: members,
  properties: Object.fromEntries(members.map((member) => [member, {}])),
});

const listOf = (document: TSchema) =>
  Type.Array(document, { description: 'Documents to take in, each all or nothing', maxItems: 1000 });

/** Schema of the body: the documents, or one document as exports answer it, with or without an envelope. */
const sentOf = ({
  member,
  document,
  single,
  title,
}: Pick<Import<TSchema>, 'member' | 'document' | 'single' | 'title'>) =>
  Type.Unsafe<Members>({
    ...defined({ title }),
    if: has(member),
    then: bodyOf(member, single ? document : listOf(document)),
    else: { if: has('message', 'data', 'metadata'), then: enveloped(document), else: document },
  });

/** A document of a request, and where it is. */
type Sent = { readonly document: unknown; readonly path: string };

const documentsIn = (body: Members, member: string): readonly Sent[] => {
  const documents = body[member];
  if (Array.isArray(documents)) return documents.map((document, index) => ({ document, path: `/${member}/${index}` }));
  if (documents !== undefined) return [{ document: documents, path: `/${member}` }];
  const enveloped = ['message', 'data', 'metadata'].every((name) => Object.hasOwn(body, name));
  return [enveloped ? { document: body.data, path: '/data' } : { document: body, path: '' }];
};

/** True if the body of a list says so. */
const mayOverwrite = ({ overwrite, options }: Overwriting): boolean => overwrite ?? options?.overwrite ?? false;
type Overwriting = { readonly overwrite?: boolean; readonly options?: { readonly overwrite?: boolean } };

const openEnds = { missingSecrets: missingSecretsSchema, warnings: warningsSchema };

const statusSchema = Type.Enum(['success', 'incomplete'], { description: 'incomplete: documents were refused' });

const answerOf = (schema: TSchema, { single, status, title }: Pick<Import<TSchema>, 'single' | 'status' | 'title'>) => {
  if (single) return Type.Object({ ...enveloped(schema).properties, ...openEnds });
  const answers = answersOf(schema, title);
  return status ? Type.Object({ status: statusSchema, ...answers.properties }) : answers;
};

const answersOf = (schema: TSchema, title?: string) =>
  enveloped(
    Type.Array(
      Type.Union([
        Type.Object(
          { success: Type.Literal(true), data: schema, ...openEnds },
          title === undefined ? {} : { title: `${title}Result`, description: 'Document that was taken in' },
        ),
        Type.Object({
          success: Type.Literal(false),
          data: Type.Object({ message: Type.String(), errors: Type.Array(faultSchema) }),
        }),
      ]),
    ),
  );

/**
 * A route that imports documents one after the other, each all or nothing, and answers the results in their order. It
 * also takes one document as an export answers it. A document that is refused does not stop the rest. If all are
 * refused, nothing is stored, and the answer is the first error with the faults of all. With `single` the body has one
 * document, and the answer, too.
 */
export const importRoute = <Document extends TSchema>({
  member,
  title,
  single,
  status,
  document,
  itemSchema,
  take,
  ...route
}: Import<Document>): ActionRoute => ({
  ...route,
  large: true,
  exact: '*',
  body: sentOf({ member, document, ...defined({ single, title }) }),
  answer: answerOf(itemSchema, defined({ single, status, title })),
  run: async (call, service) => {
    const body = call.body as Members;
    const documents = documentsIn(body, member);
    const overwrite = Object.hasOwn(body, member) && mayOverwrite(body);
    const about = { ...requestOf(route.name, call, service), ifRevision: undefined };
    const key = about.idempotency?.key;
    const outcomes: (Taken | RequestError)[] = [];
    for (const [index, { document, path }] of documents.entries()) {
      const fresh = newId(key === undefined ? undefined : `${key} ${index}`);
      outcomes.push(
        await take({ document: document as Static<Document>, path, overwrite, fresh, about }, service, call).catch(
          (error: unknown) => {
            if (error instanceof RequestError) return error;
            throw error;
          },
        ),
      );
    }
    const refused = documents.map(({ path }, index) => {
      const one = outcomes[index];
      return one instanceof RequestError ? faultsOf(one, path) : [];
    });
    const accepted = outcomes.filter((one): one is Taken => !(one instanceof RequestError));
    const [first] = outcomes;
    if (first instanceof RequestError && accepted.length === 0)
      throw new RequestError(
        first.code,
        first.message,
        defined({ faults: refused.flat(), retryAfterSeconds: first.retryAfterSeconds }),
      );
    const results = outcomes.map((one, index) =>
      one instanceof RequestError
        ? { success: false, data: { message: one.message, errors: refused[index] } }
        : { success: true, data: one.data, ...openEndsOf(one) },
    );
    const [only] = accepted;
    return {
      text: exactText({
        ...(status && { status: accepted.length === outcomes.length ? 'success' : 'incomplete' }),
        message: `Successfully imported ${accepted.length} of ${outcomes.length} ${member}`,
        ...(single && only ? { data: only.data, ...openEndsOf(only) } : { data: results }),
        metadata: {},
      }),
      position: Math.max(0, ...accepted.map(({ position }) => position)),
      replayed: accepted.length > 0 && accepted.every(({ replayed }) => replayed),
    };
  },
});

const faultsOf = ({ code, faults }: RequestError, path: string): readonly Fault[] =>
  faults.map((fault) => ({
    code,
    ...fault,
    path: path + (fault.path === undefined || fault.path.startsWith('/') ? (fault.path ?? '') : `/${fault.path}`),
  }));

/** The state of a resource that can be imported. */
type Importable = { readonly content?: object; readonly imported?: Imported<object> };

const stateOf = async (aggregate: Aggregate, id: string, { tools }: Service): Promise<Importable> =>
  (await tools.state(aggregate, id)) as Importable;

type Export = {
  readonly aggregate: Aggregate;
  readonly id: string;
  /** The document in our own words, without unknown members. */
  readonly view: object;
  readonly words: Words;
};

type OpenEnds = { readonly missingSecrets?: readonly string[] | undefined; readonly warnings?: readonly Fault[] };

/** `missingSecrets` and `warnings` of an answer; each is absent if there are none. */
export const openEndsOf = ({ missingSecrets = [], warnings = [] }: OpenEnds): OpenEnds => ({
  ...(missingSecrets.length > 0 && { missingSecrets }),
  ...(warnings.length > 0 && { warnings }),
});

/** A resource's export, with the marks of packages/json. */
export const exportedDocument = async ({ aggregate, id, view, words }: Export, service: Service): Promise<Members> => {
  const { content = {}, imported } = await stateOf(aggregate, id, service);
  return exported(imported, { content, shown: view as Members }, words);
};

/** The JSON text of a resource's export. */
export const exportedText = async (of: Export, service: Service): Promise<string> =>
  exactText(await exportedDocument(of, service));

/**
 * The places of the masked secrets for which nothing is stored, as JSON pointers. `path` points to the document in the
 * request.
 */
export const missingIn = async (
  aggregate: Aggregate,
  id: string,
  path: string,
  service: Service,
): Promise<readonly string[]> => missingSecrets((await stateOf(aggregate, id, service)).imported?.document, path);
