import fc from 'fast-check';
import { analyticTemplates, commandTemplates } from './commandTemplates.ts';
import type { Kind } from './kind.ts';
import { always, documentOf, json, maybe, name, object, text } from './values.ts';

const bundle = (type: string, data: fc.Arbitrary<object>) =>
  documentOf(always('type', fc.constant(type)), always('data', data));

const bundles = fc.array(
  fc.oneof(
    bundle('mop-template', commandTemplates.documents),
    bundle('mop-analytic-template', analyticTemplates.documents),
    ...['workflow', 'transformation', 'project', 'integration', 'something-new'].map((type) =>
      bundle(type, documentOf(maybe('name', text), maybe('_id', text), maybe('tasks', object))),
    ),
  ),
  { maxLength: 4 },
);

const artifact = documentOf(
  always('id', text),
  always('name', text),
  always('type', fc.constantFrom('workflow', 'ac-agenda-job', 'mop-template')),
  always('location', text),
  always('properties', documentOf(always('entryPoint', fc.boolean()))),
);

/** Packages as their authors have published them. */
export const packages: Kind = {
  name: 'packages',
  documents: documentOf(
    always('readme', text),
    always('bundles', bundles),
    always(
      'manifest',
      documentOf(
        always('bundleName', text),
        maybe('fingerprint', text),
        maybe('createdEpoch', text),
        maybe('artifacts', fc.array(artifact, { maxLength: 3 })),
      ),
    ),
    always(
      'metadata',
      documentOf(
        always('name', name),
        ...['version', 'description', 'author', 'license'].map((member) => always(member, text)),
        always(
          'repository',
          documentOf(
            maybe('type', fc.constantFrom('local', 'git', 'hosted_git', 'gitlab', 'svn')),
            maybe('hostname', text),
            maybe('path', text),
            maybe('url', text),
          ),
        ),
        fc.constantFrom('IAPDependencies', 'PlatformDependencies').chain((member) => always(member, object)),
        maybe('gitlabId', fc.nat()),
        maybe('keywords', fc.array(text, { maxLength: 3 })),
        maybe('more', json),
      ),
    ),
  ),
  importing: (document) => ({ method: 'POST', path: '/prebuilts/import', body: `{"prebuilt":${document}}` }),
  exporting: ({ metadata }) => ({
    method: 'GET',
    path: `/prebuilts/${encodeURIComponent((metadata as { name: string }).name)}/export?as=imported`,
  }),
};
