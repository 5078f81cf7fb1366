import { isObject, type PatchedMember } from '@automation-platform/json';
import { html, textOf } from './html.ts';
import { codeOf, Json, Table } from './parts.ts';

const sideOf = (value: unknown, kind: 'removed' | 'added') =>
  textOf(value) !== '' &&
  html`<code class="code words side ${kind}">${isObject(value) || Array.isArray(value) ? JSON.stringify(value, null, 1) : textOf(value)}</code>`;

type Side = 'before' | 'after';

/** Changes of a document, a member each, before and after. A side on which there is nothing is left out. */
export const Difference = ({ members }: { readonly members: readonly PatchedMember[] }) => {
  const sides = (['before', 'after'] as const).filter((side) => members.some((row) => textOf(row[side]) !== ''));
  const titles: Readonly<Record<Side, string>> = { before: 'Before', after: 'After' };
  return html`<${Table} label="Differences" rows=${members.map((row, i) => ({ ...row, i }))} keyOf=${({ i }: { readonly i: number }) => String(i)} empty="Nothing differs."
    columns=${[
      { title: 'Member', cell: ({ path }: PatchedMember) => codeOf(path.slice(1) || 'the whole') },
      ...sides.map((side) => ({
        title: titles[side],
        kind: 'wide',
        cell: (row: PatchedMember) => sideOf(row[side], side === 'before' ? 'removed' : 'added'),
      })),
    ]} />`;
};

const kindOfLine = (line: string): string => {
  if (/^\+(?!\+\+ )/.test(line)) return 'added';
  return /^-(?!-- )/.test(line) ? 'removed' : '';
};

const mostLines = 1000;

/** Lines that differ, as `diff -u` shows them. */
export const ChangedLines = ({ diff, label }: { readonly diff: string; readonly label: string }) => {
  const lines = diff.trimEnd().split('\n');
  if (lines.length > mostLines) return html`<${Json} value=${diff} label=${label} />`;
  return html`<pre class="lines" tabindex="0" role="group" aria-label=${label}>${lines.map((line, n) => html`<span key=${n} class=${kindOfLine(line)}>${line}</span>`)}</pre>`;
};
