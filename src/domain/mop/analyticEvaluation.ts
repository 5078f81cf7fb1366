import { type Fault, RequestError, refuseFaults } from '../engine/requestError.ts';
import {
  type AnalyticEvaluation,
  type AnalyticRule,
  type AnalyticTemplateContent,
  evaluationOf,
  typeOf,
} from './analyticTemplates.ts';
import { compare } from './comparisons.ts';
import { extracted, type Find, searchOf } from './searches.ts';
import { type Verdict, verdict } from './verdicts.ts';

/** The part of an answer that a rule compares: a value, or the rows of a table (100 at most are shown). */
type Seen = string | readonly string[];
export type AnalyticRuleResult = AnalyticRule & Verdict & { readonly pre?: Seen; readonly post?: Seen };

const mostShown = 100;

/** Applies the rule to an answer before and an answer after. Their lines must end with \n. */
export const analyticRuleResult = (
  rule: AnalyticRule,
  before: string,
  after: string,
  find: Find,
): AnalyticRuleResult => {
  const { preRegex = '', postRegex = preRegex, flags } = rule;
  const [type, evaluation] = [typeOf(rule.type), evaluationOf(rule.evaluation)];
  const search = (pattern: string, text: string) => (pattern === '' ? [text] : find(searchOf(pattern, flags), text));
  const outputs: { pre?: Seen; post?: Seen } = {};
  const outcome = verdict(() => {
    if (!type || !evaluation)
      throw new RequestError('unprocessable', 'Nobody knows the type or evaluation of the rule');
    if (type === 'matches' || type === '!matches')
      return [search(preRegex, before), search(postRegex, after)].every(
        (found) => (found !== undefined) === (type === 'matches'),
      );
    if (type === 'table') {
      const [pre, post] = [
        rows(before, (line) => search(preRegex, line)),
        rows(after, (line) => search(postRegex, line)),
      ];
      [outputs.pre, outputs.post] = [pre.slice(0, mostShown), post.slice(0, mostShown)];
      return compareTables(pre, evaluation, post);
    }
    const [pre, post] = [
      matchedIn(search(preRegex, before), 'before', preRegex),
      matchedIn(search(postRegex, after), 'after', postRegex),
    ];
    [outputs.pre, outputs.post] = [pre.slice(0, 1000), post.slice(0, 1000)];
    return compareValues(pre, evaluation, post);
  });
  return { ...rule, ...outcome, ...outputs };
};

/** Throws `unprocessable` with all rules whose type or evaluation is unknown, if there are any. */
export const refuseUnknown = ({ prepostCommands }: AnalyticTemplateContent): void => {
  const fault = (member: string, text: string | undefined, at: string): Fault => ({
    message: `Nobody knows the ${member} ${JSON.stringify(text)} (${at}/${member})`,
    path: '/template',
    at: `${at}/${member}`,
  });
  const faults = prepostCommands.flatMap(({ rules }, i) =>
    rules.flatMap(({ type, evaluation }, j) => {
      const at = `/prepostCommands/${i}/rules/${j}`;
      const found: Fault[] = [];
      if (!typeOf(type)) found.push(fault('type', type, at));
      if (!evaluationOf(evaluation)) found.push(fault('evaluation', evaluation, at));
      return found;
    }),
  );
  refuseFaults('unprocessable', faults, { most: 20, characters: 1000 });
};

const matchedIn = (found: readonly (string | undefined)[] | undefined, when: string, pattern: string): string => {
  if (!found) throw new RequestError('unprocessable', `Nothing ${when} matches ${pattern}`);
  return extracted(found);
};

/** One row for each line with a match: its groups, or the whole match if there are no groups. */
const rows = (text: string, search: (line: string) => readonly (string | undefined)[] | undefined): readonly string[] =>
  text.split('\n').flatMap((line) => {
    const [whole = '', ...groups] = (line.trim() === '' ? undefined : search(line)) ?? [];
    const row = groups.length > 0 ? groups.map((group = '') => group.trim()).join(' ') : whole.trim();
    return row === '' ? [] : [row];
  });

const compareValues = (pre: string, evaluation: AnalyticEvaluation, post: string): boolean => {
  if (evaluation === 'contains') return post.includes(pre);
  if (evaluation === '!contains') return !post.includes(pre);
  return compare(pre, evaluation, post);
};

/**
 * `=` and `!=` compare the rows in any order. `contains`: every row before is also there after; `!contains`: none is.
 * The other comparators compare the numbers of rows.
 */
const compareTables = (pre: readonly string[], evaluation: AnalyticEvaluation, post: readonly string[]): boolean => {
  switch (evaluation) {
    case 'contains':
      return pre.every(within(post));
    case '!contains':
      return !pre.some(within(post));
    case '=':
    case '==':
      return sorted(pre) === sorted(post);
    case '!=':
      return sorted(pre) !== sorted(post);
    default:
      return compare(String(pre.length), evaluation, String(post.length));
  }
};

const within = (rows: readonly string[]) => {
  const rowSet = new Set(rows);
  return (row: string): boolean => rowSet.has(row);
};

const sorted = (rows: readonly string[]): string => rows.toSorted().join('\n');
