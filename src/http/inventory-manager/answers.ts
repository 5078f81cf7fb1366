import { type TSchema, Type } from 'typebox';
import type { CommandResult } from '../../commands/engine/handle.ts';
import type { ChangeEnvelope, Envelope, ListEnvelope } from '../engine/route.ts';

/** `{status: "Success", message, result}` around a JSON text; `more` are JSON texts of further members. */
export const successText = (message: string, result: string, more: Readonly<Record<string, string>> = {}): string => {
  const members = Object.entries({ status: '"Success"', message: JSON.stringify(message), result, ...more });
  return `{${members.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;
};

const common = { status: Type.Literal('Success'), message: Type.String() };

/** The schema of `{status, message, result}`. */
export const succeeded = (result: TSchema) => Type.Object({ ...common, result });

/** A changed document, as `result` and, as clients of earlier versions read it, as `data`. */
export const withDocument =
  (message: string): ChangeEnvelope =>
  (text) =>
    successText(message, text, { data: text });
export const documentAnswer = (doc: TSchema) => Type.Object({ ...common, result: doc, data: doc });

/** A document as `result` and, as clients of earlier versions read it, its members beside it. */
export const besideMembers =
  (message: string): Envelope =>
  (text) => {
    const head = successText(message, text);
    return text === '{}' ? head : `${head.slice(0, -1)},${text.slice(1)}`;
  };
export const memberAnswer = (doc: TSchema & { readonly properties: Readonly<Record<string, TSchema>> }) =>
  Type.Object({ ...doc.properties, ...common, result: Type.Object(doc.properties) });

/** The members of a page beside its data. */
const pagedMembers = {
  totalRecords: Type.Integer({ description: 'How many there are' }),
  currentPage: Type.Integer({ description: 'From 1' }),
  pageSize: Type.Integer({ description: 'The most that a page has' }),
  totalPages: Type.Integer({ description: 'How many pages there are' }),
};
export const pageOf = (total: number, skip: number, limit: number) => ({
  totalRecords: total,
  currentPage: Math.floor(skip / limit) + 1,
  pageSize: limit,
  totalPages: Math.ceil(total / limit),
});

/** A page as `result` and, as clients of earlier versions read it, as `results` and `total`. */
export const withPage =
  (message: string): ListEnvelope =>
  (texts, { skip, limit, total }) => {
    const data = `[${texts.join(',')}]`;
    const page = JSON.stringify(pageOf(total, skip, limit)).slice(1);
    return successText(message, `{"data":${data},${page}`, { results: data, total: String(total) });
  };
/** The schema of a page. */
export const pagedSchema = (doc: TSchema) => Type.Object({ data: Type.Array(doc), ...pagedMembers });
export const pageAnswer = (doc: TSchema) =>
  Type.Object({
    ...common,
    result: pagedSchema(doc),
    results: Type.Array(doc),
    total: Type.Integer({ description: 'Total number of documents that match' }),
  });

/** The outcome of a change, by the inventory before and after it. */
export const successOf =
  (
    message: (commandOutcome: CommandResult) => string,
    result: (commandOutcome: CommandResult) => object,
  ): ChangeEnvelope =>
  (_, commandOutcome) =>
    successText(message(commandOutcome), JSON.stringify(result(commandOutcome)));
