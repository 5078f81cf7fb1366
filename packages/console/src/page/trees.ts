import type { Operations } from '@automation-platform/client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { html } from './html.ts';
import { useLoaded } from './loading.ts';
import { place } from './location.ts';
import {
  Action,
  descriptions,
  Facts,
  Link,
  List,
  type Listed,
  listQuery,
  reasonAgainst,
  rowsIn,
  Section,
  Shown,
  Status,
  Table,
} from './parts.ts';
import { CallRefused, call, may, newKey, read, wordsOf } from './platform.ts';

type Tree = Operations['configuration-manager.getTree']['answer'];
type Node = {
  readonly name: string;
  readonly configId: string;
  readonly children: readonly Node[];
  readonly devices?: readonly string[];
  readonly deviceGroups?: readonly string[];
};
type Spec = Operations['configuration-manager.getConfigSpec']['answer'];

const isOfTrees = ({ resource }: { readonly resource: { readonly kind: string } | null }): boolean =>
  /tree|golden/i.test(resource?.kind ?? '');

const at = ['compliance', 'trees'];

const TreeList = () => {
  const loaded = useLoaded(
    async () => rowsIn((await read('configuration-manager.getTrees', { query: listQuery() })) as Listed<Tree>),
    [JSON.stringify(place.value.query)],
    { when: isOfTrees },
  );
  return html`<${List} label="Golden configurations" loaded=${loaded} keyOf=${(tree: Tree) => tree._id} empty="There is no golden configuration."
    columns=${[
      {
        title: 'Tree',
        kind: 'wide',
        sort: 'name',
        cell: (tree: Tree) =>
          html`<${Link} to=${[...at, tree._id, tree.versions[0]?.name ?? '']}>${tree.name}</${Link}>`,
      },
      { title: 'Device type', cell: (tree: Tree) => tree.deviceType },
      { title: 'Versions', cell: (tree: Tree) => tree.versions.map(({ name }) => name).join(', ') },
      descriptions,
    ]} />`;
};

type NodesProps = {
  readonly node: Node;
  readonly path: string;
  readonly base: readonly string[];
  readonly current: string;
};

const Nodes = ({ node, path, base, current }: NodesProps) => html`<li>
  <${Link} to=${[...base, path]} isHere=${path === current}>${node.name}</${Link}>
  ${(node.devices?.length ?? 0) > 0 && html` <span class="quiet">${node.devices?.length} devices</span>`}
  ${node.children.length > 0 && html`<ul>${node.children.map((child) => html`<${Nodes} key=${child.name} node=${child} path=${`${path}/${child.name}`} base=${base} current=${current} />`)}</ul>`}
</li>`;

const nodeAt = (root: Node, path: string): Node | undefined => {
  if (path === root.name) return root;
  const rest = path.startsWith(`${root.name}/`) ? path.slice(root.name.length + 1) : undefined;
  if (rest === undefined) return undefined;
  for (const child of root.children) {
    const found = nodeAt(child, rest);
    if (found) return found;
  }
  return undefined;
};

type Fault = { readonly line: number | undefined; readonly reason: string };

const faultOf = (error: unknown): Fault => {
  const [first] =
    error instanceof CallRefused
      ? (error.errors as readonly { readonly line?: number; readonly message: string }[])
      : [];
  return { line: first?.line, reason: first?.message ?? wordsOf(error) };
};

const pauseMs = 400;
const save = 'configuration-manager.updateNodeConfig';

type TextProps = {
  readonly place: { readonly treeId: string; readonly treeVersion: string; readonly nodePath: string };
  readonly spec: Spec;
  readonly again: () => void;
};

