import { defined } from '../../domain/engine/defined.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { Tampered } from '../../store/tampered.ts';
import type { CollectionSpec, Entry, ReadStore } from './port.ts';

/**
 * The collection that says which documents are parked, and why: the id is `<collection>/<id>`, the name
 * `<collection>/<name>`, so that whoever finds no document under an id or a name can tell one that is parked from one
 * that is not there.
 */
export const parkedSpec: CollectionSpec = { name: 'parked', sorts: ['name'], filters: [] };

export const keyOf = (collection: string, id: string): string => `${collection}/${id}`;

/** `touched`: events of its stream are missing, because somebody else has touched it. */
type Parked = { readonly document: string; readonly stream: string; readonly reason: string; readonly touched?: true };

/** `name` and `guard` are those that the document had last. */
export const parkedEntry = (
  { document, stream, reason, touched }: Parked,
  name: string,
  guard: string | undefined,
): Entry => {
  const text = JSON.stringify(defined({ document, stream, reason, touched }));
  return defined({ id: document, text, revision: 0, sorts: { name }, filters: {}, guard });
};

export const parkedIn = ({ text }: Pick<Entry, 'text'>): Parked => JSON.parse(text);

/**
 * The id that the document has in its collection; throws if its stream was tampered with. What else is wrong with it,
 * its stream tells.
 */
export const parkedIdIn = (entry: Entry): string => {
  if (parkedIn(entry).touched) throw unshowable(entry);
  return entry.id.slice(entry.id.indexOf('/') + 1);
};

/** The parked document that an id or a name means. */
export const findParked = async (
  model: Pick<ReadStore, 'get' | 'idsNamed'>,
  collection: string,
  idOrName: string,
): Promise<Entry | undefined> => {
  const key = keyOf(collection, idOrName);
  const byId = await model.get(parkedSpec.name, key);
  if (byId) return byId;
  const [named] = await model.idsNamed(parkedSpec.name, key);
  return named === undefined ? undefined : model.get(parkedSpec.name, named);
};

/** What is said of a parked document in its place. */
export const unshowable = (entry: Entry): RequestError => {
  const { touched, reason } = parkedIn(entry);
  if (touched) return new Tampered(reason);
  return new RequestError(
    'internal',
    'It is there and cannot be shown: an event of its stream cannot be read. GET /health/status says which',
  );
};

/** Throws if the id or name, under which no document was found, is that of a parked one. */
export const refuseParked = async (
  model: Pick<ReadStore, 'get' | 'idsNamed'>,
  collection: string,
  idOrName: string,
): Promise<void> => {
  const entry = await findParked(model, collection, idOrName);
  if (entry) throw unshowable(entry);
};
