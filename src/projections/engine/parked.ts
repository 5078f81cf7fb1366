import { defined } from '../../domain/engine/defined.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { Tampered } from '../../store/tampered.ts';
import type { CollectionSpec, Entry, ReadStore } from './port.ts';

/**
 * The collection of parked documents and their reasons. An entry's id is `<collection>/<id>`, its name
 * `<collection>/<name>`. So a reader who finds no document by id or name can tell whether it is parked or does not
 * exist.
 */
export const parkedSpec: CollectionSpec = { name: 'parked', sorts: ['name'], filters: [] };

export const keyOf = (collection: string, id: string): string => `${collection}/${id}`;

/** `touched`: the stream lacks events, because another program has touched it. */
type Parked = { readonly document: string; readonly stream: string; readonly reason: string; readonly touched?: true };

/** Makes the entry of a parked document. `name` and `guard` are the last ones that the document had. */
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
 * The id of a parked document in its own collection. Throws if its stream was tampered with. Any other damage shows
 * when the stream itself is read.
 */
export const parkedIdIn = (entry: Entry): string => {
  if (parkedIn(entry).touched) throw unshowable(entry);
  return entry.id.slice(entry.id.indexOf('/') + 1);
};

/** The entry of the parked document with this id or name; undefined if there is none. */
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

/** The error that is answered in place of a parked document. */
export const unshowable = (entry: Entry): RequestError => {
  const { touched, reason } = parkedIn(entry);
  if (touched) return new Tampered(reason);
  return new RequestError(
    'internal',
    'It is there and cannot be shown: an event of its stream cannot be read. GET /health/status says which',
  );
};

/** Throws if the document with this id or name is parked. */
export const refuseParked = async (
  model: Pick<ReadStore, 'get' | 'idsNamed'>,
  collection: string,
  idOrName: string,
): Promise<void> => {
  const entry = await findParked(model, collection, idOrName);
  if (entry) throw unshowable(entry);
};
