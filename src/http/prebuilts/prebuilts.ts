import { type Static, Type } from 'typebox';
import { missing } from '../../commands/engine/decide.ts';
import { neverRunning } from '../../commands/operations-manager/neverRunning.ts';
import { missingFor } from '../../commands/operations-manager/readiness.ts';
import {
  deletePrebuilt,
  hiddenOf,
  importPrebuilt,
  prebuiltId,
  previewImport,
} from '../../commands/prebuilts/prebuilts.ts';
import { defined } from '../../domain/engine/defined.ts';
import type { Words } from '../../domain/engine/importedDocuments.ts';
import { missingSecrets } from '../../domain/engine/importedSecrets.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { withDescriptions } from '../../domain/engine/secretFields.ts';
import { installedKinds } from '../../domain/kinds.ts';
import {
  importedPrebuiltSchema,
  type PrebuiltDocument,
  prebuiltImportedSchema,
  prebuiltPackageSchema,
  prebuiltSchema,
} from '../../domain/prebuilts/prebuiltSchemas.ts';
import {
  asImported,
  automationsIn,
  completed,
  decidingIn,
  type PrebuiltImported,
  prebuilt,
  visible,
} from '../../domain/prebuilts/prebuilts.ts';
import { documentIn } from '../../projections/engine/documents.ts';
import { type PrebuiltDoc, prebuilts } from '../../projections/prebuilts/prebuilts.ts';
import { signed } from '../authorization/people.ts';
import { withStatus } from '../engine/envelopes.ts';
import { openEndsOf } from '../engine/imports.ts';
import { readinessOf, readinessSchema } from '../engine/readiness.ts';
import { resourceRoutes } from '../engine/resourceRoutes.ts';
import type { Answer, AreaRoutes, Call, Join } from '../engine/route.ts';
import { actionRoute, getRoute } from '../engine/routes.ts';
import { changed, overwriteSchema, wordsSchema } from '../engine/schemas.ts';
import { newId, requestOf } from '../engine/serve.ts';
import type { Service } from '../engine/service.ts';

/** Operation 5: the whole package, which only its stream holds. */
const packageOf: Join<PrebuiltDoc, Call<string, unknown, { readonly as?: Words }>> = async (
  { _id },
  { tools },
  { actor, query },
) => {
  const { imported } = await tools.state(prebuilt, _id);
  if (!imported) throw new RequestError('not_found', 'The prebuilt has been deleted');
  if ((await hiddenOf(decidingIn(imported.installed), actor, tools)).size > 0) throw missing(prebuilt.category);
  const document = withDescriptions(imported.prebuilt, tools.unseal) as PrebuiltDocument;
  return query.as === 'imported' ? asImported(document) : completed(document, imported);
};

/** The package without its documents. */
const signedOutcome: Join<PrebuiltDoc> = (doc, service, call) => signed({ ...doc, ...outcomeOf(doc) }, service, call);

const notHeld = 'The platform has no resources of this kind yet; the document is in the package';

type Outcome = Pick<PrebuiltImported, 'installed' | 'kept' | 'refused'>;

/** The outcome for each document, in the form of answers. */
const outcomeOf = ({ installed, kept, refused = [] }: Outcome) => ({
  installed: installed.map((one) => ({ ...one, id: one._id })),
  kept: kept.map((one) => ({ ...one, ...defined({ id: one._id }), reason: notHeld })),
  refused,
});

/** The places of the documents that are not in the package. */
const placesOf = (refused: NonNullable<PrebuiltImported['refused']>): ReadonlySet<number> =>
  new Set(refused.flatMap(({ path = '', within }) => (within === undefined ? Number(path.split('/')[3]) : [])));

/** The places of masked secrets for which nothing is stored. Documents that were refused are not in the package. */
const missingInPackage = (
  doc: PrebuiltDocument,
  { prebuilt, refused = [] }: Pick<PrebuiltImported, 'prebuilt' | 'refused'>,
): readonly string[] => {
  const refusedAt = placesOf(refused);
  const indexes = [...doc.bundles.keys()].filter((index) => !refusedAt.has(index));
  return [
    ...missingSecrets({ ...prebuilt, bundles: [] }, '/prebuilt'),
    ...prebuilt.bundles.flatMap((bundle, i) => missingSecrets(bundle, `/prebuilt/bundles/${indexes[i]}`)),
  ];
};

