import { isObject, withoutOrder } from '@automation-platform/json';
import { Type } from 'typebox';
import { same } from '../engine/changes.ts';
import { aggregate, type Context, type EventOf, type SchemaData } from '../engine/core.ts';
import { defined } from '../engine/defined.ts';
import { at, type DocumentKind, nowhere } from '../engine/documentKinds.ts';
import { withMembers, withoutMembers } from '../engine/exactMembers.ts';
import { maskDocument } from '../engine/importedSecrets.ts';
import { projectInName } from '../engine/namespaces.ts';
import { type Code, RequestError } from '../engine/requestError.ts';
import { anyMembers, nothing, text, topicsOf, typed } from '../engine/topics.ts';
import { type BundleError, type Part, part, refuseAll } from './parts.ts';
import { inOurNames } from './prebuiltAliases.ts';
import { type Bundle, isHeld, type PrebuiltDocument, type PrebuiltPackage, packageParts } from './prebuiltSchemas.ts';
import { isClear, maskBundle } from './prebuiltSecrets.ts';

const imported = Type.Object({
  /**
   * The package of the request without what was refused, as it was written, with sealed secrets. Earlier versions stored
   * the secrets in clear.
   */
  prebuilt: typed<PrebuiltDocument>()(anyMembers),
  /** In the order in which they are carried out. Resources that need no change are left out. */
  parts: Type.Array(part),
  /** The triggers that are deleted, and the automations that they belong to. */
  removed: Type.Array(Type.Object({ id: text, actionId: text })),
  installed: Type.Array(Type.Object({ type: text, _id: text, name: text })),
  kept: Type.Array(Type.Object({ type: text, _id: Type.Optional(text), name: Type.Optional(text) })),
  /** The documents that cannot be installed. Missing in events of earlier versions, which refused the whole package. */
  refused: Type.Optional(
    Type.Array(
      Type.Object({
        type: text,
        id: Type.Optional(text),
        name: Type.Optional(text),
        /** The project that it is a component of; undefined: it is a document of the package. */
        within: Type.Optional(text),
        code: typed<Code>()(text),
        /** JSON pointer into the request. */
        path: Type.Optional(text),
        reason: text,
      }),
    ),
  ),
  /** The account ids of the authors that documents name, by username. */
  accounts: Type.Record(Type.String(), Type.String()),
  /**
   * SHA-256 of the bundles as canonical JSON, hexadecimal. Secrets count as the mask, except where they are stored in
   * clear.
   */
  bundlesHash: text,
  /** The time of the import, as a text of epoch milliseconds. */
  createdEpoch: text,
});
export type PrebuiltImported = SchemaData<typeof imported>;

/** The changes by a package. */
export type Plan = Pick<PrebuiltImported, 'parts' | 'removed' | 'installed'>;

export type Refused = NonNullable<PrebuiltImported['refused']>[number];

const topics = topicsOf({
  prebuiltImported: ['A package is to be installed', imported],
  /** All parts of the last import are carried out. */
  prebuiltInstalled: ['All parts of a package are installed', nothing],
  prebuiltDeleted: ['A package was deleted', nothing],
});
export type PrebuiltEvent = EventOf<typeof topics>;

export type PrebuiltState = {
  readonly imported?: PrebuiltImported;
  readonly pending: boolean;
  /** The ids of its automations and projects, which say who may read it. They survive its deletion. */
  readonly deciding: Deciding;
};

const isProject = (type: string): boolean => type === 'project';

/** A part, or those that a project among the parts is unpacked to. */
const partsIn = (one: Part): readonly Part[] =>
  isProject(one.category) ? (one.content as { readonly parts: readonly Part[] }).parts : [one];

/**
 * A package: the decision to install it, and the note that it is installed. The stream's id is computed from the name.
 */
