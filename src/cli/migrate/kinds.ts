import { exactText, isObject, type Members } from '@automation-platform/json';
import { projectDocuments } from '../../domain/automation-studio/projects.ts';
import { type DocumentKind, hasAny } from '../../domain/engine/documentKinds.ts';
import { documentKinds } from '../../domain/kinds.ts';
import { prebuiltDocuments } from '../../domain/prebuilts/prebuilts.ts';

/** In the order in which they are imported: packages and projects bring what single documents change. */
export const kinds: readonly DocumentKind[] = [prebuiltDocuments, projectDocuments, ...documentKinds];

/** Kinds that are known and that no import takes, by their members. */
const leftOut: readonly Pick<DocumentKind, 'name' | 'is'>[] = [
  { name: 'OpenAPI document', is: (document) => hasAny(document, 'openapi', 'swagger') && hasAny(document, 'paths') },
];

/** The name of the kind of a document that no import takes; null if nobody knows its kind. */
const leftOutKind = (document: Members): string | null => leftOut.find((one) => one.is(document))?.name ?? null;

/** A document that was found, as JSON text. */
export type Found = {
  /** Where it was found: a file, or a path of the other platform. */
  readonly from: string;
  readonly name: string;
  /** Undefined if no import takes such documents. */
  readonly kind: DocumentKind | undefined;
  /** The kind of a document that no import takes; null if it is unknown. */
  readonly leftOut: string | null;
  readonly text: string;
};

/** The members that wrap one document, or a list of documents. */
const wrappers = [
  'prebuilt',
  'project',
  'data',
  'results',
  'forms',
  'templates',
  'trees',
  'automations',
  'transformations',
  'workflows',
  'scheduledJobs',
  'groups',
  'model',
  'template',
  'mop',
];

/**
 * The documents in the JSON of a file or an answer: one, a list, or one of them within the members that requests and
 * answers have around documents.
 */
export const documentsIn = (value: unknown, from: string): readonly Found[] => {
  if (Array.isArray(value)) return value.flatMap((one) => documentsIn(one, from));
  if (!isObject(value)) return [{ from, name: '', kind: undefined, leftOut: null, text: exactText(value) }];
  const kind = kinds.find((one) => one.is(value));
  const leftOut = kind ? null : leftOutKind(value);
  const wrapper =
    kind || leftOut ? undefined : wrappers.find((name) => typeof value[name] === 'object' && value[name] !== null);
  if (wrapper !== undefined) return documentsIn(value[wrapper], from);
  return [{ from, name: nameOf(value), kind, leftOut, text: exactText(value) }];
};

/** The document in the answer of an export, which may have an envelope. */
export const exportedDocument = (answer: unknown, from: string, kind: DocumentKind): Found => {
  const isEnvelope = isObject(answer) && typeof answer.message === 'string' && isObject(answer.data);
  const document = isEnvelope ? answer.data : answer;
  return { from, name: isObject(document) ? nameOf(document) : '', kind, leftOut: null, text: exactText(document) };
};

const nameOf = ({ name, metadata, data }: Members): string => {
  if (typeof name === 'string') return name;
  if (isObject(metadata) && typeof metadata.name === 'string') return metadata.name;
  return Array.isArray(data) && isObject(data[0]) && typeof data[0].name === 'string' ? data[0].name : '';
};
