import type { Places } from '../engine/documentKinds.ts';
import { hasClearSecret, maskDocument, sealDocument } from '../engine/importedSecrets.ts';
import { holdsClear, isSecretOfDocument, maskNamed, maskSecrets, type Seal, sealBy } from '../engine/secretFields.ts';
import { installedKinds } from '../kinds.ts';
import type { Bundle, PrebuiltDocument } from './prebuiltSchemas.ts';

type Document = Bundle['data'];

const nothing = (): Document => ({});

/** Documents that are only kept may hold secrets of any JSON type anywhere. */
const anywhere: Places = (document, work) => work(document, isSecretOfDocument) as Document;

const placesOf = (type: string): Places => installedKinds.get(type)?.secrets ?? anywhere;

const innerOf = (type: string) => installedKinds.get(type)?.inner;

/** True if the places of its kind are the only ones where such a document has secrets. */
const onlyThere = (type: string): boolean => installedKinds.get(type)?.onlyThere === true;

/** The document for answers: secrets are masked, even those that an earlier version stored in clear. */
export const maskBundle = (bundle: Bundle): Bundle => {
  const inner = innerOf(bundle.type);
  if (inner) {
    const documents = inner.of(bundle.data);
    const around = maskDocument({ ...bundle, data: inner.replace(bundle.data, documents.map(nothing)) }) as Bundle;
    return {
      ...around,
      data: inner.replace(
        around.data,
        documents.map((one) => maskBundle(one).data),
      ),
    };
  }
  const data = placesOf(bundle.type)(bundle.data, maskNamed);
  return {
    ...(maskDocument({ ...bundle, data: {} }) as Bundle),
    data: (onlyThere(bundle.type) ? maskSecrets(data) : maskDocument(data)) as Document,
  };
};

/** True if the document has a secret in clear. */
export const isClear = (bundle: Bundle): boolean => {
  const { type, data } = bundle;
  const inner = innerOf(type);
  if (inner) {
    const documents = inner.of(data);
    const around = { ...bundle, data: inner.replace(data, documents.map(nothing)) };
    return hasClearSecret(around) || documents.some(isClear);
  }
  let found = hasClearSecret(onlyThere(type) ? { ...bundle, data: {} } : bundle);
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

/** True if the package has a secret in clear outside of its documents. */
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
