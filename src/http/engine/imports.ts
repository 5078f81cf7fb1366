import { type Static, type TSchema, Type } from 'typebox';
import type { Request } from '../../commands/engine/requests.ts';
import { defined } from '../../domain/engine/defined.ts';
import { type Fault, RequestError } from '../../domain/engine/requestError.ts';
import type { ActionRoute, Call } from './route.ts';
import { enveloped, faultSchema } from './schemas.ts';
import { newId, requestOf } from './serve.ts';
import type { Service } from './service.ts';

/** The result of one imported document. */
type Taken = { readonly data: unknown; readonly position: number; readonly replayed: boolean };

type Import<Document extends TSchema> = Pick<
  ActionRoute,
  'name' | 'method' | 'path' | 'access' | 'summary' | 'description'
> & {
  /** The member of the body that holds the documents. */
  readonly member: string;
  readonly document: Document;
  /** Schema of the answer for each imported document. */
  readonly shown: TSchema;
  /**
   * Imports one document. `fresh` is an id for a document without one; a retry gets the same id. `about` is the part of
   * the command's request that comes from the call.
   */
  readonly take: (
    given: {
      readonly document: Static<Document>;
      readonly overwrite: boolean;
      readonly fresh: string;
      readonly about: Omit<Request, 'id' | 'input'>;
    },
    service: Service,
    call: Call,
  ) => Promise<Taken>;
};

const bodyOf = (member: string, document: TSchema) =>
  Type.Object(
    {
      [member]: Type.Array(document, { description: 'Documents to take in, each all or nothing', maxItems: 1000 }),
      overwrite: Type.Optional(
        Type.Boolean({ description: 'Whether other content under a used id or name is replaced' }),
      ),
      options: Type.Optional(
        Type.Object(
          { overwrite: Type.Optional(Type.Boolean({ description: 'The same' })) },
          { additionalProperties: false },
        ),
      ),
    },
    { additionalProperties: false },
  );

/** The body also has the member with the documents; its name differs from route to route. */
type ImportBody = {
  readonly overwrite?: boolean;
  readonly options?: { readonly overwrite?: boolean };
  readonly [member: string]: unknown;
};

const answerOf = (shown: TSchema) =>
  enveloped(
    Type.Array(
      Type.Union([
        Type.Object({ success: Type.Literal(true), data: shown }),
        Type.Object({
          success: Type.Literal(false),
          data: Type.Object({ message: Type.String(), errors: Type.Array(faultSchema) }),
        }),
      ]),
    ),
  );

/**
 * A route that imports documents one after the other, each all or nothing, and answers the results in their order. A
 * document that is refused does not stop the others. If all are refused, nothing is stored, and the answer is the first
 * error with the faults of all.
 */
export const importRoute = <Document extends TSchema>({
  member,
  document,
  shown,
  take,
  ...route
}: Import<Document>): ActionRoute => ({
  ...route,
  large: true,
  body: bodyOf(member, document),
  answer: answerOf(shown),
  run: async (call, service) => {
    const { options, overwrite = options?.overwrite ?? false, ...given } = call.body as ImportBody;
    const documents = given[member] as readonly Static<Document>[];
    const about = { ...requestOf(route.name, call, service), ifRevision: undefined };
    const key = about.idempotency?.key;
    const taken: (Taken | RequestError)[] = [];
    for (const [index, document] of documents.entries()) {
      const fresh = newId(key === undefined ? undefined : `${key} ${index}`);
      taken.push(
        await take({ document, overwrite, fresh, about }, service, call).catch((error: unknown) => {
          if (error instanceof RequestError) return error;
          throw error;
        }),
      );
    }
    const refused = taken.map((one, index) =>
      one instanceof RequestError ? faultsOf(one, `/${member}/${index}`) : [],
    );
    const done = taken.filter((one): one is Taken => !(one instanceof RequestError));
    const [first] = taken;
    if (first instanceof RequestError && done.length === 0)
      throw new RequestError(
        first.code,
        first.message,
        defined({ faults: refused.flat(), retryAfterSeconds: first.retryAfterSeconds }),
      );
    return {
      body: {
        message: `Successfully imported ${done.length} of ${taken.length} ${member}`,
        data: taken.map((one, index) =>
          one instanceof RequestError
            ? { success: false, data: { message: one.message, errors: refused[index] } }
            : { success: true, data: one.data },
        ),
        metadata: {},
      },
      position: Math.max(0, ...done.map(({ position }) => position)),
      replayed: done.length > 0 && done.every(({ replayed }) => replayed),
    };
  },
});

const faultsOf = ({ code, faults }: RequestError, path: string): readonly Fault[] =>
  faults.map((fault) => ({
    code,
    ...fault,
    path: path + (fault.path === undefined || fault.path.startsWith('/') ? (fault.path ?? '') : `/${fault.path}`),
  }));
