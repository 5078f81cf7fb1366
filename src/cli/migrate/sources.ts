import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { exactValue, isObject } from '@automation-platform/json';
import type { DocumentKind } from '../../domain/engine/documentKinds.ts';
import { messageOf, type Platform } from '../askService.ts';
import { documentsIn, exportedDocument, type Found, kinds } from './kinds.ts';

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
  const seen = new Set<string>();
  if (list === undefined) return seen;
  for (let skip = 0; ; skip += pageSize) {
    const paged = !list.startsWith('/mop/');
    const path = paged ? `${list}?skip=${skip}&limit=${pageSize}` : list;
    const { status, body } = await platform.ask({ method: 'GET', path });
    if (status !== 200) throw new Error(`${platform.url} does not list its ${name}s: ${messageOf(body, status)}`);
    const page = idsIn(body);
    const before = seen.size;
    for (const id of page) seen.add(id);
    if (!paged || page.length < pageSize) return seen;
    if (seen.size === before) throw new Error(`${platform.url} lists the same ${name}s again and again`);
    if (seen.size > mostOfKind) throw new Error(`${platform.url} lists more than ${mostOfKind} ${name}s`);
  }
};

const idsIn = (body: unknown): readonly string[] => {
  const listed = isObject(body) ? (body.results ?? body.data) : body;
  return Array.isArray(listed) ? listed.flatMap((one) => (isObject(one) ? [String(one._id)] : [])) : [];
};
