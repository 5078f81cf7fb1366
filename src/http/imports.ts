import { type TSchema, Type } from 'typebox';
import { type Fault, Refusal } from '../domain/refusal.ts';
import { enveloped, faultSchema } from './schemas.ts';
import type { Answer } from './route.ts';

/** What became of one document. */
export type Taken = { readonly data: unknown; readonly position: number; readonly replayed: boolean };

/** The body of an import: documents under `member`, and whether they may replace what is there. */
export const importBody = (member: string, document: TSchema) => Type.Object({
  [member]: Type.Array(document, { description: 'Documents to take in, each all or nothing', maxItems: 1000 }),
  overwrite: Type.Optional(Type.Boolean({ description: 'Whether other content under a used id or name is replaced' })),
  options: Type.Optional(Type.Object({ overwrite: Type.Optional(Type.Boolean({ description: 'The same' })) }, { additionalProperties: false })),
}, { additionalProperties: false });

/** What became of each document, in their order. */
export const importAnswer = (document: TSchema) => enveloped(Type.Array(Type.Union([
  Type.Object({ success: Type.Literal(true), data: document }),
  Type.Object({ success: Type.Literal(false), data: Type.Object({ message: Type.String(), errors: Type.Array(faultSchema) }) }),
])));

/**
 * Takes documents in one after the other and tells of each. A refused one stops no other; where all are refused, nothing
 * is stored and the answer is the refusal, with the faults of all.
 */
export const importEach = async (body: any, member: string, take: (document: any, overwrite: boolean, index: number) => Promise<Taken>): Promise<Answer> => { // the body's and documents' schema is the row's
  const documents: readonly unknown[] = body[member];
  const overwrite: boolean = body.overwrite ?? body.options?.overwrite ?? false;
  const taken: (Taken | Refusal)[] = [];
  for (const [index, document] of documents.entries()) {
    taken.push(await take(document, overwrite, index).catch((error: unknown) => {
      if (error instanceof Refusal) return error;
      throw error;
    }));
  }
  const refused = taken.map((one, index) => (one instanceof Refusal ? faultsOf(one, `/${member}/${index}`) : []));
  const done = taken.filter((one): one is Taken => !(one instanceof Refusal));
  const [first] = taken;
  if (first instanceof Refusal && done.length === 0) throw new Refusal(first.code, first.message, { faults: refused.flat(), ...(first.retryAfterSeconds !== undefined && { retryAfterSeconds: first.retryAfterSeconds }) });
  return {
    body: {
      message: `Successfully imported ${done.length} of ${taken.length} ${member}`,
      data: taken.map((one, index) => (one instanceof Refusal ? { success: false, data: { message: one.message, errors: refused[index] } } : { success: true, data: one.data })),
      metadata: {},
    },
    position: Math.max(0, ...done.map(({ position }) => position)),
    replayed: done.length > 0 && done.every(({ replayed }) => replayed),
  };
};

const faultsOf = ({ code, faults }: Refusal, path: string): readonly Fault[] =>
  faults.map((fault) => ({ code, ...fault, path: path + (fault.path === undefined || fault.path.startsWith('/') ? fault.path ?? '' : `/${fault.path}`) }));
