import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { exactText, exactValue, isObject, type Members } from '@automation-platform/json';
import { projectDocuments } from '../../domain/automation-studio/projects.ts';
import { type DocumentKind, hasAny } from '../../domain/engine/documentKinds.ts';
import { documentKinds } from '../../domain/kinds.ts';
import { prebuiltDocuments } from '../../domain/prebuilts/prebuilts.ts';
import { messageOf, type Platform } from '../askService.ts';

/** In the order in which they are imported: packages and projects bring what single documents change. */
export const kinds: readonly DocumentKind[] = [...new Set([prebuiltDocuments, projectDocuments, ...documentKinds])];

/** Kinds that are known and that no import takes, by their members. */
const leftOut: readonly Pick<DocumentKind, 'name' | 'is'>[] = [
  { name: 'OpenAPI document', is: (document) => hasAny(document, 'openapi', 'swagger') && hasAny(document, 'paths') },
];

/** The name of the kind of a document that no import takes; null if nobody knows its kind. */
const leftOutKind = (document: Members): string | null => leftOut.find((one) => one.is(document))?.name ?? null;

/** A document that was found, as JSON text. */
type Found = {
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
const documentsIn = (value: unknown, from: string): readonly Found[] => {
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
const exportedDocument = (answer: unknown, from: string, kind: DocumentKind): Found => {
  const isEnvelope = isObject(answer) && typeof answer.message === 'string' && isObject(answer.data);
  const document = isEnvelope ? answer.data : answer;
  return { from, name: isObject(document) ? nameOf(document) : '', kind, leftOut: null, text: exactText(document) };
};

const nameOf = ({ name, metadata, data }: Members): string => {
  if (typeof name === 'string') return name;
  if (isObject(metadata) && typeof metadata.name === 'string') return metadata.name;
  return Array.isArray(data) && isObject(data[0]) && typeof data[0].name === 'string' ? data[0].name : '';
};

/** A document that was found, or a place that cannot be read. */
export type Entry = Found | { readonly from: string; readonly unreadable: string };

/** The documents of a JSON file, or of all JSON files in a folder and the folders in it, sorted by name of file. */
export const documentsInFiles = function* (path: string): Generator<Entry> {
  for (const file of filesIn(path)) yield* documentsInFile(file, relative(path, file) || path);
};

const filesIn = (path: string): readonly string[] => {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.json') && !name.split(/[\\/]/).includes('node_modules'))
    .sort()
    .map((name) => join(path, name));
};

const documentsInFile = (file: string, from: string): readonly Entry[] => {
  try {
    const text = readFileSync(file, 'utf8').replace(/^\ufeff/, '');
    JSON.parse(text);
    return documentsIn(exactValue(text), from);
  } catch (error) {
    return [{ from, unreadable: error instanceof SyntaxError ? 'The file is not JSON' : (error as Error).message }];
  }
};

const pageSize = 100;
/** A list of more documents of one kind is taken for one without end. */
const mostOfKind = 100_000;

/** The documents of another platform, kind by kind, page by page. */
export const documentsOfPlatform = async function* (platform: Platform): AsyncGenerator<Entry> {
  for (const kind of kinds) {
    for (const id of await idsOf(kind, platform)) {
      const request = kind.exporting(id);
      const { status, body } = await platform.ask(request);
      const from = `${platform.url}${request.path.replace(/\?.*/, '')}${request.method === 'POST' ? ` ${id}` : ''}`;
      if (status === 200) yield exportedDocument(body, from, kind);
      else yield { from, unreadable: messageOf(body, status) };
    }
  }
};

/** The ids of all documents of a kind. Lists without pages give everything at once. */
const idsOf = async ({ name, list }: DocumentKind, platform: Platform): Promise<ReadonlySet<string>> => {
  const earlier = new Set<string>();
  if (list === undefined) return earlier;
  for (let skip = 0; ; skip += pageSize) {
    const paged = !list.startsWith('/mop/');
    const path = paged ? `${list}?skip=${skip}&limit=${pageSize}` : list;
    const { status, body } = await platform.ask({ method: 'GET', path });
    if (status !== 200) throw new Error(`${platform.url} does not list its ${name}s: ${messageOf(body, status)}`);
    const page = idsIn(body);
    const before = earlier.size;
    for (const id of page) earlier.add(id);
    if (!paged || page.length < pageSize) return earlier;
    if (earlier.size === before) throw new Error(`${platform.url} lists the same ${name}s again and again`);
    if (earlier.size > mostOfKind) throw new Error(`${platform.url} lists more than ${mostOfKind} ${name}s`);
  }
};

const idsIn = (body: unknown): readonly string[] => {
  const listed = isObject(body) ? (body.results ?? body.data) : body;
  return Array.isArray(listed) ? listed.flatMap((one) => (isObject(one) ? [String(one._id)] : [])) : [];
};