export const prebuilt = aggregate<PrebuiltState, PrebuiltEvent>({
  area: 'prebuilts',
  category: 'prebuilt',
  actsLater: true,
  topics,
  initial: { pending: false, deciding: { automations: [] } },
  evolve: {
    prebuiltImported: (_, imported) => ({ imported, pending: true, deciding: decidingIn(imported.installed) }),
    prebuiltInstalled: (state) => ({ ...state, pending: false }),
    prebuiltDeleted: ({ deciding }) => ({ pending: false, deciding }),
  },
  exists: ({ imported }) => imported !== undefined,
  reservations: ({ imported, pending }) =>
    imported && pending
      ? imported.parts
          .flatMap(partsIn)
          .flatMap(({ category, id, names }) => names.map((name) => ({ owner: `${category}-${id}`, name })))
      : [],
});

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** The id and the name in a document. */
const identityOf = ({ data }: Bundle): { id?: string | undefined; name?: string | undefined } => ({
  id: textOf(data._id) ?? textOf(data.id),
  name: textOf(data.name),
});

type Derived = Pick<PrebuiltImported, 'bundlesHash' | 'createdEpoch'>;

/**
 * The package without its documents, in our names, with masked secrets. Missing parts of the manifest are computed. An empty list of
 * artifacts is not missing.
 */
const described = (document: PrebuiltDocument, { bundlesHash, createdEpoch }: Derived) => {
  const { bundles, manifest } = inOurNames(document);
  const artifacts = () =>
    bundles.map((bundle, i) => {
      const { id = '', name = '' } = identityOf(bundle);
      return { id, name, location: `/bundles/${i}`, type: bundle.type };
    });
  // A fingerprint over secrets in clear would let everybody check guesses.
  const fingerprint = manifest.fingerprint ?? (bundles.some(isClear) ? undefined : bundlesHash.slice(0, 24));
  const derived = {
    artifacts: manifest.artifacts ?? artifacts(),
    ...defined({ fingerprint }),
    createdEpoch: manifest.createdEpoch ?? createdEpoch,
  };
  const described = withMembers(inOurNames(document), { manifest: withMembers(manifest, derived) });
  // The types of members stay.
  return maskDocument(withoutMembers(described, (name) => name === 'bundles')) as Omit<PrebuiltPackage, 'bundles'>;
};

/** The package as `exportPrebuilt` returns it, with masked secrets. */
export const completed = (prebuilt: PrebuiltDocument, derived: Derived): PrebuiltPackage =>
  withMembers(described(prebuilt, derived), { bundles: prebuilt.bundles.map(maskBundle) }) as PrebuiltPackage;

/** The package as it was imported, with masked secrets. */
export const asImported = (prebuilt: PrebuiltDocument): PrebuiltDocument => ({
  ...(maskDocument({ ...prebuilt, bundles: [] }) as PrebuiltDocument),
  bundles: prebuilt.bundles.map(maskBundle),
});

/** The members of a package that lists show. */
export const shownOf = (prebuilt: PrebuiltDocument, derived: Derived) => {
  const { metadata, manifest, readme } = described(prebuilt, derived);
  const { known } = packageParts({ metadata, manifest, readme, bundles: [] });
  return { metadata: known.metadata, manifest: known.manifest as PrebuiltPackage['manifest'], readme };
};

/**
 * True if the package is the installed one, in its original or its exported form. The hash is that of the bundles with
 * masked secrets.
 */
export const isInstalled = ({ imported }: PrebuiltState, prebuilt: PrebuiltDocument, bundlesHash: string): boolean => {
  if (!imported) return false;
  const { bundles } = imported.prebuilt;
  // Earlier versions made the hash with other masks, so documents that differ in the hash may be the same.
  const equal =
    imported.bundlesHash === bundlesHash ||
    (bundles.length === prebuilt.bundles.length &&
      bundles.every((bundle, i) => same(maskBundle(bundle), maskBundle(prebuilt.bundles[i]!)))); // of equal length
  const around = (one: PrebuiltDocument) => withoutOrder(described({ ...one, bundles }, imported));
  return equal && same(around(prebuilt), around(imported.prebuilt));
};

