import type { ReadModel } from './port.ts';

/** Keeps for each key a value that is made of a collection, until a document of the collection changes. */
export const perVersion = <Value, Model extends Pick<ReadModel, 'version'>>(
  collection: string,
  make: (model: Model, key: string) => Promise<Value>,
): ((model: Model, key: string) => Promise<Value>) => {
  const all = new WeakMap<Model, Map<string, { readonly version: number; readonly value: Value }>>();
  return async (model, key) => {
    const ofModel = all.get(model) ?? new Map<string, { readonly version: number; readonly value: Value }>();
    all.set(model, ofModel);
    const version = model.version(collection);
    const former = ofModel.get(key);
    if (former?.version === version) return former.value;
    const value = await make(model, key);
    ofModel.set(key, { version, value });
    return value;
  };
};
