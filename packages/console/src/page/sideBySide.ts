import { useState } from 'preact/hooks';
import { html } from './html.ts';

/** A part of two texts: 0 of both, -1 of the first alone, 1 of the second alone. */
export type Part = readonly [op: number, text: string];

type Side = { readonly number: number; readonly text: string };
type Row = { readonly first: Side | undefined; readonly second: Side | undefined; readonly isSame: boolean };

const linesOf = (text: string): readonly string[] => (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');

/** Lines side by side: what was taken away stands beside what came in its place. */
const rowsOf = (parts: readonly Part[]): readonly Row[] => {
  const rows: Row[] = [];
  const removed: Side[] = [];
  const added: Side[] = [];
  let first = 0;
  let second = 0;
  const flush = (): void => {
    for (let i = 0; i < Math.max(removed.length, added.length); i++)
      rows.push({ first: removed[i], second: added[i], isSame: false });
    removed.length = 0;
    added.length = 0;
  };
  for (const [op, text] of parts) {
    if (op === 0) flush();
    for (const line of linesOf(text)) {
      if (op === -1) removed.push({ number: ++first, text: line });
      else if (op === 1) added.push({ number: ++second, text: line });
      else
        rows.push({ first: { number: ++first, text: line }, second: { number: ++second, text: line }, isSame: true });
    }
  }
  flush();
  return rows;
};

const around = 3;

/** The rows near a difference. */
const near = (rows: readonly Row[]): readonly boolean[] => {
  const isNear = rows.map(() => false);
  rows.forEach(({ isSame }, i) => {
    if (!isSame) isNear.fill(true, Math.max(0, i - around), i + around + 1);
  });
  return isNear;
};

const Cell = ({ side, kind }: { readonly side: Side | undefined; readonly kind: string }) =>
  html`<td class="line-number">${side?.number}</td><td class=${`text ${side ? kind : 'none'}`}>${kind !== '' && side && html`<span class="sign">${kind === 'removed' ? '-' : '+'}</span>`}${side?.text}</td>`;

type Props = { readonly parts: readonly Part[]; readonly titles: readonly [first: string, second: string] };

/** Two texts side by side, by their lines. */
export const SideBySide = ({ parts, titles }: Props) => {
  const [isWhole, setWhole] = useState(false);
  const rows = rowsOf(parts);
  const isNear = near(rows);
  const count = rows.filter(({ isSame }) => !isSame).length;
  if (count === 0) return html`<p class="empty" role="status">Both are the same.</p>`;
  return html`<div class="tools"><span role="status">${count === 1 ? '1 line differs' : `${count.toLocaleString('en')} lines differ`}</span>
      <button type="button" onClick=${() => setWhole(!isWhole)}>${isWhole ? 'Show the differences alone' : 'Show all lines'}</button></div>
    <div class="scroll" role="group" tabindex="0" aria-label="Differences"><table class="sides">
      <colgroup><col class="n" /><col /><col class="n" /><col /></colgroup>
      <thead><tr><th scope="col" colspan="2">${titles[0]}</th><th scope="col" colspan="2">${titles[1]}</th></tr></thead>
      <tbody>${rows.map((row, i) => {
        if (!isWhole && !isNear[i])
          return i > 0 && !isNear[i - 1]
            ? null
            : html`<tr key=${i} class="gap"><td colspan="4">lines that are the same</td></tr>`;
        return html`<tr key=${i}><${Cell} side=${row.first} kind=${row.isSame ? '' : 'removed'} /><${Cell} side=${row.second} kind=${row.isSame ? '' : 'added'} /></tr>`;
      })}</tbody></table></div>`;
};