/**
 * Returns a function that finds the installed version of a document. A masked secret of the document keeps its value
 * from there. Documents of one type match by id, without an id by name, and without a name by their index in the
 * package. Each installed document is found once only, so the caller must pass the documents in the order of the
 * package. A looser match could move a secret to another resource, and so to other readers.
 */
export const matching = (bundles: readonly Bundle[]) => {
  const installed = new Map<string, Bundle['data'][]>();
  const keyOf = (bundle: Bundle, index: number): string => {
    const { id, name = index } = identityOf(bundle);
    return JSON.stringify([bundle.type, id ?? null, id === undefined ? name : null]);
  };
  bundles.forEach((bundle, index) => {
    const key = keyOf(bundle, index);
    installed.set(key, [...(installed.get(key) ?? []), bundle.data]);
  });
  return (bundle: Bundle, index: number): readonly Bundle['data'][] => {
    const found = installed.get(keyOf(bundle, index))?.shift();
    return found ? [found] : [];
  };
};

const isAutomation = ({ type }: { readonly type: string }): boolean => type === 'automation';

/** The ids of the automations that a package has installed. */
export const automationsIn = (installed: Plan['installed']): readonly string[] =>
  installed.filter(isAutomation).map(({ _id }) => _id);

/** The ids of the projects whose components a package has installed. */
export const projectsIn = (installed: Plan['installed']): readonly string[] => [
  ...new Set(installed.flatMap(({ type, _id, name }) => (isProject(type) ? _id : (projectInName(name) ?? [])))),
];

/** The resources whose access lists say who may read a package. */
export type Deciding = { readonly automations: readonly string[]; readonly projects?: readonly string[] };

export const decidingIn = (installed: Plan['installed']): Required<Deciding> => ({
  automations: automationsIn(installed),
  projects: projectsIn(installed),
});

/** The installed documents, without the automations and the components of projects with these ids. */
export const visible = (installed: Plan['installed'], hidden: ReadonlySet<string>): Plan['installed'] =>
  installed.filter(
    (one) =>
      !((isAutomation(one) || isProject(one.type)) && hidden.has(one._id)) &&
      !hidden.has(projectInName(one.name) ?? ''),
  );

export type PrebuiltImport = {
  readonly prebuilt: PrebuiltDocument;
  readonly overwrite?: boolean;
  /** True if one document that cannot be installed refuses the package. */
  readonly strict?: boolean;
};

export type PrebuiltRefs = {
  /** The hash of the documents that can be installed or kept. */
  readonly bundlesHash: string;
  readonly plan: Plan;
  readonly errors: readonly BundleError[];
  /** The components of its projects that cannot be unpacked. */
  readonly stayingOut?: readonly Refused[];
  readonly accounts: Readonly<Record<string, string>>;
  /** True if the package is the installed one, with the documents that are refused now. */
  readonly isSame?: boolean;
  /** True if the package has a secret in clear. Then it counts as different from the installed one. */
  readonly bringsSecrets?: boolean;
  /** True if the package, installed or deleted, has an automation that the actor may not read. */
  readonly hidden?: boolean;
};

/**
 * Installs the documents that can be installed and keeps those of unknown kinds. With `overwrite`, every resource is set
 * to the package's content. Otherwise the same package again is no change.
 */
