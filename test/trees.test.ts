import { addNode, addVersion, create, deleteVariables, remove, setVariables, tree } from '../src/domain/trees.ts';
import { specification } from './given.ts';

const given = specification(tree);
const created = { type: 'treeCreated', data: { name: 'Routers', deviceType: 'cisco-ios', root: { name: 'base', configId: 'root' } } } as const;
const set = { type: 'treeVariablesSet', data: { version: 'initial', variables: { ntp: '10.0.0.1', mtu: 1500 } } } as const;
const child = { type: 'treeNodeAdded', data: { version: 'initial', parent: 'root', name: 'Bonn', configId: 'bonn' } } as const;

describe('A golden configuration tree', () => {
  it('begins with the version initial: a root node, no variables', () => {
    given().when(create, { name: 'Routers', deviceType: 'cisco-ios' }).then({ type: 'treeCreated', data: { name: 'Routers', deviceType: 'cisco-ios', root: { name: 'base', configId: 'id of root' } } });
    given().when(create, { name: 'Routers' }).then({ type: 'treeCreated', data: { name: 'Routers', deviceType: null, root: { name: 'base', configId: 'id of root' } } });
  });

  it('gets further versions, copies of one that it has', () => {
    given(created).when(addVersion, { name: 'v2' }).then({ type: 'treeVersionAdded', data: { name: 'v2', base: 'initial' } });
    given(created, { type: 'treeVersionAdded', data: { name: 'v2', base: 'initial' } }).when(addVersion, { name: 'v3', base: 'v2' }).then({ type: 'treeVersionAdded', data: { name: 'v3', base: 'v2' } });
    given(created).when(addVersion, { name: 'v2', base: 'v1' }).thenRefused('not_found', /\/base/);
    given(created).when(addVersion, { name: 'initial' }).thenRefused('conflict', /\/name/);
  });

  it('gets nodes below the root or another node of the version', () => {
    given(created).when(addNode, { version: 'initial', name: 'Bonn' }).then({ type: 'treeNodeAdded', data: { version: 'initial', parent: 'root', name: 'Bonn', configId: 'id of node' } });
    given(created, child).when(addNode, { version: 'initial', name: 'Rack 1', parent: 'bonn' }).then({ type: 'treeNodeAdded', data: { version: 'initial', parent: 'bonn', name: 'Rack 1', configId: 'id of node' } });
    given(created, child).when(addNode, { version: 'initial', name: 'Bonn' }).thenRefused('conflict', /\/name/);
    given(created).when(addNode, { version: 'initial', name: 'Bonn', parent: 'bonn' }).thenRefused('not_found', /\/parent/);
    given(created).when(addNode, { version: 'v9', name: 'Bonn' }).thenRefused('not_found', /v9/);
  });

  it('leaves other versions alone', () => {
    const copied = { type: 'treeVersionAdded', data: { name: 'v2', base: 'initial' } } as const;
    given(created, copied, child).when(addNode, { version: 'v2', name: 'Rack 1', parent: 'bonn' }).thenRefused('not_found');
    given(created, child, copied).when(addNode, { version: 'v2', name: 'Rack 1', parent: 'bonn' }).then({ type: 'treeNodeAdded', data: { version: 'v2', parent: 'bonn', name: 'Rack 1', configId: 'id of node' } });
    given(created, copied, set).when(deleteVariables, { version: 'v2', variables: { ntp: null } }).thenRefused('not_found');
  });

  it('is at most 64 levels deep', () => {
    const levels = Array.from({ length: 63 }, (_, i) => ({ type: 'treeNodeAdded', data: { version: 'initial', parent: i === 0 ? 'root' : `n${i - 1}`, name: 'n', configId: `n${i}` } }) as const);
    given(created, ...levels).when(addNode, { version: 'initial', name: 'n', parent: 'n62' }).thenRefused('unprocessable', /64/);
    given(created, ...levels.slice(0, -1)).when(addNode, { version: 'initial', name: 'n', parent: 'n61' }).then({ type: 'treeNodeAdded', data: { version: 'initial', parent: 'n61', name: 'n', configId: 'id of node' } });
  });

  it('merges variables, and says only what is new', () => {
    given(created).when(setVariables, { version: 'initial', variables: { ntp: '10.0.0.1', mtu: 1500 } }).then(set);
    given(created, set).when(setVariables, { version: 'initial', variables: { ntp: '10.0.0.2', mtu: 1500 } }).then({ type: 'treeVariablesSet', data: { version: 'initial', variables: { ntp: '10.0.0.2' } } });
    given(created, set).when(setVariables, { version: 'initial', variables: { mtu: 1500 } }).thenNothing();
    given(created, set).when(setVariables, { version: 'initial', variables: {} }).thenNothing();
    given(created, set).when(setVariables, { version: 'v9', variables: {} }).thenRefused('not_found', /v9/);
  });

  it('deletes variables, all or none', () => {
    given(created, set).when(deleteVariables, { version: 'initial', variables: { ntp: 'whatever' } }).then({ type: 'treeVariablesDeleted', data: { version: 'initial', names: ['ntp'] } });
    given(created, set).when(deleteVariables, { version: 'initial', variables: { ntp: 1, dns: 1, toString: 1 } }).thenRefused('not_found', /dns, toString/);
    given(created, set).when(deleteVariables, { version: 'initial', variables: {} }).thenNothing();
    given(created, set, { type: 'treeVariablesDeleted', data: { version: 'initial', names: ['ntp'] } }).when(deleteVariables, { version: 'initial', variables: { ntp: 1 } }).thenRefused('not_found', /ntp/);
  });

  it('is deleted only when no plan refers to it', () => {
    given(created).when(remove, undefined, { referrers: [] }).then({ type: 'treeDeleted', data: {} });
    given(created).when(remove, undefined, { referrers: [{ kind: 'compliance plan', name: 'Nightly' }, { kind: 'compliance plan', name: 'Weekly' }] }).thenRefused('conflict', /Nightly.*Weekly/);
  });
});
