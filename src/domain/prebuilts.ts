import { same } from './changes.ts';
import { aggregate, type Context, type Event, type Name } from './core.ts';
import { type Bundle, type BundleType, isHeld, type PrebuiltDocument, type PrebuiltPackage } from './prebuiltSchemas.ts';
import { type Code, Refusal } from './refusal.ts';

/** What one stream gets of a package, and the names that it bears then. */
export type Part = {
  readonly category: string;
  readonly id: string;
  readonly names: readonly Name[];
  /** Place in the package of the document that is taken in. */
  readonly bundle: number;
  /** What the stream is brought to, where that is not the document itself. */
  readonly content?: unknown;
};

/** What follows from a package, in the order in which it is carried out; what is as it should be is not in it. */
export type Plan = {
  readonly parts: readonly Part[];
  /** Triggers that go, and the automations that they belong to. */
  readonly removed: readonly { readonly id: string; readonly actionId: string }[];
  readonly installed: readonly { readonly type: BundleType; readonly _id: string; readonly name: string }[];
};

export type PrebuiltImported = Plan & {
  /** As it came. */
  readonly prebuilt: PrebuiltDocument;
  readonly kept: readonly { readonly type: BundleType; readonly _id?: string; readonly name?: string }[];
  /** Ids of the accounts that documents name as their authors, by username. */
  readonly accounts: Readonly<Record<string, string>>;
  /** SHA-256 over the canonical bundles, hexadecimal. */
  readonly bundlesHash: string;
  /** Time of the import, epoch milliseconds. */
  readonly createdEpoch: string;
};

export type PrebuiltEvent =
  | Event<'prebuiltImported', PrebuiltImported>
  /** All parts of the last import have been carried out. */
  | Event<'prebuiltInstalled', Record<string, never>>
  | Event<'prebuiltDeleted', Record<string, never>>;

export type PrebuiltState = { readonly imported?: PrebuiltImported; readonly pending: boolean };

/** A package by its name: the decision to install it, and that it has been. The stream's id is made from the name. */
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
  promises: ({ imported, pending }) =>
    (imported && pending ? imported.parts.flatMap(({ category, id, names }) => names.map((name) => ({ owner: `${category}-${id}`, name }))) : []),
});

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Id and name that a document gives itself. */
const identityOf = ({ data }: Bundle) => ({ id: textOf(data._id) ?? textOf(data.id), name: textOf(data.name) });

/** The package with what operation 5 derives where the package has none of it; an empty list of artifacts is one. */
export const completed = (prebuilt: PrebuiltDocument, { bundlesHash, createdEpoch }: Pick<PrebuiltImported, 'bundlesHash' | 'createdEpoch'>): PrebuiltPackage => {
  const artifacts = () => prebuilt.bundles.map((bundle, i) => {
    const { id = '', name = '' } = identityOf(bundle);
    return { id, name, location: `/bundles/${i}`, type: bundle.type };
  });
  const { manifest } = prebuilt;
  return { ...prebuilt, manifest: { ...manifest, artifacts: manifest.artifacts ?? artifacts(), fingerprint: manifest.fingerprint ?? bundlesHash.slice(0, 24), createdEpoch: manifest.createdEpoch ?? createdEpoch } };
};

/** Whether the package is the installed one, be it as that came or as it is exported. */
export const isInstalled = ({ imported }: PrebuiltState, prebuilt: PrebuiltDocument, bundlesHash: string): boolean => {
  if (imported?.bundlesHash !== bundlesHash) return false;
  const whole = (one: PrebuiltDocument) => ({ ...completed(one, imported), bundles: [] });
  return same(whole(prebuilt), whole(imported.prebuilt));
};

export type PrebuiltImport = { readonly prebuilt: PrebuiltDocument; readonly overwrite?: boolean };

export type PrebuiltRefs = {
  readonly bundlesHash: string;
  readonly plan: Plan;
  /** Why documents cannot be installed; paths are in the request. */
  readonly refusals: readonly Refusal[];
  readonly accounts: Readonly<Record<string, string>>;
};

/** Installs a package, all or nothing. With `overwrite` everything is brought to what the package says, else the same package again is no change. */
export const decideImport = (state: PrebuiltState, { prebuilt, overwrite = false }: PrebuiltImport, { now, refs }: Context<PrebuiltRefs>): readonly PrebuiltEvent[] => {
  const { plan, bundlesHash, accounts } = refs;
  refusePending(state);
  const known = isInstalled(state, prebuilt, bundlesHash);
  if (known && !overwrite) return [];
  const other = state.imported && !known && !overwrite ? [new Refusal('conflict', 'A prebuilt of this name is installed with other content', { path: '/prebuilt/metadata/name' })] : [];
  refuseAll([...refs.refusals, ...other]);
  if (known && plan.parts.length + plan.removed.length === 0) return [];
  const kept = prebuilt.bundles.filter(({ type }) => !isHeld(type)).map((bundle) => {
    const { id, name } = identityOf(bundle);
    return { type: bundle.type, ...(id !== undefined && { _id: id }), ...(name !== undefined && { name }) };
  });
  return [{ type: 'prebuiltImported', data: { prebuilt, ...plan, kept, accounts, bundlesHash, createdEpoch: String(Date.parse(now)) } }];
};

const refusePending = ({ pending }: PrebuiltState): void => {
  if (pending) throw new Refusal('unavailable', 'This prebuilt is being installed; try again', { retryAfterSeconds: 1 });
};

// As behaviour.md orders the checks of a request.
const first: readonly Code[] = ['invalid', 'not_found', 'forbidden', 'conflict'];
const rank = ({ code }: Refusal): number => (first.includes(code) ? first.indexOf(code) : first.length);

/** Throws the refusals of the kind that comes first, all in one. */
const refuseAll = (refusals: readonly Refusal[]): void => {
  const least = Math.min(...refusals.map(rank));
  const [one, ...others] = refusals.filter((refusal) => rank(refusal) === least);
  if (!one) return;
  throw new Refusal(one.code, others.length > 0 ? `${one.message} (and ${others.length} more)` : one.message, { faults: [one, ...others].flatMap(({ faults }) => faults) });
};

/** Told once all parts of an import have been carried out. */
export const complete = ({ pending }: PrebuiltState): readonly PrebuiltEvent[] => (pending ? [{ type: 'prebuiltInstalled', data: {} }] : []);

/** Takes the package away; what it has installed stays. */
export const remove = (state: PrebuiltState): readonly PrebuiltEvent[] => {
  refusePending(state);
  return [{ type: 'prebuiltDeleted', data: {} }];
};
