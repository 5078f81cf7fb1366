import type { Members } from '@automation-platform/json';
import fc from 'fast-check';
import type { Kind } from './kind.ts';
import { always, documentOf, json, maybe, name, object, objectId, text, time, word } from './values.ts';

const path = '/configuration_manager';
const transfer = (nameIn: (document: Members) => unknown): Pick<Kind, 'importing' | 'exporting'> => ({
  importing: (document) => ({ method: 'POST', path: `${path}/import/configs`, body: `{"trees":[${document}]}` }),
  exporting: (document) => ({
    method: 'GET',
    path: `${path}/configs/${encodeURIComponent(String(nameIn(document)))}/export?as=imported`,
  }),
});

const attributes = documentOf(
  maybe('configId', fc.oneof(objectId, text)),
  maybe('devices', fc.array(text, { maxLength: 3 })),
  maybe('deviceGroups', fc.array(text, { maxLength: 3 })),
  maybe('export', object),
  maybe('remediationWorkflow', fc.constant(null)),
  maybe('ruleSet', fc.oneof(object, fc.constant({ rules: ['hostname r1', 'ntp server 10.0.0.1'] }))),
  maybe('tasks', fc.array(json, { maxLength: 2 })),
);

const { node } = fc.letrec<{ node: Members }>((tie) => ({
  node: documentOf(
    maybe('name', text),
    maybe('attributes', fc.oneof({ weight: 5, arbitrary: attributes }, json)),
    maybe('children', fc.oneof({ maxDepth: 3 }, fc.constant([]), fc.array(tie('node'), { maxLength: 2 }))),
  ),
}));

const versions = fc.uniqueArray(fc.constantFrom('initial', 'v2', '1.0', 'next year'), { minLength: 1 });

const item = (ofTree: Members, version: string) =>
  documentOf(
    fc.constant(ofTree),
    always('version', fc.constant(version)),
    always('root', node),
    maybe('_id', objectId),
    maybe('base', text),
    maybe('created', time),
    maybe('createdBy', fc.oneof(word, objectId)),
    maybe('gbac', fc.constant({ write: [], read: [] })),
    maybe('lastUpdated', time),
    maybe('lastUpdatedBy', word),
    maybe('tags', fc.array(json, { maxLength: 2 })),
    maybe('variables', json),
  );

const ofTree = documentOf(
  always('name', name),
  maybe('treeId', fc.oneof({ weight: 4, arbitrary: objectId }, name)),
  maybe('deviceType', fc.constantFrom('cisco-ios', '', null)),
).map(({ name, ...rest }) => ({
  name,
  ...('treeId' in rest ? { treeId: rest.treeId } : {}),
  ...('deviceType' in rest ? { deviceType: rest.deviceType } : {}),
}));

const first = ({ data }: Members): Members => (data as readonly Members[])[0]!; // there is at least one

/** As installations publish them. */
export const publishedTrees: Kind = {
  name: 'golden configurations',
  documents: fc
    .tuple(ofTree, versions)
    .chain(([tree, names]) =>
      documentOf(
        always('data', fc.tuple(...names.map((version) => item(tree, version)))),
        maybe('status', fc.constant('success')),
        maybe('taskInstances', fc.array(object, { maxLength: 2 })),
      ),
    ),
  ...transfer((document) => first(document).name),
};

const { ownNode } = fc.letrec<{ ownNode: Members }>((tie) => ({
  ownNode: documentOf(
    always('name', text),
    always('configId', objectId),
    always('children', fc.oneof({ maxDepth: 3 }, fc.constant([]), fc.array(tie('ownNode'), { maxLength: 2 }))),
    maybe('attributes', json),
  ),
}));

/** As exports of this service give them. */
export const ownTrees: Kind = {
  name: 'golden configuration trees',
  documents: versions.chain((names) =>
    documentOf(
      always('name', name),
      maybe('_id', objectId),
      maybe('deviceType', fc.constantFrom('cisco-ios', '', null)),
      always(
        'versions',
        fc.tuple(
          ...names.map((version) =>
            documentOf(
              always('name', fc.constant(version)),
              always('root', ownNode),
              maybe(
                'variables',
                json.map((value) => ({ value })),
              ),
              maybe('base', text),
            ),
          ),
        ),
      ),
    ),
  ),
  ...transfer((document) => document.name),
};
