import { create, plan, planDeletions, remove, update } from '../../../src/domain/configuration-manager/plans.ts';
import { specification } from '../../support/given.ts';

const given = specification(plan);

const everybody = { read: [], write: [] };

const content = { name: 'Nightly', description: '', status: 'draft', nodes: [], gbac: everybody } as const;

const created = { topic: 'planCreated', data: content } as const;

const trees = {
  t: {
    exists: true,
    name: 'Routers',
    deviceType: null,
    versions: [
      {
        name: 'initial',
        root: { name: 'base', configId: 'root', children: [{ name: 'Bonn', configId: 'bonn', children: [] }] },
        variables: {},
      },
    ],
  },
};

const known = { unknownGroups: [], trees };

const root = { treeId: 't', version: 'initial', nodeId: 'root' };

const bonn = { treeId: 't', version: 'initial', nodeId: 'bonn', devices: ['r1'] };

const withRoot = { topic: 'planNodesAdded', data: { nodes: [root] } } as const;

const active = { topic: 'planStatusSet', data: { status: 'active' } } as const;

describe('A compliance plan', () => {
  it('is created as a draft, with nodes and access lists if given', () => {
    given().when(create, { name: 'Nightly' }, known).then(created);
    given()
      .when(
        create,
        { name: 'Nightly', description: 'All sites', nodes: [root, bonn, root], gbac: { write: ['ops'] } },
        known,
      )
      .then({
        topic: 'planCreated',
        data: {
          name: 'Nightly',
          description: 'All sites',
          status: 'draft',
          nodes: [root, bonn],
          gbac: { read: [], write: ['ops'] },
        },
      });
  });

  it('changes each part only when present, each as its own event, in one go', () => {
    given(created).when(update, {}, known).thenNothing();
    given(created)
      .when(update, { name: 'Weekly' }, known)
      .then({ topic: 'planNamed', data: { name: 'Weekly' } });
    given(created)
      .when(
        update,
        { gbac: { write: ['ops'] }, status: 'active', nodes: [root], description: 'All', name: 'Weekly' },
        known,
      )
      .then(
        { topic: 'planNamed', data: { name: 'Weekly' } },
        { topic: 'planDescribed', data: { description: 'All' } },
        withRoot,
        active,
        { topic: 'planGbacSet', data: { gbac: { read: [], write: ['ops'] } } },
      );
  });

  it('says nothing of parts that are so already', () => {
    given(created, withRoot)
      .when(update, { name: 'Nightly', description: '', status: 'draft', nodes: [root], gbac: {} }, known)
      .thenNothing();
    given(created).when(update, { nodes: [] }, known).thenNothing();
  });

  it('adds nodes; one with the same tree, version and nodeId replaces the earlier one', () => {
    given(created, withRoot)
      .when(update, { nodes: [bonn, { ...root, tasks: ['check'] }] }, known)
      .then({ topic: 'planNodesAdded', data: { nodes: [{ ...root, tasks: ['check'] }, bonn] } });
    given(created, withRoot)
      .when(update, { nodes: [bonn, { ...bonn, devices: [] }] }, known)
      .then({ topic: 'planNodesAdded', data: { nodes: [{ ...bonn, devices: [] }] } });
  });

  it('refuses nodes of trees, versions and ids that are not there, naming all', () => {
    const nodes = [{ ...root, treeId: 'x' }, { ...root, version: 'v9' }, root, { ...root, nodeId: 'y' }];
    given(created)
      .when(update, { nodes }, known)
      .thenRefused('not_found', /nodes\/0\/treeId.*nodes\/1\/version.*nodes\/3\/nodeId/);
    given()
      .when(create, { name: 'Nightly', nodes }, known)
      .thenRefused('not_found', /\/nodes\/0\/treeId/);
    given()
      .when(
        create,
        { name: 'Nightly', nodes: [root] },
        { unknownGroups: [], trees: { t: { ...trees.t, exists: false } } },
      )
      .thenRefused('not_found', /treeId/);
  });

  it('becomes active only with a node, and a draft again always', () => {
    given(created)
      .when(update, { status: 'active' }, known)
      .thenRefused('conflict', /\/options\/status/);
    given(created, withRoot).when(update, { status: 'active' }, known).then(active);
    given(created)
      .when(update, { status: 'active', nodes: [root] }, known)
      .then(withRoot, active);
    given(created, withRoot, active)
      .when(update, { status: 'draft' }, known)
      .then({ topic: 'planStatusSet', data: { status: 'draft' } });
  });

  it('refuses unknown groups, and groups that may read where none may write', () => {
    given(created)
      .when(update, { gbac: { write: ['x', 'y'] } }, { ...known, unknownGroups: ['x', 'y'] })
      .thenRefused('not_found', /x, y/);
    given(created)
      .when(update, { gbac: { read: ['noc'] } }, known)
      .thenRefused('invalid', /\/options\/gbac\/write/);
    given()
      .when(create, { name: 'Nightly', gbac: { read: ['noc'] } }, known)
      .thenRefused('invalid', /\/gbac\/write/);
  });

  it('goes once', () => {
    given(created).when(remove, undefined).then({ topic: 'planDeleted', data: {} });
    given(created, { topic: 'planDeleted', data: {} }).when(remove, undefined).thenNothing();
  });
});

describe('The deletion of several plans', () => {
  const given = specification(planDeletions.of);
  it('names all plans that the actor may not change', () =>
    given()
      .when(planDeletions.decide, { planIds: ['a', 'b'] }, { missing: [], closed: ['b'], referrers: [] })
      .thenRefused('forbidden', /: b/));
});
