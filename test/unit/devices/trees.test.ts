import {
  addNode,
  addVersion,
  create,
  deleteVariables,
  remove,
  setNodeText,
  setVariables,
} from '../../../src/domain/configuration-manager/treeChanges.ts';
import { importOne } from '../../../src/domain/configuration-manager/treeImports.ts';
import type { TreeVersion } from '../../../src/domain/configuration-manager/treeSchemas.ts';
import { tree } from '../../../src/domain/configuration-manager/trees.ts';
import { context, specification } from '../../support/given.ts';

const given = specification(tree);

const created = {
  topic: 'treeCreated',
  data: { name: 'Routers', deviceType: 'cisco-ios', root: { name: 'base', configId: 'root' } },
} as const;

const set = {
  topic: 'treeVariablesSet',
  data: { version: 'initial', variables: { ntp: '10.0.0.1', mtu: 1500 } },
} as const;

const child = {
  topic: 'treeNodeAdded',
  data: { version: 'initial', parent: 'root', name: 'Bonn', configId: 'bonn' },
} as const;

describe('A golden configuration tree', () => {
  it('begins with the version initial: a root node, no variables', () => {
    given()
      .when(create, { name: 'Routers', deviceType: 'cisco-ios' })
      .then({
        topic: 'treeCreated',
        data: { name: 'Routers', deviceType: 'cisco-ios', root: { name: 'base', configId: 'id of root' } },
      });
    given()
      .when(create, { name: 'Routers' })
      .then({
        topic: 'treeCreated',
        data: { name: 'Routers', deviceType: null, root: { name: 'base', configId: 'id of root' } },
      });
  });

  it('gets further versions, copies of one that it has', () => {
    given(created)
      .when(addVersion, { name: 'v2' })
      .then({ topic: 'treeVersionAdded', data: { name: 'v2', base: 'initial', ids: { root: 'id of node root' } } });
    given(created, { topic: 'treeVersionAdded', data: { name: 'v2', base: 'initial' } })
      .when(addVersion, { name: 'v3', base: 'v2' })
      .then({ topic: 'treeVersionAdded', data: { name: 'v3', base: 'v2', ids: { root: 'id of node root' } } });
    given(created)
      .when(addVersion, { name: 'v2', base: 'v1' })
      .thenRefused('not_found', /\/base/);
    given(created)
      .when(addVersion, { name: 'initial' })
      .thenRefused('conflict', /\/name/);
    for (const name of ['export', 'versions'])
      given(created)
        .when(addVersion, { name })
        .thenRefused('invalid', /\/name/);
  });

  it('gets nodes below the root or another node of the version', () => {
    given(created)
      .when(addNode, { version: 'initial', name: 'Bonn' })
      .then({
        topic: 'treeNodeAdded',
        data: { version: 'initial', parent: 'root', name: 'Bonn', configId: 'id of node' },
      });
    given(created, child)
      .when(addNode, { version: 'initial', name: 'Rack 1', parent: 'bonn' })
      .then({
        topic: 'treeNodeAdded',
        data: { version: 'initial', parent: 'bonn', name: 'Rack 1', configId: 'id of node' },
      });
    given(created, child)
      .when(addNode, { version: 'initial', name: 'Bonn' })
      .thenRefused('conflict', /\/name/);
    given(created)
      .when(addNode, { version: 'initial', name: 'Bonn', parent: 'bonn' })
      .thenRefused('not_found', /\/parent/);
    given(created).when(addNode, { version: 'v9', name: 'Bonn' }).thenRefused('not_found', /v9/);
  });

  it('leaves other versions alone', () => {
    const copied = { topic: 'treeVersionAdded', data: { name: 'v2', base: 'initial' } } as const;
    given(created, copied, child)
      .when(addNode, { version: 'v2', name: 'Rack 1', parent: 'bonn' })
      .thenRefused('not_found');
    given(created, child, copied)
      .when(addNode, { version: 'v2', name: 'Rack 1', parent: 'bonn' })
      .then({
        topic: 'treeNodeAdded',
        data: { version: 'v2', parent: 'bonn', name: 'Rack 1', configId: 'id of node' },
      });
    given(created, copied, set)
      .when(deleteVariables, { version: 'v2', variables: { ntp: null } })
      .thenRefused('not_found');
  });

  it('is at most 16 levels deep, and has at most 1,000 nodes and 8 MiB of texts', () => {
    const levels = Array.from(
      { length: 15 },
      (_, i) =>
        ({
          topic: 'treeNodeAdded',
          data: { version: 'initial', parent: i === 0 ? 'root' : `n${i - 1}`, name: 'n', configId: `n${i}` },
        }) as const,
    );
    given(created, ...levels)
      .when(addNode, { version: 'initial', name: 'n', parent: 'n14' })
      .thenRefused('invalid', /16/);
    given(created, ...levels.slice(0, -1))
      .when(addNode, { version: 'initial', name: 'n', parent: 'n13' })
      .then({ topic: 'treeNodeAdded', data: { version: 'initial', parent: 'n13', name: 'n', configId: 'id of node' } });
    const restored = (count: number) =>
      ({
        topic: 'treeRestored',
        data: {
          name: 'Wide',
          deviceType: null,
          versions: [
            {
              name: 'initial',
              root: {
                name: 'base',
                configId: 'root',
                children: Array.from({ length: count - 1 }, (_, i) => ({
                  name: `n${i}`,
                  configId: `n${i}`,
                  children: [],
                })),
              },
              variables: {},
            },
          ],
        },
      }) as const;
    given(restored(1000))
      .when(addNode, { version: 'initial', name: 'n' })
      .thenRefused('invalid', /1000 nodes/);
    given(restored(999))
      .when(addNode, { version: 'initial', name: 'n' })
      .then({
        topic: 'treeNodeAdded',
        data: { version: 'initial', parent: 'root', name: 'n', configId: 'id of node' },
      });
    const text = (configId: string, template: string) =>
      ({ topic: 'treeNodeTextSet', data: { version: 'initial', configId, template } }) as const;
    const texts = Array.from({ length: 128 }, (_, i) => text(`n${i}`, 'a'.repeat(65_536)));
    const setText = (configId: string) => ({ version: 'initial', node: { configId }, template: 'b' });
    given(restored(130), ...texts)
      .when(setNodeText, setText('n128'))
      .thenRefused('too_large', /8388608 bytes/);
    given(restored(130), ...texts)
      .when(setNodeText, setText('n127'))
      .then(text('n127', 'b'));
  });

  it('merges variables, and says only what is new', () => {
    given(created)
      .when(setVariables, { version: 'initial', variables: { ntp: '10.0.0.1', mtu: 1500 } })
      .then(set);
    given(created, set)
      .when(setVariables, { version: 'initial', variables: { ntp: '10.0.0.2', mtu: 1500 } })
      .then({ topic: 'treeVariablesSet', data: { version: 'initial', variables: { ntp: '10.0.0.2' } } });
    given(created, set)
      .when(setVariables, { version: 'initial', variables: { mtu: 1500 } })
      .thenNothing();
    given(created, set).when(setVariables, { version: 'initial', variables: {} }).thenNothing();
    given(created, set).when(setVariables, { version: 'v9', variables: {} }).thenRefused('not_found', /v9/);
  });

  it('deletes variables, all or none', () => {
    given(created, set)
      .when(deleteVariables, { version: 'initial', variables: { ntp: 'whatever' } })
      .then({ topic: 'treeVariablesDeleted', data: { version: 'initial', names: ['ntp'] } });
    given(created, set)
      .when(deleteVariables, { version: 'initial', variables: { ntp: 1, dns: 1, toString: 1 } })
      .thenRefused('not_found', /dns, toString/);
    given(created, set).when(deleteVariables, { version: 'initial', variables: {} }).thenNothing();
    given(created, set, { topic: 'treeVariablesDeleted', data: { version: 'initial', names: ['ntp'] } })
      .when(deleteVariables, { version: 'initial', variables: { ntp: 1 } })
      .thenRefused('not_found', /ntp/);
  });

  it('is taken in whole, ids and all, once', () => {
    const node = (digit: string, name: string, children: readonly object[] = []) => ({
      name,
      configId: digit.repeat(24),
      children,
    });
    const version = (name: string, root: object) => ({ name, root, variables: {} }) as TreeVersion;
    const versions = [version('initial', node('a', 'base')), version('v2', node('a', 'base', [node('b', 'Bonn')]))];
    const document = { _id: context.id, name: 'Routers', versions };
    const same = { $same: true };
    const imported = { _id: context.id, name: same, versions: same };
    const restored = {
      topic: 'treeRestored',
      data: { name: 'Routers', deviceType: null, versions, imported },
    } as const;
    const nobody = { nodeReferrers: [] };
    given().when(importOne, { tree: document }, nobody).then(restored);
    given(restored).when(importOne, { tree: document }, nobody).thenNothing();
    given(restored)
      .when(importOne, { tree: { name: 'Routers', versions } }, nobody)
      .thenNothing();
    given(restored)
      .when(importOne, { tree: { ...document, deviceType: 'ios' } }, nobody)
      .thenRefused('conflict', /_id/);
    given(restored)
      .when(importOne, { tree: { ...document, _id: 'c'.repeat(24) } }, nobody)
      .thenRefused('conflict', /name/);
    given(restored)
      .when(importOne, { tree: { ...document, deviceType: 'ios' }, overwrite: true }, nobody)
      .then({
        topic: 'treeRestored',
        data: { ...restored.data, deviceType: 'ios', imported: { ...imported, deviceType: same } },
      });
    const plan = (nodeId: string) => ({
      nodeReferrers: [{ kind: 'compliance plan', name: 'Nightly', version: 'v2', nodeId: nodeId.repeat(24) }],
    });
    const pruned = {
      tree: { ...document, versions: [versions[0]!, version('v2', node('a', 'base'))] },
      overwrite: true,
    };
    given(restored)
      .when(importOne, pruned, plan('b'))
      .thenRefused('conflict', /Nightly/);
    given(restored)
      .when(importOne, pruned, plan('a'))
      .then({ topic: 'treeRestored', data: { ...restored.data, versions: pruned.tree.versions } });

    const refused = (root: object, words: RegExp) =>
      given()
        .when(importOne, { tree: { ...document, versions: [version('initial', root)] } }, nobody)
        .thenRefused('invalid', words);
    refused(node('a', 'base', [node('a', 'x')]), /root\/children\/0\/configId/);
    refused(node('a', 'base', [{ name: 'x', children: [] }]), /root\/children\/0/);
    refused(
      Array.from({ length: 64 }, (_, i) => i.toString(16).padStart(24, '0')).reduce(
        (below: readonly object[], configId) => [{ name: 'n', configId, children: below }],
        [node('f', 'n')],
      )[0]!,
      /64/,
    );
    given()
      .when(importOne, { tree: { ...document, versions: [versions[0]!, versions[0]!] } }, nobody)
      .thenRefused('invalid', /versions\/1\/name/);
  });

  it('is deleted only when no plan refers to it', () => {
    given(created).when(remove, undefined, { referrers: [] }).then({ topic: 'treeDeleted', data: {} });
    given(created)
      .when(remove, undefined, {
        referrers: [
          { kind: 'compliance plan', name: 'Nightly' },
          { kind: 'compliance plan', name: 'Weekly' },
        ],
      })
      .thenRefused('conflict', /Nightly.*Weekly/);
  });
});
