import { holdsClear, type IsSecret, isSecretOfDocument, maskNamed, type Seal, sealBy } from '../engine/secretFields.ts';
import type { Bundle, BundleType } from './prebuiltSchemas.ts';

type Document = Bundle['data'];
type Work = (value: unknown, isSecret?: IsSecret) => unknown;
type Places = (document: Document, work: Work) => Document;

/** Work on one member of each object of a list. */
const inEach =
  (list: string, member: string): Places =>
  (document, work) => {
    const items = document[list];
    if (!Array.isArray(items)) return document;
    return {
      ...document,
      [list]: items.map((item) => (item[member] === undefined ? item : { ...item, [member]: work(item[member]) })),
    };
  };
const nowhere: Places = (document) => document;
const anywhere: Places = (document, work) => work(document, isSecretOfDocument) as Document;

/**
 * Where documents of each kind hold secrets: where the import of that kind seals them; anywhere in what is only kept.
 */
const places: Readonly<Record<BundleType, Places>> = {
  automation: inEach('triggers', 'formData'),
  forms: nowhere,
  'golden-config': inEach('versions', 'variables'),
  integration: anywhere,
  'integration-model': anywhere,
  'json-forms': nowhere,
  'mop-template': nowhere,
  'mop-analytic-template': nowhere,
  template: (document, work) => (document.data === undefined ? document : { ...document, data: work(document.data) }),
  transformation: anywhere,
  workflow: anywhere,
};

/** The document as answers show it: secrets masked, also those that were stored in clear before they were sealed. */
export const maskBundle = ({ type, data }: Bundle): Bundle => ({ type, data: places[type](data, maskNamed) });

/** Whether a secret of the document is in clear. */
export const isClear = ({ type, data }: Bundle): boolean => {
  let found = false;
  places[type](data, (value, isSecret) => {
    found ||= holdsClear(value, isSecret);
    return value;
  });
  return found;
};

/** A document that the platform only keeps, its secrets sealed; `before`: as the installed package has it. */
export const sealKept = ({ type, data }: Bundle, before: readonly Document[], seal: Seal): Bundle => ({
  type,
  data: sealBy(isSecretOfDocument, { value: data, befores: before, seal, path: '', keepsEqual: false }) as Document,
});
