import { type Static, type TSchema, Type } from 'typebox';
import { treeDocumentSchema } from '../configuration-manager/treeSchemas.ts';
import { authored, objectId } from '../engine/authors.ts';
import { name } from '../engine/schemas.ts';
import { formDocumentSchema } from '../json-forms/formSchemas.ts';
import { analyticTemplateSchema } from '../mop/analyticTemplates.ts';
import { commandTemplateSchema } from '../mop/commandTemplates.ts';
import { automationDocumentSchema } from '../operations-manager/automationImports.ts';
import { templateDocumentSchema } from '../template-builder/templateSchemas.ts';

const opaque = (description: string) =>
  Type.Unsafe<Readonly<Record<string, unknown>>>(Type.Object({}, { additionalProperties: true, description }));
const text = (description: string) => Type.String({ description });
const optional = (description: string) => Type.Optional(text(description));

/**
 * The values of `type` in bundles and artifacts, with the schema of each document. The platform has no resources for
 * types without a schema.
 */
const held = {
  automation: automationDocumentSchema,
  forms: formDocumentSchema,
  'golden-config': treeDocumentSchema,
  integration: undefined,
  'integration-model': undefined,
  'json-forms': formDocumentSchema,
  'mop-template': commandTemplateSchema,
  'mop-analytic-template': analyticTemplateSchema,
  template: templateDocumentSchema,
  transformation: undefined,
  workflow: undefined,
};
export type BundleType = keyof typeof held;
/** Whether the platform has resources of this type. */
export const isHeld = (type: BundleType): boolean => held[type] !== undefined;

const types = Object.keys(held) as BundleType[];
/** The types whose documents are only kept in the package. */
export const keptTypes = types.filter((type) => !isHeld(type));
const type = Type.Enum(types, { description: 'What kind of document it is' });

export type Bundle = { readonly type: BundleType; readonly data: Readonly<Record<string, unknown>> };

const bundle = (type: BundleType, data: TSchema = opaque('Document, kept as given')) =>
  Type.Object(
    { type: Type.Literal(type, { description: 'What kind of document it is' }), data },
    { additionalProperties: false },
  );

const artifact = Type.Object(
  {
    id: optional('Its id'),
    name: optional('Its name'),
    location: optional('Where it lies'),
    type: Type.Optional(type),
  },
  { additionalProperties: false, title: 'PrebuiltArtifact', description: 'What is in the package' },
);

const metadata = Type.Object(
  {
    name: name('Name, unique among prebuilts'),
    version: text('Version'),
    description: text('What it is for'),
    author: text('Who made it'),
    license: text('License'),
    repository: Type.Object(
      {
        type: Type.Optional(Type.Enum(['local', 'hosted_git', 'git'], { description: 'Kind of repository' })),
        hostname: optional('Host of the repository'),
        path: optional('Path within it'),
      },
      { additionalProperties: false, title: 'PrebuiltRepository', description: 'Where it comes from' },
    ),
    PlatformDependencies: opaque('What it needs, kept as given'),
    keywords: Type.Optional(Type.Array(Type.String(), { maxItems: 1000, description: 'Keywords' })),
    hostedGitId: Type.Optional(Type.Integer({ description: 'Id of the hosted repository' })),
  },
  { additionalProperties: false, title: 'PrebuiltMetadata', description: 'What it is' },
);

const manifest = {
  bundleName: text('Name of the bundle'),
  artifacts: Type.Array(artifact, { description: 'What is in it; derived from the bundles unless given' }),
  fingerprint: optional('Derived unless given: SHA-256 over the canonical bundles, the first 24 digits, hexadecimal'),
  createdEpoch: optional('Time, epoch milliseconds; that of the import unless given'),
};
const strict = { additionalProperties: false } as const;
const manifestSchema = Type.Object(manifest, {
  ...strict,
  title: 'PrebuiltManifest',
  description: 'What it consists of',
});
const readme = text('What a reader should know, Markdown');

/** A package in an import. */
export const prebuiltDocumentSchema = Type.Object(
  {
    metadata,
    manifest: Type.Object(
      { ...manifest, artifacts: Type.Optional(manifest.artifacts) },
      { ...strict, title: 'NewPrebuiltManifest', description: 'What it consists of' },
    ),
    bundles: Type.Unsafe<readonly Bundle[]>(
      Type.Array(
        Type.Union(
          types.map((type) => bundle(type, held[type])),
          { description: 'A document' },
        ),
        { maxItems: 10_000, description: 'Documents' },
      ),
    ),
    readme,
  },
  { ...strict, title: 'PrebuiltDocument', description: 'Package to install' },
);
export type PrebuiltDocument = Static<typeof prebuiltDocumentSchema>;

/** A package as `exportPrebuilt` returns it. */
export const prebuiltPackageSchema = Type.Object(
  {
    metadata,
    manifest: manifestSchema,
    readme,
    bundles: Type.Array(Type.Object({ type, data: opaque('Document') }, strict), { description: 'Documents' }),
  },
  { ...strict, title: 'PrebuiltPackage', description: 'Package as it was installed' },
);
export type PrebuiltPackage = PrebuiltDocument & { readonly manifest: Static<typeof manifestSchema> };

const member = (id: TSchema, name: TSchema, title: string) =>
  Type.Object({ type, _id: id, name }, { ...strict, title, description: 'Document of the package' });
const items = {
  installed: Type.Array(member(text('Id that it has here'), text('Its name'), 'PrebuiltInstalled'), {
    description: 'What was installed',
  }),
  kept: Type.Array(member(optional('Its id'), optional('Its name'), 'PrebuiltKept'), {
    description: 'What is only kept in the package: the platform holds nothing of its kind',
  }),
};

/** The answer of an import. */
export const prebuiltImportedSchema = Type.Object(
  { _id: objectId('Id'), name: text('Name'), ...items },
  { title: 'PrebuiltImported', description: 'What became of a package' },
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
