/** A secret in events and documents: AES-256-GCM text and a keyed digest. Equal tags mean equal secrets. */
export type Sealed = { readonly $sealed: string; readonly tag: string };

/** True if a JSON value is a sealed secret. */
export const isSealed = (value: unknown): value is Sealed =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as Sealed).$sealed === 'string' &&
  typeof (value as Sealed).tag === 'string';