/** The message of an import. It reports a success only if documents were installed and none was refused. */
const envelopeOf = ({ installed, kept, refused = [] }: Outcome) =>
  withStatus(({ changed }) => {
    if (!changed) return 'The prebuilt is installed already';
    if (installed.length > 0 && refused.length === 0) return 'Successfully imported prebuilt';
    return `Imported prebuilt: ${installed.length} installed, ${kept.length} kept, ${refused.length} refused`;
  });

/** The places of the documents that are here already as the package has them. `found`: undefined if all are. */
const unchangedIn = ({ bundles }: PrebuiltDocument, found: PrebuiltImported | undefined): readonly number[] => {
  const refusedAt = placesOf(found?.refused ?? []);
  const changing = new Set(found?.parts.map(({ bundle }) => bundle));
  return [...bundles.keys()]
    .filter((index) => !refusedAt.has(index))
    .filter((index, place) => installedKinds.has(bundles[index]?.type ?? '') && !changing.has(place));
};

/** The answer to a dry run: what the import would answer. */
const previewed = async ({ prebuilt, options = {} }: ImportBody, call: Call, service: Service): Promise<Answer> => {
  const { overwrite = false, strict = false } = options;
  const id = prebuiltId(prebuilt.metadata.name);
  const { exists, current } = await presentOf(id, service);
  const now = new Date(service.moment().now).toISOString();
  const request = { id, actor: call.actor, now, newId: (word: string) => newId(`dry run ${word}`) };
  const found = await previewImport({ prebuilt: prebuilt, overwrite, strict }, request, service.tools);
  const outcome = found ?? current;
  if (!outcome) throw new RequestError('unavailable', 'The prebuilt has just been deleted', { retryAfterSeconds: 1 });
  const hidden = await hiddenOf(decidingIn(outcome.installed), call.actor, service.tools);
  const missing = missingInPackage(prebuilt, outcome);
  return {
    body: {
      status: exists ? 'OK' : 'Created',
      message: found ? 'The prebuilt can be imported; nothing was changed' : 'The prebuilt is installed already',
      data: {
        _id: id,
        name: prebuilt.metadata.name,
        ...outcomeOf({ ...outcome, installed: visible(outcome.installed, hidden) }),
        unchanged: unchangedIn(prebuilt, found),
        ...openEndsOf({ missingSecrets: missing }),
      },
    },
  };
};

const presentOf = async (id: string, { tools }: Service) => {
  const { imported: current } = await tools.state(prebuilt, id);
  return { exists: current !== undefined, current };
};

const categoryOf = (type: string): string => installedKinds.get(type)?.of.category ?? '';

const option = (description: string) => Type.Optional(Type.Boolean({ description }));
const options = Type.Optional(
  Type.Object(
    {
      overwrite: overwriteSchema,
      strict: option('True: one document that cannot be installed refuses the whole package'),
      dryRun: option('True: only the answer is given, and nothing changes'),
    },
    { additionalProperties: false, description: 'How it is installed' },
  ),
);
const wrapped = Type.Object({ prebuilt: importedPrebuiltSchema, options }, { additionalProperties: false });
type ImportBody = Static<typeof wrapped>;

/** `{prebuilt, options?}`, or the package itself. */
const importBody = Type.Unsafe<ImportBody | PrebuiltDocument>({
  if: { type: 'object', required: ['prebuilt'], properties: { prebuilt: {} } },
  then: wrapped,
  else: importedPrebuiltSchema,
});
const unwrapped = (body: ImportBody | PrebuiltDocument): ImportBody => ('prebuilt' in body ? body : { prebuilt: body });

