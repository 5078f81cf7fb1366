import { exactText, isObject } from '@automation-platform/json';
import type { DocumentKind } from '../../domain/engine/documentKinds.ts';
import { messageOf, type Platform } from '../askService.ts';

/** A document as JSON text. */
type Text = { readonly kind: DocumentKind; readonly text: string };

/** The outcome that an import would have. */
export type Forecast = {
  readonly outcome: 'installed' | 'unchanged' | 'refused';
  readonly why?: string;
  /** The components of a project that would be refused. */
  readonly components?: readonly { readonly type: string; readonly name: string; readonly reason: string }[];
};

const mostCharacters = 16 * 1024 * 1024;
const mostDocuments = 1000;

/** Packages of documents whose dry run says what an import of each would do. */
const chunksOf = (documents: readonly Text[]): readonly (readonly Text[])[] => {
  const chunks: Text[][] = [];
  let length = mostCharacters;
  for (const one of documents) {
    length += one.text.length;
    if (length > mostCharacters || chunks.at(-1)?.length === mostDocuments) {
      chunks.push([]);
      length = one.text.length;
    }
    chunks.at(-1)?.push(one);
  }
  return chunks;
};

const packageOf = (documents: readonly Text[]): string => {
  const around = {
    metadata: {
      name: 'The documents of a migration',
      version: '1.0.0',
      description: '',
      author: '',
      license: '',
      repository: {},
      PlatformDependencies: {},
    },
    manifest: { bundleName: 'migration' },
    readme: '',
  };
  // A package of which nothing can be installed is refused as a whole. This document is never installed.
  const bundles = [
    ...documents.map(({ kind, text }) => `{"type":"${kind.types[0]}","data":${text}}`),
    '{"type":"","data":{}}',
  ];
  return `${exactText(around).slice(0, -1)},"bundles":[${bundles.join(',')}]}`;
};

const indexIn = (path: unknown): number => Number(/^\/prebuilt\/bundles\/(\d+)/.exec(String(path))?.[1] ?? -1);

type Refusal = {
  readonly within?: string;
  readonly path?: string;
  readonly reason: string;
  readonly type: string;
  readonly name?: string;
};

const forecastChunk = async (
  documents: readonly Text[],
  overwrite: boolean,
  { ask }: Platform,
): Promise<readonly Forecast[]> => {
  const body = `{"prebuilt":${packageOf(documents)},"options":{"dryRun":true,"overwrite":${overwrite}}}`;
  const answer = await ask({ method: 'POST', path: '/prebuilts/import', body });
  const data = isObject(answer.body) && isObject(answer.body.data) ? answer.body.data : undefined;
  if (answer.status !== 200 || !data)
    throw new Error(`The documents cannot be tried: ${messageOf(answer.body, answer.status)}`);
  const refused = data.refused as readonly Refusal[];
  const unchanged = new Set((data.unchanged as readonly unknown[]).map(Number));
  return documents.map((_, index) => {
    const mine = refused.filter(({ path }) => indexIn(path) === index);
    const whole = mine.find(({ within }) => within === undefined);
    if (whole) return { outcome: 'refused', why: whole.reason };
    const components = mine.map(({ type, name = '', reason }) => ({ type, name, reason }));
    return { outcome: unchanged.has(index) ? 'unchanged' : 'installed', ...(components.length > 0 && { components }) };
  });
};

/**
 * The outcomes that imports of documents would have, in their order; undefined for those of kinds that packages do not install. They may name
 * each other. Of documents of one text, all but the first are no change.
 */
export const forecast = async (
  documents: readonly Text[],
  overwrite: boolean,
  platform: Platform,
): Promise<readonly (Forecast | undefined)[]> => {
  const keyOf = ({ kind, text }: Text): string => `${kind.name} ${text}`;
  const firsts = new Map(documents.filter(({ kind }) => kind.types.length > 0).map((one) => [keyOf(one), one]));
  const found = new Map<string, Forecast>();
  for (const chunk of chunksOf([...firsts.values()]))
    for (const [i, one] of (await forecastChunk(chunk, overwrite, platform)).entries()) {
      const document = chunk[i];
      if (document) found.set(keyOf(document), one);
    }
  const counted = new Set<string>();
  return documents.map((one): Forecast | undefined => {
    const key = keyOf(one);
    const first = found.get(key);
    if (!counted.has(key) || first?.outcome !== 'installed') {
      counted.add(key);
      return first;
    }
    return { outcome: 'unchanged' };
  });
};
