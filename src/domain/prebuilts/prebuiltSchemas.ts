import { type Static, type TProperties, Type } from 'typebox';
import { authored, objectId } from '../engine/authors.ts';
import type { SchemaData } from '../engine/core.ts';
import { ifItFits, lenient, partsBy } from '../engine/lenientSchemas.ts';
import { missingSecretsSchema, name, warningsSchema } from '../engine/schemas.ts';
import { installedKinds } from '../kinds.ts';
import type { Bundle } from './parts.ts';

export type { Bundle } from './parts.ts';

const opaque = (description: string) =>
  Type.Unsafe<Readonly<Record<string, unknown>>>(Type.Object({}, { additionalProperties: true, description }));
const text = (description: string) => Type.String({ description });
const optional = (description: string) => Type.Optional(text(description));

const firstWord = (type: string): string => type.split('-', 1).join();

/** The types of documents that are installed: by their first word, and the shorter ones first. */
const heldTypes = [...installedKinds.keys()].sort(
  (one, other) => firstWord(one).localeCompare(firstWord(other)) || one.length - other.length,
);

/** True if the platform has resources of this kind. Documents of other kinds are only kept in the package. */
export const isHeld = (type: string): boolean => installedKinds.has(type);

const plain = (type: string): string => type.toLowerCase().replace(/[-_ ]/g, '').replace(/s$/, '');

/** The kind that a type nearly names, such as `template` for `templates`; undefined if there is none. */
export const kindMeant = (type: string): string | undefined =>
  isHeld(type) ? undefined : [...installedKinds.keys()].find((kind) => plain(kind) === plain(type));

const type = Type.String({
  maxLength: 256,
  description: `The kind of the document. These are installed: ${heldTypes.join(', ')}; any other is kept`,
});

const artifact = Type.Object(
  {
    id: optional('Its id'),
    name: optional('Its name'),
    location: optional('Where it lies'),
    type: Type.Optional(type),
  },
  { additionalProperties: false, title: 'PrebuiltArtifact', description: 'A document of the package' },
);

const metadata = Type.Object(
  {
    name: name('Name, unique among prebuilts'),
    version: text('Version'),
    description: text('Its purpose'),
    author: text('Its author'),
    license: text('License'),
    repository: Type.Object(
      {
        type: Type.Optional(
          Type.Enum(['local', 'hosted_git', 'git'], { [ifItFits]: true, description: 'Kind of repository' }),
        ),
        hostname: optional('Host of the repository'),
        path: optional('Path within it'),
      },
      { additionalProperties: false, title: 'PrebuiltRepository', description: 'Where it comes from' },
    ),
    PlatformDependencies: opaque('The versions that it needs, stored as sent'),
    keywords: Type.Optional(Type.Array(Type.String(), { maxItems: 1000, description: 'Keywords' })),
    hostedGitId: Type.Optional(Type.Integer({ description: 'Id of the hosted repository' })),
  },
  { additionalProperties: false, title: 'PrebuiltMetadata', description: 'Name, version and author of a package' },
);

const manifest = {
  bundleName: text('Name of the bundle'),
  artifacts: Type.Array(artifact, { description: 'Its documents; derived from the bundles unless given' }),
  fingerprint: optional('Derived unless given: SHA-256 over the canonical bundles, the first 24 digits, hexadecimal'),
  createdEpoch: optional('Time, epoch milliseconds; that of the import unless given'),
};
const strict = { additionalProperties: false } as const;
const manifestSchema = Type.Object(manifest, {
  ...strict,
  title: 'PrebuiltManifest',
  description: 'Its parts',
});
const readme = text('A text for readers, Markdown');

const bundles = Type.Unsafe<readonly Bundle[]>(
  Type.Array(Type.Object({ type, data: opaque('Document') }, strict), { maxItems: 10_000, description: 'Documents' }),
);

const named = { title: 'PrebuiltDocument', description: 'Package to install' };

/** The members of a package that the service knows. */
const knownSchema = Type.Object(
  {
    metadata,
    manifest: Type.Object(
      { ...manifest, artifacts: Type.Optional(manifest.artifacts) },
      { ...strict, title: 'NewPrebuiltManifest', description: 'Its parts' },
    ),
    bundles,
    readme,
  },
  { ...strict, ...named },
);
export type PrebuiltDocument = SchemaData<typeof knownSchema>;

/** Takes a package apart. */
export const packageParts = partsBy(knownSchema);

const { PlatformDependencies, ...unaliased } = metadata.properties;

/** A package in an import. Members that have aliases (prebuiltAliases.ts) may be missing here. */
export const importedPrebuiltSchema = Type.Unsafe<PrebuiltDocument>(
  lenient(
    Type.Object(
      {
        ...knownSchema.properties,
        metadata: Type.Object(
          { ...unaliased, PlatformDependencies: Type.Optional(PlatformDependencies) },
          { title: 'ImportedPrebuiltMetadata', description: 'Name, version and author of a package' },
        ),
      },
      named,
    ),
  ),
);

/** A package as `exportPrebuilt` returns it. */
export const prebuiltPackageSchema = lenient(
  Type.Object(
    { metadata, manifest: manifestSchema, readme, bundles },
    { title: 'PrebuiltPackage', description: 'Package as it was installed' },
  ),
);
export type PrebuiltPackage = PrebuiltDocument & { readonly manifest: Static<typeof manifestSchema> };

const listed = (members: TProperties, title: string, description: string) =>
  Type.Array(Type.Object({ type, ...members }, { ...strict, title, description: 'Document of the package' }), {
    description,
  });
const reason = text('Why, in a sentence');
const items = {
  installed: listed(
    { _id: text('Id that it has here'), id: text('The same'), name: text('Its name') },
    'PrebuiltInstalled',
    'Documents that were installed',
  ),
  kept: listed(
    { _id: optional('Its id'), id: optional('The same'), name: optional('Its name'), reason },
    'PrebuiltKept',
    'Documents that only the package has: the platform holds nothing of its kind',
  ),
  refused: listed(
    {
      id: optional('Its id'),
      name: optional('Its name'),
      within: optional('Name of the project that it is a component of, and whose other components are there'),
      code: text('Code of the error'),
      path: optional('JSON pointer to the place of the fault in the request'),
      reason,
    },
    'PrebuiltRefused',
    'Documents that could not be installed. They are not in the package, but where a project has them',
  ),
};

/** The answer of an import. */
export const prebuiltImportedSchema = Type.Object(
  {
    _id: objectId('Id'),
    name: text('Name'),
    ...items,
    unchanged: Type.Optional(
      Type.Array(Type.Integer(), {
        description: 'Of a dry run: places of the documents that are here already as they are',
      }),
    ),
    missingSecrets: missingSecretsSchema,
    warnings: warningsSchema,
  },
  { title: 'PrebuiltImported', description: 'Outcome of the import of a package' },
);

/** A package in lists: everything but the documents. */
export const prebuiltSchema = Type.Object(
  {
    _id: objectId('Id'),
    name: text('Name'),
    metadata,
    manifest: manifestSchema,
    readme,
    bundles: Type.Record(Type.String(), Type.Integer(), { description: 'How many documents of each kind it has' }),
    ...items,
    ...authored,
  },
  { title: 'Prebuilt', description: 'Installed package, without its documents' },
);
