import type { Operations } from '@automation-platform/client';
import type { Members } from '@automation-platform/json';
import { useState } from 'preact/hooks';
import { deviceGroups as deviceGroupKind } from './deviceKinds.ts';
import { Editor, readVersion, type Version } from './edit.ts';
import { isOfTrees, NodeText } from './goldenText.ts';
import { html } from './html.ts';
import { useLoaded } from './loading.ts';
import { goTo, place } from './location.ts';
import { Action, descriptions, Link, type Listed, listQuery, rowsIn, Section, Shown, Table } from './parts.ts';
import { call, newKeyHeader, read } from './platform.ts';
import { firstRows, historyOf, idOf, type Kind, member, nameOf } from './resource.ts';

export type Tree = Operations['configuration-manager.getTree']['answer'];
export type TreeNode = {
  readonly name: string;
  readonly configId: string;
  readonly children: readonly TreeNode[];
  readonly devices?: readonly string[];
  readonly deviceGroups?: readonly string[];
};

const at = ['compliance', 'trees'];

type NodesProps = {
  readonly node: TreeNode;
  readonly path: string;
  readonly base: readonly string[];
  readonly current: string;
};

const Nodes = ({ node, path, base, current }: NodesProps) => html`<li>
  <${Link} to=${[...base, path]} isHere=${path === current}>${node.name}</${Link}>
  ${(node.devices?.length ?? 0) > 0 && html` <span class="quiet">${node.devices?.length} devices</span>`}
  ${node.children.length > 0 && html`<ul>${node.children.map((child) => html`<${Nodes} key=${child.name} node=${child} path=${`${path}/${child.name}`} base=${base} current=${current} />`)}</ul>`}
</li>`;

type Placed = { readonly path: string; readonly node: TreeNode };

/** The node and all below it, with their paths. */
export const nodesOf = (node: TreeNode, above = ''): readonly Placed[] => {
  const path = above === '' ? node.name : `${above}/${node.name}`;
  return [{ path, node }, ...node.children.flatMap((child) => nodesOf(child, path))];
};

type AddProps = {
  readonly label: string;
  readonly button: string;
  readonly operation: keyof Operations;
  readonly does: (text: string) => Promise<unknown>;
};

/** A field and a button that adds what is typed. */
const Add = ({ label, button, operation, does }: AddProps) => {
  const [text, setText] = useState('');
  const add = async (): Promise<void> => {
    await does(text);
    setText('');
  };
  const type = ({ currentTarget }: { readonly currentTarget: HTMLInputElement }): void => setText(currentTarget.value);
  return html`<div class="tools"><label>${label} <input type="text" autocomplete="off" value=${text} onInput=${type} /></label>
    <${Action} label=${button} disabled=${text.trim() === ''} operation=${operation} does=${add} /></div>`;
};

type NodeProps = { readonly tree: Tree; readonly version: string; readonly placed: Placed };

