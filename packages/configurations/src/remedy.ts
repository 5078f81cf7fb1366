import type { Comparison } from './compare.ts';
import { deviceTypeOf } from './deviceTypes.ts';
import { type Written, writeLines } from './writeLines.ts';

/** A line to send below its parents, or one that a person must see to. `why` is a sentence. */
type Proposed = { readonly parents: readonly string[]; readonly line: string; readonly why: string };

/** `config`: all lines as the device takes them. `byHand`: what no line can be proposed for. */
export type Remedy = {
  readonly config: string;
  readonly lines: readonly Proposed[];
  readonly byHand: readonly Proposed[];
};

type Issue = Comparison['issues'][number];
type Change = Proposed & { readonly adds: boolean };

const mask = '********';

/** Why nothing can be proposed for an issue; undefined: something can. */
const whyByHand = ({ type, parents, spec, found }: Issue, deviceType: string): string | undefined => {
  const { form, negation } = deviceTypeOf(deviceType);
  const line = type === 'disallowed' ? (found ?? '') : spec.words.map(({ value }) => value).join(' ');
  const all = [...parents, line];
  if (type === 'order') return 'The order of lines is put right by hand';
  if (type === 'required' && spec.words.some((word) => word.type === 'regex'))
    return 'An expression does not say which line it is';
  if (parents.some((text) => text.includes('{/'))) return 'An expression does not say which section it is';
  if (all.some((text) => text.includes(mask))) return 'Its secret is masked';
  if (all.some((text) => text.endsWith('…'))) return 'The report does not have the whole line';
  if (all.some((text) => text === '')) return 'Its block has no name';
  const isText = form === 'sections' && /^(?:banner|vacant-message|certificate)$/.test(line.split(' ')[0] ?? '');
  if (isText || all.some((text) => text.includes('\n'))) return 'Its text is written over several lines';
  if (type === 'disallowed' && form === 'sections' && negation === null)
    return 'This type of devices has no command of one form that takes lines away';
  return undefined;
};

const withoutWord = (line: string, word: string): string | undefined =>
  line.startsWith(`${word} `) ? line.slice(word.length + 1) : undefined;

/** The change that mends an issue: a line of the section, or the command of a path. */
const changeOf = ({ type, parents, spec, found, message: why }: Issue, deviceType: string): Change => {
  const { form, negation } = deviceTypeOf(deviceType);
  const adds = type === 'required';
  const line = adds ? spec.words.map(({ value }) => value).join(' ') : (found ?? '');
  if (adds) return { parents, line, why, adds };
  if (form !== 'sections') return { parents: [], line: `delete ${[...parents, line].join(' ')}`, why, adds };
  const word = negation ?? 'no';
  return { parents, line: withoutWord(line, word) ?? `${word} ${line}`, why, adds };
};

type Growing = Map<string, Growing>;

/** Nests lines below their parents: in each section those without a section of their own come first. */
const nested = (changes: readonly Proposed[]): readonly Written[] => {
  const root: Growing = new Map();
  for (const { parents, line } of changes) {
    let section = root;
    for (const text of [...parents, line]) {
      const below: Growing = section.get(text) ?? new Map();
      section.set(text, below);
      section = below;
    }
  }
  const written = (section: Growing): readonly Written[] => {
    const lines = [...section].map(([text, below]) => ({ text, lines: written(below) }));
    return [...lines.filter((one) => one.lines.length === 0), ...lines.filter((one) => one.lines.length > 0)];
  };
  return written(root);
};

/** Paths as lines: a path goes without saying if a longer one is there. */
const paths = (added: readonly Proposed[]): readonly Written[] => {
  const all = [...new Set(added.map(({ parents, line }) => [...parents, line].join(' ')))].sort();
  return all.filter((path, i) => !all[i + 1]?.startsWith(`${path} `)).map((text) => ({ text, lines: [] }));
};

const configOf = (changes: readonly Change[], deviceType: string): string => {
  const { form, setForm = false } = deviceTypeOf(deviceType);
  const added = changes.filter(({ adds }) => adds);
  const removed = changes.filter(({ adds }) => !adds);
  if (form === 'sections') return writeLines(nested([...removed, ...added]), { type: deviceType, paths: false });
  const deleted = removed.map(({ line }) => `${line}\n`).join('');
  const asPaths = form === 'paths' || setForm;
  return deleted + writeLines(asPaths ? paths(added) : nested(added), { type: deviceType, paths: asPaths });
};

/**
 * Proposes what would mend the issues of a comparison: missing lines, and the negation of those that must not be there.
 * Nothing is proposed below a line that goes.
 */
export const remedyOf = ({
  issues,
  deviceType,
}: {
  readonly issues: readonly Issue[];
  readonly deviceType: string;
}): Remedy => {
  const byHand: Proposed[] = [];
  const changes = new Map<string, Change>();
  const keyOf = (texts: readonly string[]): string => JSON.stringify(texts);
  const going = new Set(
    issues
      .filter((issue) => issue.type === 'disallowed' && whyByHand(issue, deviceType) === undefined)
      .map(({ parents, found }) => keyOf([...parents, found ?? ''])),
  );
  for (const issue of issues) {
    const { parents, spec, found } = issue;
    if (parents.some((_, i) => going.has(keyOf(parents.slice(0, i + 1))))) continue;
    const why = whyByHand(issue, deviceType);
    if (why === undefined) {
      const change = changeOf(issue, deviceType);
      const key = keyOf([...change.parents, change.line]);
      if (!changes.has(key)) changes.set(key, change);
    } else byHand.push({ parents, line: found ?? spec.words.map(({ value }) => value).join(' '), why });
  }
  const all = [...changes.values()];
  const lines = all.map(({ parents, line, why }) => ({ parents, line, why }));
  return { config: configOf(all, deviceType), lines, byHand };
};
