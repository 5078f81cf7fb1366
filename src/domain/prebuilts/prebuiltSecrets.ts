import { isObject } from '@automation-platform/json';
import { isPublished } from '../configuration-manager/publishedTrees.ts';
import { hasClearSecret, maskDocument, sealDocument } from '../engine/importedSecrets.ts';
import { holdsClear, type IsSecret, isSecretOfDocument, maskNamed, type Seal, sealBy } from '../engine/secretFields.ts';
import { type Bundle, type HeldType, isHeld, type PrebuiltDocument } from './prebuiltSchemas.ts';

type Document = Bundle['data'];
type Work = (value: unknown, isSecret?: IsSecret) => unknown;
type Places = (document: Document, work: Work) => Document;

/** Applies the work to one member of each object in a list. */
const inEach =
  (list: string, member: string): Places =>
  (document, work) => {
    const items = document[list];
    if (!Array.isArray(items)) return document;
    return {
      ...document,
      [list]: items.map((item) => (item?.[member] === undefined ? item : { ...item, [member]: work(item[member]) })),
    };
  };
const nowhere: Places = (document) => document;
const anywhere: Places = (document, work) => work(document, isSecretOfDocument) as Document;

/**
 * The places where documents of each type hold secrets of any JSON type. They are the places that the import of the type
 * seals. Documents that are only kept may hold such secrets anywhere.
 */
const places: Readonly<Record<HeldType, Places>> = {
  'ac-agenda-job': (document, work) => {
    const { data } = document;
    return isObject(data) && data.formData !== undefined
      ? { ...document, data: { ...data, formData: work(data.formData) } }
      : document;
  },
  automation: inEach('triggers', 'formData'),
  forms: nowhere,
  'golden-config': (document, work) => inEach(isPublished(document) ? 'data' : 'versions', 'variables')(document, work),
  'json-forms': nowhere,
  'mop-template': nowhere,
  'mop-analytic-template': nowhere,
  template: (document, work) => (document.data === undefined ? document : { ...document, data: work(document.data) }),
};
const placesOf = (type: string): Places => (isHeld(type) ? places[type] : anywhere);

/** The document for answers: secrets are masked, even those that an earlier version stored in clear. */
export const maskBundle = (bundle: Bundle): Bundle => ({
  ...(maskDocument({ ...bundle, data: {} }) as Bundle),
  data: maskDocument(placesOf(bundle.type)(bundle.data, maskNamed)) as Document,
});

/** Whether the document has a secret in clear. */
export const isClear = (bundle: Bundle): boolean => {
  const { type, data } = bundle;
  let found = hasClearSecret(bundle);
  placesOf(type)(data, (value, isSecret) => {
    found ||= holdsClear(value, isSecret);
    return value;
  });
  return found;
};

/** A document that is only kept, with sealed secrets. `before` are its versions in the installed package. */
export const sealKept = (bundle: Bundle, before: readonly Document[], seal: Seal): Bundle => ({
  ...bundle,
  data: sealBy(isSecretOfDocument, {
    value: bundle.data,
    befores: before,
    seal,
    path: '',
    keepsEqual: false,
    keepsMask: true,
  }) as Document,
});

/** Whether the package has a secret in clear outside of its documents. */
export const isClearAround = (prebuilt: PrebuiltDocument): boolean => hasClearSecret({ ...prebuilt, bundles: [] });

/** The package with sealed secrets outside of the data of its documents. `before` is the installed one. */
export const sealAround = (
  prebuilt: PrebuiltDocument,
  before: PrebuiltDocument | undefined,
  seal: Seal,
): PrebuiltDocument => {
  const sealed = sealDocument(withoutData(prebuilt), before ? [withoutData(before)] : [], seal);
  const bundles = sealed.bundles.map((bundle, i) => ({ ...bundle, data: prebuilt.bundles[i]?.data ?? {} }));
  return { ...sealed, bundles };
};

const withoutData = (prebuilt: PrebuiltDocument): PrebuiltDocument => ({
  ...prebuilt,
  bundles: prebuilt.bundles.map((bundle) => ({ ...bundle, data: {} })),
});