const importRoute = actionRoute({
  name: 'importPrebuilt',
  method: 'post',
  path: '/import',
  access: ['operators'],
  large: true,
  exact: '*',
  summary: 'Install a package',
  description:
    'Installs automations with their triggers, forms, command and analytic templates, templates and golden ' +
    'configurations, which may name each other. Documents of other kinds are kept in the package. A document that ' +
    'cannot be installed is listed in refused, and nothing of it exists; with strict it refuses the whole package. The ' +
    'same package again is no change. Other content under the name of an installed package is 409 unless overwrite is ' +
    'true; so is a package of which nothing can be installed. A secret in clear is other content, be it right or wrong; ' +
    '******** keeps the one that is stored. The body may also be the bare package, as exports give it.',
  body: importBody,
  answer: changed(prebuiltImportedSchema),
  run: async (call, service) => {
    const body = unwrapped(call.body);
    const { prebuilt, options: { overwrite = false, strict = false, dryRun = false } = {} } = body;
    if (dryRun) return previewed(body, call, service);
    const id = prebuiltId(prebuilt.metadata.name);
    const result = await service.handle(importPrebuilt, {
      ...requestOf('importPrebuilt', call, service),
      id,
      input: { prebuilt: prebuilt, overwrite, strict },
    });
    const { _id, name, installed, kept, refused } = result.doc as PrebuiltDoc;
    const hidden = await hiddenOf(decidingIn(installed), call.actor, service.tools);
    const { current } = await presentOf(id, service);
    const visibleBundles = visible(installed, hidden);
    const now = current && (await hiddenOf(decidingIn(current.installed), call.actor, service.tools));
    const openEnds = {
      // A repeated request may find the package of another caller.
      missingSecrets: current && now?.size === 0 ? missingInPackage(prebuilt, current) : [],
      warnings: await neverRunning(automationsIn(visibleBundles), call.actor, service.tools),
    };
    const data = { _id, name, ...outcomeOf({ installed: visibleBundles, kept, refused }), ...openEndsOf(openEnds) };
    const outcome = { installed: visibleBundles, kept, ...defined({ refused }) };
    return {
      text: envelopeOf(outcome)(JSON.stringify(data), result),
      position: result.position,
      replayed: result.replayed,
    };
  },
});

/** Packages (docs/decisions/prebuilts.md). */
const usual = resourceRoutes({
  noun: 'prebuilt',
  path: '/',
  one: '/:id',
  documents: prebuilts,
  schema: prebuiltSchema,
  read: ['operators', 'readers'],
  change: ['operators'],
  join: signedOutcome,
});

export const prebuiltRoutes: AreaRoutes = {
  area: 'prebuilts',
  prefix: '/prebuilts',
  routes: [
    usual.list({ name: 'getPrebuilts', summary: 'List prebuilts' }),
    importRoute,
    actionRoute({
      name: 'getPrebuiltReadiness',
      method: 'get',
      path: '/:id/readiness',
      access: ['operators', 'readers'],
      summary: 'Find what a prebuilt needs and the platform does not have',
      description: 'As of now: of what it has installed, and of its documents that could not be installed.',
      answer: readinessSchema,
      run: async ({ params, actor }, { entry, tools }) => {
        const doc = documentIn(prebuilts, await entry(prebuilts, params.id, actor));
        const { name, installed, refused = [] } = doc;
        const resources = installed.map((one) => ({ category: categoryOf(one.type), id: one._id, name: one.name }));
        const stayedOut = refused.map((one) => ({ in: name, kind: one.type, name: one.name ?? one.id ?? '' }));
        return readinessOf(resources, (one) => missingFor(one, actor, tools), stayedOut);
      },
    }),
    getRoute({
      name: 'exportPrebuilt',
      path: '/:id/export',
      access: ['operators', 'readers'],
      summary: 'Export a prebuilt',
      description:
        'The package as it was installed, in our names; artifacts, fingerprint and createdEpoch are derived only where ' +
        'it has none. Secrets are masked; import takes it back and keeps them.',
      query: { as: wordsSchema },
      get: prebuilts,
      exports: true,
      join: packageOf,
      answer: prebuiltPackageSchema,
    }),
    usual.get({
      name: 'getPrebuilt',
      summary: 'Get a prebuilt, without its documents',
      description:
        'A caller who may not read one of its automations does not find it, here, in lists and for the export.',
    }),
    usual.remove({
      name: 'deletePrebuilt',
      summary: 'Delete a prebuilt',
      description: 'Only the package goes: what it has installed stays.',
      command: deletePrebuilt,
    }),
  ],
};
