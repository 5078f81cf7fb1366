import type { Members } from '@automation-platform/json';
import { exactText } from '@automation-platform/json';
import type { Aggregate } from '../../domain/engine/core.ts';
import { exported, type Imported, type Words } from '../../domain/engine/importedDocuments.ts';
import { missingSecrets } from '../../domain/engine/importedSecrets.ts';
import type { Fault } from '../../domain/engine/requestError.ts';
import type { Service } from './service.ts';

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
