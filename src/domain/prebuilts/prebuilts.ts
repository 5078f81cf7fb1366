import { same } from '../engine/changes.ts';
import { aggregate, type Context, type Event, type Name } from '../engine/core.ts';
import { defined } from '../engine/defined.ts';
import { type Code, RequestError } from '../engine/requestError.ts';
import {
  type Bundle,
  type BundleType,
  isHeld,
  type PrebuiltDocument,
  type PrebuiltPackage,
} from './prebuiltSchemas.ts';
import { isClear, maskBundle } from './prebuiltSecrets.ts';

/** The change of one stream by a package, and the names that the resource has then. */
export type Part = {
  readonly category: string;
  readonly id: string;
  readonly names: readonly Name[];
  /** The index of the document in the package. */
  readonly bundle: number;
  /** The new content of the stream, if it is not the document itself. */
  readonly content?: unknown;
};

/**
 * The changes by a package, in the order in which they are carried out. Resources that need no change are left out.
 */
export type Plan = {
  readonly parts: readonly Part[];
  /** The triggers that are deleted, and the automations that they belong to. */
  readonly removed: readonly { readonly id: string; readonly actionId: string }[];
  readonly installed: readonly { readonly type: BundleType; readonly _id: string; readonly name: string }[];
};

export type PrebuiltImported = Plan & {
  /** The package of the request with sealed secrets. Earlier versions stored the secrets in clear. */
  readonly prebuilt: PrebuiltDocument;
  readonly kept: readonly { readonly type: BundleType; readonly _id?: string; readonly name?: string }[];
  /** The account ids of the authors that documents name, by username. */
  readonly accounts: Readonly<Record<string, string>>;
  /**
   * SHA-256 of the bundles as canonical JSON, hexadecimal. Secrets count as the mask, except where they are stored in
   * clear.
   */
  readonly bundlesHash: string;
  /** The time of the import, as a text of epoch milliseconds. */
  readonly createdEpoch: string;
};

export type PrebuiltEvent =
  | Event<'prebuiltImported', PrebuiltImported>
  /** All parts of the last import are carried out. */
  | Event<'prebuiltInstalled', Record<string, never>>
  | Event<'prebuiltDeleted', Record<string, never>>;

export type PrebuiltState = { readonly imported?: PrebuiltImported; readonly pending: boolean };

/**
 * A package: the decision to install it, and the note that it is installed. The stream's id is computed from the name.
 */
export const prebuilt = aggregate<PrebuiltState, PrebuiltEvent>({
  area: 'prebuilts',
  category: 'prebuilt',
  initial: { pending: false },
  evolve: {
    prebuiltImported: (_, imported) => ({ imported, pending: true }),
    prebuiltInstalled: (state) => ({ ...state, pending: false }),
    prebuiltDeleted: () => ({ pending: false }),
  },
  exists: ({ imported }) => imported !== undefined,
  reservations: ({ imported, pending }) =>
    imported && pending
      ? imported.parts.flatMap(({ category, id, names }) => names.map((name) => ({ owner: `${category}-${id}`, name })))
      : [],
});

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** The id and the name in a document. */
const identityOf = ({ data }: Bundle) => ({ id: textOf(data._id) ?? textOf(data.id), name: textOf(data.name) });

type Derived = Pick<PrebuiltImported, 'bundlesHash' | 'createdEpoch'>;

/**
 * The package without its documents. Missing parts of the manifest are computed. An empty list of artifacts is not
 * missing.
 */
export const described = ({ bundles, ...prebuilt }: PrebuiltDocument, { bundlesHash, createdEpoch }: Derived) => {
  const artifacts = () =>
    bundles.map((bundle, i) => {
      const { id = '', name = '' } = identityOf(bundle);
      return { id, name, location: `/bundles/${i}`, type: bundle.type };
    });
  const { manifest } = prebuilt;
  // A fingerprint over secrets in clear would let everybody check guesses.
  const fingerprint = manifest.fingerprint ?? (bundles.some(isClear) ? undefined : bundlesHash.slice(0, 24));
  return {
    ...prebuilt,
    manifest: {
      ...manifest,
      artifacts: manifest.artifacts ?? artifacts(),
      ...defined({ fingerprint }),
      createdEpoch: manifest.createdEpoch ?? createdEpoch,
    },
  };
};

/** The package as `exportPrebuilt` returns it, with masked secrets. */
export const completed = (prebuilt: PrebuiltDocument, derived: Derived): PrebuiltPackage => ({
  ...described(prebuilt, derived),
  bundles: prebuilt.bundles.map(maskBundle),
});

/**
 * Whether the package is the installed one, in its original or its exported form. The hash is that of the bundles with
 * masked secrets.
 */
export const isInstalled = ({ imported }: PrebuiltState, prebuilt: PrebuiltDocument, bundlesHash: string): boolean => {
  if (!imported) return false;
  const { bundles } = imported.prebuilt;
  const comparable = !bundles.some(isClear);
  const masked = (some: readonly Bundle[]) => some.map(maskBundle);
  const equal = comparable ? imported.bundlesHash === bundlesHash : same(masked(bundles), masked(prebuilt.bundles));
  return equal && same(described({ ...prebuilt, bundles }, imported), described(imported.prebuilt, imported));
};

/**
 * Returns a function that finds the installed version of a document. A masked secret of the document keeps its value
 * from there. Documents of one type match by id, without an id by name, and without a name by their index in the
 * package. Each installed document is found once only, so the caller must pass the documents in the order of the
 * package. A looser match could move a secret to another resource, and so to other readers.
 */