const DevicesOf = ({ tree: { _id: id }, version, placed: { path: nodePath, node } }: NodeProps) => {
  const path = { id, version, nodePath };
  const add = (device: string) =>
    call('configuration-manager.addTreeNodeDevices', { path, headers: newKeyHeader(), body: { devices: [device] } });
  const remove = (device: string) => () =>
    call('configuration-manager.removeTreeNodeDevices', { path, headers: newKeyHeader(), body: { devices: [device] } });
  const { devices = [], deviceGroups = [] } = node;
  const withGroup = (group: string) => ({
    headers: newKeyHeader(),
    body: { treeId: id, version, nodePath, deviceGroups: [group] },
  });
  const addGroup = (group: string) => call('configuration-manager.addTreeNodeGroups', withGroup(group));
  const removeGroup = (group: string) => () => call('configuration-manager.removeTreeNodeGroups', withGroup(group));
  const groups = useLoaded(
    async () => (deviceGroups.length > 0 ? firstRows(deviceGroupKind) : []),
    [deviceGroups.join()],
  );
  const nameOfGroup = (group: string): string => groups.value?.find(({ id }) => id === group)?.name ?? group;
  return html`<${Section} title="Devices of the node">
    <${Table} label="Devices of the node" rows=${devices} keyOf=${(name: string) => name} empty=${deviceGroups.length > 0 ? 'The node has its devices by groups alone.' : 'No device is checked against this node.'}
      columns=${[
        {
          title: 'Device',
          kind: 'wide',
          cell: (name: string) => html`<${Link} to=${['devices', name]}>${name}</${Link}>`,
        },
        {
          title: 'Change',
          cell: (name: string) =>
            html`<${Action} label="Remove" about=${`Removes ${name}`} operation="configuration-manager.removeTreeNodeDevices" does=${remove(name)} />`,
        },
      ]} />
    <${Add} label="Device" button="Add device" operation="configuration-manager.addTreeNodeDevices" does=${add} />
    ${
      deviceGroups.length > 0 &&
      html`<${Table} label="Device groups of the node" rows=${deviceGroups} keyOf=${(group: string) => group}
      columns=${[
        {
          title: 'Device group',
          kind: 'wide',
          cell: (group: string) =>
            html`<${Link} to=${['devices', '-', 'groups', group]}>${nameOfGroup(group)}</${Link}>`,
        },
        {
          title: 'Change',
          cell: (group: string) =>
            html`<${Action} label="Remove" about=${`Removes ${nameOfGroup(group)}`} operation="configuration-manager.removeTreeNodeGroups" does=${removeGroup(group)} />`,
        },
      ]} />`
    }
    <${Add} label="Device group" button="Add device group" operation="configuration-manager.addTreeNodeGroups" does=${addGroup} />
  </${Section}>`;
};

const variablesSchema: Members = {
  type: 'object',
  properties: {
    variables: {
      type: 'json',
      title: 'Variables',
      description: 'As JSON, such as {"site": "Bonn"}. Texts of all nodes may name them. ******** keeps a secret.',
    },
  },
};

type VariablesProps = { readonly id: string; readonly version: string };

/** The variables of a version of a golden configuration. */
const Variables = ({ id, version }: VariablesProps) => {
  const path = { id, version };
  const reload = () => readVersion('configuration-manager.getTreeVersion', { path });
  const loaded = useLoaded(reload, [id, version], { when: isOfTrees });
  const send = ({ variables }: Members, headers: object) =>
    call('configuration-manager.updateTreeVersion', {
      path,
      headers,
      body: { variables: (variables ?? {}) as Members },
    });
  return html`<${Section} title="Variables of the version"><${Shown} loaded=${loaded}>${(
    one: Version,
  ) => html`<${Editor} label=${`Variables of ${version}`} schema=${variablesSchema} version=${one}
    operation="configuration-manager.updateTreeVersion" send=${send} reload=${reload} saved=${loaded.again} says="The variables are saved." />`}</${Shown}></${Section}>`;
};

const OneNode = ({ tree, version, placed }: NodeProps) => {
  const { path: nodePath, node } = placed;
  const path = { id: tree._id, version, nodePath };
  const isRoot = !nodePath.includes('/');
  const remove = async (): Promise<void> => {
    await call('configuration-manager.deleteTreeNode', { path, headers: newKeyHeader() });
    goTo([...at, tree._id, version]);
  };
  return html`<div class="title"><h3>${nodePath}</h3>
      ${!isRoot && html`<span class="actions"><${Action} label="Delete node" kind="grave" operation="configuration-manager.deleteTreeNode" does=${remove} says="The node is deleted." /></span>`}</div>
    <${NodeText} where=${{ treeId: tree._id, treeVersion: version, nodePath }} configId=${node.configId} />
    <${DevicesOf} tree=${tree} version=${version} placed=${placed} />`;
};

