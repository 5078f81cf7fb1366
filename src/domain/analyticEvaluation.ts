import type { AnalyticRule } from './analyticTemplates.ts';
import { compare } from './comparisons.ts';
import { Refusal } from './refusal.ts';
import { extracted, type Find, searchOf } from './searches.ts';
import { type Verdict, verdict } from './verdicts.ts';

/** What a rule found before and after: a value, or of a table its rows (at most 100 are shown). */
type Seen = string | readonly string[];
export type AnalyticRuleResult = AnalyticRule & Verdict & { readonly pre?: Seen; readonly post?: Seen };

const mostShown = 100;

/** What the rule says of an answer before and one after, whose lines end with \n. */
export const analyticRuleResult = (rule: AnalyticRule, before: string, after: string, find: Find): AnalyticRuleResult => {
  const { type = 'regex', preRegex = '', postRegex = preRegex, flags } = rule;
  const search = (pattern: string, text: string) => (pattern === '' ? [text] : find(searchOf(pattern, flags), text));
  const seen: { pre?: Seen; post?: Seen } = {};
  const outcome = verdict(() => {
    if (type === 'matches' || type === '!matches') return [search(preRegex, before), search(postRegex, after)].every((found) => (found !== undefined) === (type === 'matches'));
    if (type === 'table') {
      const [pre, post] = [rows(before, (line) => search(preRegex, line)), rows(after, (line) => search(postRegex, line))];
      [seen.pre, seen.post] = [pre.slice(0, mostShown), post.slice(0, mostShown)];
      return compareTables(pre, rule.evaluation ?? '=', post);
    }
    const [pre, post] = [taken(search(preRegex, before), 'before', preRegex), taken(search(postRegex, after), 'after', postRegex)];
    [seen.pre, seen.post] = [pre.slice(0, 1000), post.slice(0, 1000)];
    return compareValues(pre, rule.evaluation ?? '=', post);
  });
  return { ...rule, ...outcome, ...seen };
};

type Evaluation = NonNullable<AnalyticRule['evaluation']>;

const taken = (found: readonly (string | undefined)[] | undefined, when: string, pattern: string): string => {
  if (!found) throw new Refusal('unprocessable', `Nothing ${when} matches ${pattern}`);
  return extracted(found);
};

/** What is found in the lines, one row for each line with a match: its groups, else the match. */
const rows = (text: string, search: (line: string) => readonly (string | undefined)[] | undefined): readonly string[] =>
  text.split('\n').flatMap((line) => {
    const [whole = '', ...groups] = (line.trim() === '' ? undefined : search(line)) ?? [];
    const row = groups.length > 0 ? groups.map((group = '') => group.trim()).join(' ') : whole.trim();
    return row === '' ? [] : [row];
  });

const compareValues = (pre: string, evaluation: Evaluation, post: string): boolean => {
  if (evaluation === 'contains') return post.includes(pre);
  if (evaluation === '!contains') return !post.includes(pre);
  return compare(pre, evaluation, post);
};

/** `=` and `!=`: the same rows in any order; `contains`: every row before is there after, `!contains`: none; in order: how many. */
const compareTables = (pre: readonly string[], evaluation: Evaluation, post: readonly string[]): boolean => {
  switch (evaluation) {
    case 'contains': return pre.every(within(post));
    case '!contains': return !pre.some(within(post));
    case '=': case '==': return sorted(pre) === sorted(post);
    case '!=': return sorted(pre) !== sorted(post);
    default: return compare(String(pre.length), evaluation, String(post.length));
  }
};

const within = (rows: readonly string[]) => {
  const known = new Set(rows);
  return (row: string): boolean => known.has(row);
};

const sorted = (rows: readonly string[]): string => rows.toSorted().join('\n');
