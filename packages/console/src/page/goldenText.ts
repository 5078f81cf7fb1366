import type { Operations } from '@automation-platform/client';
import type { Members } from '@automation-platform/json';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Editor, readVersion, type Version } from './edit.ts';
import { html, textOf } from './html.ts';
import { useLoaded } from './loading.ts';
import { reasonAgainst, Section, Shown, Status, Table } from './parts.ts';
import { CallRefused, call, read, wordsOf } from './platform.ts';

type Spec = Operations['configuration-manager.getConfigSpec']['answer'];

/** Events after which what golden configurations show is stale. */
export const isOfTrees = ({ resource }: { readonly resource: { readonly kind: string } | null }): boolean =>
  /tree|golden/i.test(resource?.kind ?? '');

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

/** A node of a version of a golden configuration, as the platform names it. */
export type NodePlace = { readonly treeId: string; readonly treeVersion: string; readonly nodePath: string };

const schema: Members = {
  type: 'object',
  properties: { template: { type: 'string', title: 'Golden lines', format: 'code' } },
};

type Sending = { readonly headers?: Readonly<Record<string, string>>; readonly dryRun?: boolean };

const sendText = (where: NodePlace, template: string, { headers = {}, dryRun = false }: Sending) =>
  call(save, {
    headers,
    body: { ...where, data: { template, variables: {} }, updateVariables: false, dryRun },
  });

type CheckProps = { readonly where: NodePlace; readonly spec: Spec; readonly text: string };

/** The fault of a text, which the platform reads while it is typed. */
const Check = ({ where, spec, text }: CheckProps) => {
  const [fault, setFault] = useState<Fault | undefined>(spec.fault);
  const place = useRef<HTMLDivElement>(null);
  const isChanged = text !== spec.template;
  useEffect(() => {
    if (!isChanged) return setFault(spec.fault);
    if (reasonAgainst(save) !== undefined) return;
    let isOver = false;
    const timer = setTimeout(() => {
      sendText(where, text, { dryRun: true }).then(
        ({ body }) => isOver || setFault(body.fault),
        (error: unknown) => isOver || setFault(faultOf(error)),
      );
    }, pauseMs);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [text, spec]);
  const goToLine = (): void => {
    const lines = text.split('\n');
    const start = lines.slice(0, (fault?.line ?? 1) - 1).reduce((sum, line) => sum + line.length + 1, 0);
    const area = place.current?.closest('form')?.querySelector('textarea');
    area?.focus();
    area?.setSelectionRange(start, start + (lines[(fault?.line ?? 1) - 1]?.length ?? 0));
  };
  return html`<div role="status" ref=${place}>${fault && html`<p class="fault">${fault.line === undefined ? '' : `Line ${fault.line}: `}${fault.reason} ${fault.line !== undefined && html`<button type="button" onClick=${goToLine}>Go to the line</button>`}</p>`}
    ${isChanged && html`<span class="quiet">not saved</span>`}</div>`;
};

/** The text of a node with the revision of its tree, which is read first: a change in between is 412. */
const readText = async ({ treeId, treeVersion }: NodePlace, configId: string): Promise<Version> => {
  const path = { id: treeId, version: treeVersion };
  const { revision } = await readVersion('configuration-manager.getTreeVersion', { path });
  return { item: await read('configuration-manager.getConfigSpec', { path: { configId } }), revision };
};

type TextProps = { readonly where: NodePlace; readonly configId: string };

/** The text of a node of a golden configuration, and its lines. */
export const NodeText = ({ where, configId }: TextProps) => {
  const reload = () => readText(where, configId);
  const loaded = useLoaded(reload, [configId], { when: isOfTrees });
  const send = ({ template }: Members, headers: Sending['headers']) =>
    sendText(where, textOf(template), { headers: headers ?? {} });
  return html`<${Shown} loaded=${loaded}>${(version: Version) => {
    const spec = version.item as unknown as Spec;
    return html`<${Section} title="Text">
      <${Editor} label=${`Text of ${where.nodePath} of ${where.treeVersion}`} schema=${schema} version=${version} operation=${save} send=${send}
        reload=${reload} saved=${loaded.again} says="The text is saved." prefixes=${['/data']}
        below=${({ template }: Members) => html`<${Check} where=${where} spec=${spec} text=${textOf(template)} />`} />
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
  }}</${Shown}>`;
};

type Line = NonNullable<Spec['lines']>[number];
type ShownLine = { readonly key: string; readonly text: string; readonly depth: number; readonly line: Line };

const linesOf = (lines: readonly Line[], depth = 0, at = ''): readonly ShownLine[] =>
  lines.flatMap((line, i) => [
    { key: `${at}/${i}`, text: line.words.map(({ value }) => value).join(' '), depth, line },
    ...linesOf(line.lines as readonly Line[], depth + 1, `${at}/${i}`),
  ]);