export const matching = ({ imported }: PrebuiltState) => {
  const installed = new Map<string, Bundle['data'][]>();
  const keyOf = (bundle: Bundle, index: number): string => {
    const { id, name = index } = identityOf(bundle);
    return JSON.stringify([bundle.type, id ?? null, id === undefined ? name : null]);
  };
  imported?.prebuilt.bundles.forEach((bundle, index) => {
    const key = keyOf(bundle, index);
    installed.set(key, [...(installed.get(key) ?? []), bundle.data]);
  });
  return (bundle: Bundle, index: number): readonly Bundle['data'][] => {
    const found = installed.get(keyOf(bundle, index))?.shift();
    return found ? [found] : [];
  };
};

type Described = Pick<PrebuiltImported, 'installed'> &
  Pick<PrebuiltPackage, 'manifest'> & {
    readonly bundles: Readonly<Record<string, number>>;
  };

const isAutomation = ({ type }: { readonly type: BundleType }): boolean => type === 'automation';

/** The ids of the automations that a package has installed. */
export const automationsIn = (installed: Plan['installed']): readonly string[] =>
  installed.filter(isAutomation).map(({ _id }) => _id);

/** The installed documents, without the automations with these ids. */
export const visible = (installed: Plan['installed'], hidden: ReadonlySet<string>): Plan['installed'] =>
  installed.filter((one) => !isAutomation(one) || !hidden.has(one._id));

/** A package in lists, for callers who may not read the automations with these ids. */
export const withoutHidden = <D extends Described>(doc: D, hidden: ReadonlySet<string>): D => {
  if (hidden.size === 0) return doc;
  const installed = visible(doc.installed, hidden);
  const automations = installed.filter(isAutomation);
  const { automation: _, ...bundles } = doc.bundles;
  // A fingerprint would let a caller check guesses about hidden documents.
  const { fingerprint: __, artifacts, ...manifest } = doc.manifest;
  const shown = artifacts.filter(
    ({ type = 'automation', id, name }) =>
      !isAutomation({ type }) || automations.some((one) => one._id === id || one.name === name),
  );
  const counts = automations.length === 0 ? bundles : { ...bundles, automation: automations.length };
  return { ...doc, installed, bundles: counts, manifest: { ...manifest, artifacts: shown } };
};

export type PrebuiltImport = { readonly prebuilt: PrebuiltDocument; readonly overwrite?: boolean };

export type PrebuiltRefs = {
  readonly bundlesHash: string;
  readonly plan: Plan;
  /** Why documents cannot be installed. Paths start at the request's body. */
  readonly errors: readonly RequestError[];
  readonly accounts: Readonly<Record<string, string>>;
  /** Whether the package has a secret in clear. Then it counts as different from the installed one. */
  readonly bringsSecrets?: boolean;
  /** Whether the installed package has an automation that the actor may not read. */
  readonly hidden?: boolean;
};

/**
 * Installs a package, all or nothing. With `overwrite`, every resource is set to the package's content. Otherwise the
 * same package again is no change.
 */
export const decideImport = (
  state: PrebuiltState,
  { prebuilt, overwrite = false }: PrebuiltImport,
  { now, refs }: Context<PrebuiltRefs>,
): readonly PrebuiltEvent[] => {
  const { plan, bundlesHash, accounts } = refs;
  refusePending(state);
  if (refs.hidden)
    throw new RequestError('forbidden', 'The installed prebuilt has an automation that you may not read', {
      path: '/prebuilt/metadata/name',
    });
  const known = !refs.bringsSecrets && isInstalled(state, prebuilt, bundlesHash);
  if (known && !overwrite) return [];
  const other =
    state.imported && !known && !overwrite
      ? [
          new RequestError('conflict', 'A prebuilt of this name is installed with other content', {
            path: '/prebuilt/metadata/name',
          }),
        ]
      : [];
  refuseAll([...refs.errors, ...other]);
  if (known && plan.parts.length + plan.removed.length === 0) return [];
  const kept = prebuilt.bundles
    .filter(({ type }) => !isHeld(type))
    .map((bundle) => {
      const { id, name } = identityOf(bundle);
      return { type: bundle.type, ...defined({ _id: id, name }) };
    });
  return [
    {
      topic: 'prebuiltImported',
      data: { prebuilt, ...plan, kept, accounts, bundlesHash, createdEpoch: String(Date.parse(now)) },
    },
  ];
};

const refusePending = ({ pending }: PrebuiltState): void => {
  if (pending)
    throw new RequestError('unavailable', 'This prebuilt is being installed; try again', { retryAfterSeconds: 1 });
};

// In the order of docs/status-codes.md.
const first: readonly Code[] = ['invalid', 'not_found', 'forbidden', 'conflict'];
const rank = ({ code }: RequestError): number => (first.includes(code) ? first.indexOf(code) : first.length);

/** Throws one error for all errors of the code that comes first. */
const refuseAll = (errors: readonly RequestError[]): void => {
  const least = Math.min(...errors.map(rank));
  const [one, ...others] = errors.filter((error) => rank(error) === least);
  if (!one) return;
  throw new RequestError(one.code, others.length > 0 ? `${one.message} (and ${others.length} more)` : one.message, {
    faults: [one, ...others].flatMap(({ faults }) => faults),
  });
};

/** Runs after all parts of an import. */
export const complete = ({ pending }: PrebuiltState): readonly PrebuiltEvent[] =>
  pending ? [{ topic: 'prebuiltInstalled', data: {} }] : [];

/** Deletes the package. The resources that it has installed stay. */
export const remove = (state: PrebuiltState): readonly PrebuiltEvent[] => {
  refusePending(state);
  return [{ topic: 'prebuiltDeleted', data: {} }];
};