/** The text of a node. The platform reads it while it is typed, and says which line is wrong, and why. */
const NodeText = ({ place: where, spec, again }: TextProps) => {
  const [text, setText] = useState(spec.template);
  const [fault, setFault] = useState<Fault | undefined>(spec.fault);
  const key = useRef(newKey());
  const area = useRef<HTMLTextAreaElement>(null);
  const isChanged = text !== spec.template;
  const reason = reasonAgainst(save);
  const send = (dryRun: boolean) =>
    call(save, {
      ...(!dryRun && { headers: { 'Idempotency-Key': key.current } }),
      body: { ...where, data: { template: text, variables: {} }, updateVariables: false, dryRun },
    });
  useEffect(() => {
    if (!isChanged || reason !== undefined) return;
    let isOver = false;
    const timer = setTimeout(() => {
      send(true).then(
        ({ body }) => isOver || setFault(body.fault),
        (error: unknown) => isOver || setFault(faultOf(error)),
      );
    }, pauseMs);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [text]);
  const type = ({ currentTarget }: { readonly currentTarget: HTMLTextAreaElement }): void => {
    key.current = newKey();
    setText(currentTarget.value);
  };
  const goToLine = (): void => {
    const lines = text.split('\n');
    const start = lines.slice(0, (fault?.line ?? 1) - 1).reduce((sum, line) => sum + line.length + 1, 0);
    area.current?.focus();
    area.current?.setSelectionRange(start, start + (lines[(fault?.line ?? 1) - 1]?.length ?? 0));
  };
  return html`<${Section} title="Text">
    <label class="field">Golden lines<textarea ref=${area} class="code" rows="14" spellcheck="false" aria-invalid=${fault ? 'true' : undefined} disabled=${reason !== undefined} value=${text} onInput=${type}></textarea></label>
    <div role="status">${fault && html`<p class="fault">${fault.line === undefined ? '' : `Line ${fault.line}: `}${fault.reason} ${fault.line !== undefined && html`<button type="button" onClick=${goToLine}>Go to the line</button>`}</p>`}</div>
    <div class="actions"><${Action} label="Save" kind="main" operation=${save} disabled=${!isChanged} says="The text is saved." does=${async () => {
      await send(false);
      again();
    }} />${isChanged && html`<span class="quiet">not saved</span>`}</div>
  </${Section}>
  <${Section} title="Lines"><${Table} label="Lines" rows=${linesOf(spec.lines ?? [])} keyOf=${({ key }: ShownLine) => key} empty="The text has no lines that can be read."
    columns=${[
      {
        title: 'Line',
        kind: 'wide',
        cell: ({ text, depth }: ShownLine) => html`<code class="code words">${' '.repeat(depth * 2)}${text}</code>`,
      },
      { title: 'Rule', cell: ({ line }: ShownLine) => html`<${Status} word=${line.evalMode} />` },
      { title: 'Severity', cell: ({ line }: ShownLine) => html`<${Status} word=${line.severity} />` },
    ]} /></${Section}>`;
};

type Line = NonNullable<Spec['lines']>[number];
type ShownLine = { readonly key: string; readonly text: string; readonly depth: number; readonly line: Line };

const linesOf = (lines: readonly Line[], depth = 0, at = ''): readonly ShownLine[] =>
  lines.flatMap((line, i) => [
    { key: `${at}/${i}`, text: line.words.map(({ value }) => value).join(' '), depth, line },
    ...linesOf(line.lines as readonly Line[], depth + 1, `${at}/${i}`),
  ]);

const OneNode = ({ tree, version, path }: { readonly tree: Tree; readonly version: string; readonly path: string }) => {
  const root = tree.versions.find(({ name }) => name === version)?.root as Node;
  const node = nodeAt(root, path);
  const loaded = useLoaded(
    async () => node && (await call('configuration-manager.getConfigSpec', { path: { configId: node.configId } })).body,
    [node?.configId],
    { when: isOfTrees },
  );
  if (!node) return html`<p class="empty">The tree has no such node.</p>`;
  return html`<div class="title"><h3>${path}</h3></div>
    <${Facts} facts=${[
      [
        'Devices',
        node.devices?.map((name, i) => html`${i > 0 ? ', ' : ''}<${Link} to=${['devices', name]}>${name}</${Link}>`),
      ],
      ['Device groups', node.deviceGroups?.length],
    ]} />
    <${Shown} loaded=${loaded}>${(spec: Spec) => html`<${NodeText} key=${`${path} ${spec.template}`} place=${{ treeId: tree._id, treeVersion: version, nodePath: path }} spec=${spec} again=${loaded.again} />`}</${Shown}>`;
};

const OneTree = ({ id }: { readonly id: string }) => {
  const [, , , version = '', path] = place.value.path;
  const loaded = useLoaded(() => read('configuration-manager.getTree', { path: { id } }), [id], { when: isOfTrees });
  return html`<p class="crumbs"><${Link} to=${at}>All golden configurations</${Link}></p>
    <${Shown} loaded=${loaded}>${(tree: Tree) => {
      const root = tree.versions.find(({ name }) => name === version)?.root as Node | undefined;
      return html`<div class="title"><h2>${tree.name}</h2><span class="quiet">${tree.deviceType}</span></div>
        <p>${tree.description}</p>
        <div class="line" >Versions: ${tree.versions.map(({ name }) => html`<${Link} key=${name} to=${[...at, id, name]} isHere=${name === version}>${name}</${Link}>`)}</div>
        ${
          root === undefined
            ? html`<p class="empty">The tree has no such version.</p>`
            : html`<div class="beside"><${Section} title="Nodes"><ul class="tree"><${Nodes} node=${root} path=${root.name} base=${[...at, id, version]} current=${path ?? root.name} /></ul></${Section}>
              <div class="stack"><${OneNode} tree=${tree} version=${version} path=${path ?? root.name} /></div></div>`
        }`;
    }}</${Shown}>`;
};

/** Golden configurations: their nodes and the texts of these. */
export const Trees = () => {
  const [, , id] = place.value.path;
  if (!may('configuration-manager.getTrees'))
    return html`<p class="empty">Your roles do not allow you to see golden configurations.</p>`;
  return id === undefined ? html`<${TreeList} />` : html`<${OneTree} id=${id} />`;
};
