import type { Operations } from '@automation-platform/client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { html } from './html.ts';
import { Action, reasonAgainst, Section, Status, Table } from './parts.ts';
import { CallRefused, call, newKey, wordsOf } from './platform.ts';

export type Spec = Operations['configuration-manager.getConfigSpec']['answer'];

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

/** The text of a node of a golden configuration. The platform reads it while it is typed, and says which line is wrong, and why. */
export const NodeText = ({ place: where, spec, again }: TextProps) => {
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
