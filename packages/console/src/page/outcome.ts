import { isObject } from '@automation-platform/json';
import { ChangedLines } from './difference.ts';
import { html, textOf } from './html.ts';
import { codeOf, Json } from './parts.ts';

type Verdict = { readonly words: string; readonly isSure: boolean; readonly lines: readonly string[] };

const linesIn = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(textOf) : []);

/** The sense of the answer to a change. A controller answers as it likes: its words are no proof of anything. */
const verdictOf = (answer: unknown): Verdict => {
  const { status, verified, unrecognized, warnings, message, diff, predicted } = isObject(answer) ? answer : {};
  const lines = [
    ...linesIn(unrecognized).map((line) => `Not understood by the platform: ${line}`),
    ...linesIn(warnings),
  ];
  const verdict = (words: string, isSure = false): Verdict => ({ words, isSure, lines });
  if (status === 'dryRun') {
    if (diff === '') return verdict('Nothing would change.', lines.length === 0);
    const by = predicted === false ? 'As the device says' : 'As predicted';
    return verdict(`${by}, this would change. Nothing was sent that lasts.`, lines.length === 0);
  }
  if (status === 'unverified') return verdict('Nobody knows if the device took the whole configuration.');
  if (status !== 'success') return verdict(`The answer does not say that the device took it. ${textOf(message)}`);
  if (verified === true)
    return verdict('The device took the configuration and shows every line of it.', lines.length === 0);
  if (verified === false) return verdict('The device accepted the configuration but does not show every line of it.');
  return verdict('The device accepted the configuration. It was not verified.', lines.length === 0);
};

/** The outcome of a change or of its dry run, as the answer has it. */
export const Outcome = ({ answer }: { readonly answer: unknown }) => {
  const { words, isSure, lines } = verdictOf(answer);
  const { diff } = isObject(answer) ? answer : {};
  return html`<div class="outcome ${isSure ? 'good' : 'wait'}" role=${isSure ? 'status' : 'alert'}><strong>${words}</strong>
      ${lines.length > 0 && html`<ul>${lines.map((line, i) => html`<li key=${i}>${codeOf(line)}</li>`)}</ul>`}</div>
    ${typeof diff === 'string' && diff !== '' && html`<${ChangedLines} diff=${diff} label="Changed lines" />`}
    <details><summary>The whole answer</summary><${Json} value=${answer} label="Answer of the device" /></details>`;
};