const TreeParts = ({ row: tree }: { readonly row: Tree }) => {
  const { _id: id, versions } = tree;
  const [, , , version = versions[0]?.name ?? '', path] = place.value.path;
  const root = versions.find(({ name }) => name === version)?.root as TreeNode | undefined;
  const placed = root && nodesOf(root).find((one) => one.path === (path ?? root.name));
  const addVersion = async (name: string): Promise<void> => {
    const body = { name, ...(root && { base: version }) };
    await call('configuration-manager.createTreeVersion', { path: { id }, headers: newKeyHeader(), body });
    goTo([...at, id, name]);
  };
  const removeVersion = async (): Promise<void> => {
    await call('configuration-manager.deleteTreeVersion', { path: { id, version }, headers: newKeyHeader() });
    goTo([...at, id]);
  };
  const addNode = (name: string) =>
    call('configuration-manager.addTreeChild', {
      path: { id, version, nodePath: placed?.path ?? '' },
      headers: newKeyHeader(),
      body: { name },
    });
  return html`<div class="line">Versions: ${versions.map(({ name }) => html`<${Link} key=${name} to=${[...at, id, name]} isHere=${name === version}>${name}</${Link}>`)}
      ${root && html`<${Action} label="Delete version" about=${`Deletes the version ${version}`} kind="grave" operation="configuration-manager.deleteTreeVersion" does=${removeVersion} says="The version is deleted." />`}</div>
    <${Add} label=${root ? `A version after ${version}` : 'A version'} button="Add version" operation="configuration-manager.createTreeVersion" does=${addVersion} />
    ${
      root === undefined
        ? html`<p class="empty">The tree has no such version.</p>`
        : html`<div class="beside"><${Section} title="Nodes"><ul class="tree"><${Nodes} node=${root} path=${root.name} base=${[...at, id, version]} current=${path ?? root.name} /></ul>
            ${placed && html`<${Add} label=${`A node below ${placed.node.name}`} button="Add node" operation="configuration-manager.addTreeChild" does=${addNode} />`}</${Section}>
          <div class="stack">${placed ? html`<${OneNode} key=${placed.node.configId} tree=${tree} version=${version} placed=${placed} />` : html`<p class="empty">The tree has no such node.</p>`}
            <${Variables} key=${version} id=${id} version=${version} /></div></div>`
    }`;
};

/** Golden configurations: their versions and nodes, and the texts of these. */
export const trees: Kind<Tree> = {
  at,
  title: 'Golden configurations',
  one: 'golden configuration',
  empty: 'There is no golden configuration.',
  idOf,
  nameOf,
  columns: [
    { title: 'Device type', cell: ({ deviceType }) => deviceType },
    { title: 'Versions', cell: ({ versions }) => versions.map(({ name }) => name).join(', ') },
    descriptions,
  ],
  when: isOfTrees,
  reads: 'configuration-manager.getTrees',
  list: async (page, filter) =>
    rowsIn((await read('configuration-manager.getTrees', { query: listQuery(page, filter) })) as Listed<Tree>),
  get: (id) => readVersion('configuration-manager.getTree', { path: { id } }),
  schema: async () => ({
    type: 'object',
    required: ['name'],
    properties: {
      name: member.text('Name'),
      deviceType: member.text('Device type', { type: ['string', 'null'], examples: ['cisco-ios', 'juniper-junos'] }),
      description: member.text('Description'),
    },
  }),
  create: {
    by: 'configuration-manager.createTree',
    does: async (members, headers) =>
      (await call('configuration-manager.createTree', { headers, body: members as { readonly name: string } })).body
        ._id,
  },
  update: {
    by: 'configuration-manager.updateTree',
    does: (id, body, headers) => call('configuration-manager.updateTree', { path: { id }, headers, body }),
  },
  remove: {
    by: 'configuration-manager.deleteTree',
    does: (id) => call('configuration-manager.deleteTree', { path: { id } }),
  },
  facts: ({ _id, deviceType, description }) => [
    ['Device type', deviceType],
    ['Description', description],
    historyOf('tree', _id),
  ],
  Parts: TreeParts,
};