export const decideImport = (
  state: PrebuiltState,
  { prebuilt: given, overwrite = false, strict = false }: PrebuiltImport,
  { now, refs }: Context<PrebuiltRefs>,
): readonly PrebuiltEvent[] => {
  const { plan, bundlesHash, accounts, errors, stayingOut = [] } = refs;
  refusePending(state);
  const { known } = packageParts({ ...inOurNames(given), bundles: [] }, '/prebuilt');
  if (known.metadata.PlatformDependencies === undefined)
    throw new RequestError('invalid', 'The metadata must have PlatformDependencies', {
      path: '/prebuilt/metadata/PlatformDependencies',
    });
  const nameConflict = new RequestError('conflict', 'A prebuilt of this name is installed with other content', {
    path: '/prebuilt/metadata/name',
  });
  if (refs.hidden) throw nameConflict;
  const prebuilt = withoutRefused(given, errors);
  const again = refs.isSame || (!refs.bringsSecrets && isInstalled(state, prebuilt, bundlesHash));
  if (again && !overwrite && !isWaiting(state)) return [];
  const other = state.imported && !again && !overwrite ? [nameConflict] : [];
  const refusals = errors.map(({ error }) => error);
  const inside = stayingOut.map(({ code, reason, path }) => new RequestError(code, reason, defined({ path })));
  if (strict) refuseAll([...refusals, ...inside, ...other]);
  refuseAll(other);
  if (errors.length > 0 && prebuilt.bundles.length === 0)
    throw new RequestError('conflict', `Nothing of the package can be installed: ${refusals[0]?.message}`, {
      faults: refusals.flatMap(({ code, faults }) => faults.map((fault) => ({ code, ...fault }))),
    });
  if (again && plan.parts.length + plan.removed.length === 0) return [];
  const otherBundles = prebuilt.bundles.filter(({ type }) => !isHeld(type)).map(keptOf);
  const refused = [...errors.map(({ index, error }) => refusedOf(given.bundles[index], error)), ...stayingOut];
  return [
    {
      topic: 'prebuiltImported',
      data: {
        prebuilt,
        ...plan,
        kept: otherBundles,
        refused,
        accounts,
        bundlesHash,
        createdEpoch: String(Date.parse(now)),
      },
    },
  ];
};

/** True if the package keeps documents of kinds that an earlier version did not install. */
export const isWaiting = ({ imported }: PrebuiltState): boolean =>
  imported?.kept.some(({ type }) => isHeld(type)) === true;

/** The package without the documents that are refused. */
export const withoutRefused = (prebuilt: PrebuiltDocument, errors: readonly BundleError[]): PrebuiltDocument => {
  if (errors.length === 0) return prebuilt;
  const refused = new Set(errors.map(({ index }) => index));
  return { ...prebuilt, bundles: prebuilt.bundles.filter((_, index) => !refused.has(index)) };
};

const keptOf = (bundle: Bundle) => {
  const { id, name } = identityOf(bundle);
  return { type: bundle.type, ...defined({ _id: id, name }) };
};

const refusedOf = (bundle: Bundle | undefined, { code, message, faults }: RequestError): Refused => {
  const { id, name } = bundle ? identityOf(bundle) : {};
  return { type: bundle?.type ?? '', code, reason: message, ...defined({ id, name, path: faults[0]?.path }) };
};

const refusePending = ({ pending }: PrebuiltState): void => {
  if (pending)
    throw new RequestError('unavailable', 'This prebuilt is being installed; try again', { retryAfterSeconds: 1 });
};

/** Runs after all parts of an import. */
export const complete = ({ pending }: PrebuiltState): readonly PrebuiltEvent[] =>
  pending ? [{ topic: 'prebuiltInstalled', data: {} }] : [];

/** Deletes the package. The resources that it has installed stay. */
export const remove = (state: PrebuiltState): readonly PrebuiltEvent[] => {
  refusePending(state);
  return [{ topic: 'prebuiltDeleted', data: {} }];
};

/** Packages of any installation. */
export const prebuiltDocuments: DocumentKind = {
  of: prebuilt,
  name: 'package',
  types: [],
  secrets: nowhere,
  is: ({ metadata, manifest, bundles }) => isObject(metadata) && isObject(manifest) && Array.isArray(bundles),
  importing: (document, options) => ({
    method: 'POST',
    path: '/prebuilts/import',
    body: `{"prebuilt":${document},"options":${JSON.stringify(options)}}`,
  }),
  ...at('/prebuilts'),
};
