import { Type } from 'typebox';
import { deletePrebuilt, hiddenAutomations, importPrebuilt, prebuiltId } from '../../commands/prebuilts/prebuilts.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import {
  prebuiltDocumentSchema,
  prebuiltImportedSchema,
  prebuiltPackageSchema,
  prebuiltSchema,
} from '../../domain/prebuilts/prebuiltSchemas.ts';
import { completed, prebuilt, visible, withoutHidden } from '../../domain/prebuilts/prebuilts.ts';
import { type PrebuiltDoc, prebuilts } from '../../projections/prebuilts/prebuilts.ts';
import { signed } from '../authorization/people.ts';
import { plain, results, withStatus } from '../engine/envelopes.ts';
import type { AreaRoutes, Join } from '../engine/route.ts';
import { actionRoute, commandRoute, getRoute, listRoute } from '../engine/routes.ts';
import { changed, listed } from '../engine/schemas.ts';
import { requestOf } from '../engine/serve.ts';

/** Operation 5: the whole package, which only its stream holds. */
const packageOf: Join<PrebuiltDoc> = async ({ _id }, { tools }, { actor }) => {
  const { imported } = await tools.state(prebuilt, _id);
  if (!imported) throw new RequestError('not_found', 'The prebuilt has been deleted');
  if ((await hiddenAutomations(imported.installed, actor, tools)).size > 0)
    throw new RequestError('forbidden', 'The prebuilt has an automation that you may not read');
  return completed(imported.prebuilt, imported);
};

/** The package without its documents, and without the automations that the caller may not read. */
const shown: Join<PrebuiltDoc> = async (doc, service, call) =>
  signed(withoutHidden(doc, await hiddenAutomations(doc.installed, call.actor, service.tools)), service, call);

const envelope = withStatus(({ changed }) =>
  changed ? 'Successfully imported prebuilt' : 'The prebuilt is installed already',
);

const importRoute = actionRoute({
  name: 'importPrebuilt',
  method: 'post',
  path: '/import',
  access: ['operators'],
  large: true,
  summary: 'Install a package',
  description:
    'All or nothing: automations with their triggers, forms, command and analytic templates, templates and ' +
    'golden configurations, which may name each other; the rest is kept in the package. The same package ' +
    'again is no change. Other content under a used id or name, also of a package, is 409 unless overwrite ' +
    'is true: then everything is brought to what the package says. A secret in clear is other content, be it ' +
    'right or wrong; ******** keeps the one that is stored.',
  body: Type.Object(
    {
      prebuilt: prebuiltDocumentSchema,
      options: Type.Optional(
        Type.Object(
          {
            overwrite: Type.Optional(
              Type.Boolean({ description: 'Whether other content under a used id or name is replaced' }),
            ),
          },
          { additionalProperties: false, description: 'How it is installed' },
        ),
      ),
    },
    { additionalProperties: false },
  ),
  answer: changed(prebuiltImportedSchema),
  run: async (call, service) => {
    const { prebuilt, options: { overwrite = false } = {} } = call.body;
    const done = await service.handle(importPrebuilt, {
      ...requestOf('importPrebuilt', call, service),
      id: prebuiltId(prebuilt.metadata.name),
      input: { prebuilt, overwrite },
    });
    const { _id, name, installed, kept } = done.doc as PrebuiltDoc;
    const hidden = await hiddenAutomations(installed, call.actor, service.tools);
    return {
      text: envelope(JSON.stringify({ _id, name, installed: visible(installed, hidden), kept }), done),
      position: done.position,
      replayed: done.replayed,
    };
  },
});

/** Packages (docs/decisions/prebuilts.md). */
export const prebuiltRoutes: AreaRoutes = {
  area: 'prebuilts',
  prefix: '/prebuilts',
  routes: [
    listRoute({
      name: 'getPrebuilts',
      method: 'get',
      path: '/',
      access: ['operators', 'readers'],
      summary: 'List prebuilts',
      list: prebuilts,
      join: shown,
      envelope: results,
      answer: listed(prebuiltSchema),
    }),
    importRoute,
    getRoute({
      name: 'exportPrebuilt',
      method: 'get',
      path: '/:id/export',
      access: ['operators', 'readers'],
      summary: 'Export a prebuilt',
      description:
        'The package as it was installed; artifacts, fingerprint and createdEpoch are derived only where it ' +
        'has none. Secrets are masked; import takes it back and keeps them. 403 for who may not read one of ' +
        'its automations.',
      get: prebuilts,
      join: packageOf,
      envelope: plain,
      answer: prebuiltPackageSchema,
    }),
    getRoute({
      name: 'getPrebuilt',
      method: 'get',
      path: '/:id',
      access: ['operators', 'readers'],
      summary: 'Get a prebuilt, without its documents',
      description: 'Automations that the caller may not read are left out, here and in lists.',
      get: prebuilts,
      join: shown,
      envelope: plain,
      answer: prebuiltSchema,
    }),
    commandRoute({
      name: 'deletePrebuilt',
      method: 'delete',
      path: '/:id',
      access: ['operators'],
      summary: 'Delete a prebuilt',
      description: 'Only the package goes: what it has installed stays.',
      command: deletePrebuilt,
      join: shown,
      envelope: withStatus(() => 'Successfully deleted prebuilt'),
      answer: changed(prebuiltSchema),
    }),
  ],
};
