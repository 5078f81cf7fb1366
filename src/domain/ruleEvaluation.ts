import type { CommandTemplateContent, Rule } from './commandTemplates.ts';
import { compare, withinPercentage } from './comparisons.ts';
import { Refusal } from './refusal.ts';
import { extracted, type Find, isPattern, searchOf } from './searches.ts';
import { quoted, refuseMissing, substituted, type Variables, variablesIn } from './templateVariables.ts';
import { type Verdict, verdict } from './verdicts.ts';

/** A rule with its variables put in, and what it was before. */
export type ReadyRule = Rule & { readonly raw: string };
export type ReadyCommand = { readonly raw: string; readonly evaluated: string; readonly passRule: boolean; readonly rules: readonly ReadyRule[] };
export type RuleResult = ReadyRule & Verdict;

/**
 * The commands with their variables put in; in patterns a value matches nothing but itself. Throws `unprocessable`,
 * naming all variables without a value, and where a value would make another line of a command.
 */
export const ready = ({ commands }: CommandTemplateContent, variables: Variables): readonly ReadyCommand[] => {
  refuseMissing(variablesIn(commands.flatMap(({ command, rules }) => [command, ...rules.flatMap(({ rule, ruleB = '' }) => [rule, ruleB])])), variables);
  return commands.map(({ command: raw, passRule, rules }) => {
    const evaluated = substituted(raw, variables);
    if (/[\u0000-\u001f\u007f]/.test(evaluated)) throw new Refusal('unprocessable', 'A variable in a command holds a line break or control character', { path: '/variables' });
    return { raw, evaluated, passRule, rules: rules.map((rule) => readyRule(rule, variables)) };
  });
};

const readyRule = ({ result: _, ...rule }: Rule, variables: Variables): ReadyRule => ({
  ...rule,
  rule: substituted(rule.rule, variables, rule.eval.endsWith('contains') || rule.eval === 'contains1' ? undefined : quoted),
  ...(rule.ruleB !== undefined && { ruleB: substituted(rule.ruleB, variables, isPattern(rule.ruleB) ? quoted : undefined) }),
  raw: rule.rule,
});

/** What the rule says of an answer, whose lines end with \n. */
export const ruleResult = (rule: ReadyRule, answer: string, find: Find): RuleResult => ({ ...rule, ...verdict(() => holds(rule, answer, find)) });

const holds = ({ rule, eval: how, flags = {}, ...comparison }: ReadyRule, answer: string, find: Find): boolean => {
  if (rule === '') throw new Refusal('unprocessable', 'The rule is empty');
  switch (how) {
    case 'contains': return occurrences(rule, answer, flags.case) > 0;
    case '!contains': return occurrences(rule, answer, flags.case) === 0;
    case 'contains1': return occurrences(rule, answer, flags.case) === 1;
    case 'RegEx': return find(searchOf(rule, flags), answer) !== undefined;
    case '!RegEx': return find(searchOf(rule, flags), answer) === undefined;
    case '#comparison': {
      const { ruleB = '', evaluator = '=', percentage = 100 } = comparison;
      const taken = (pattern: string): string => {
        const found = find(searchOf(pattern, flags), answer);
        if (!found) throw new Refusal('unprocessable', `Nothing matches ${pattern}`);
        return extracted(found);
      };
      const left = taken(rule);
      const right = isPattern(ruleB) ? taken(ruleB) : ruleB.trim();
      return evaluator === '%' ? withinPercentage(left, right, percentage) : compare(left, evaluator, right);
    }
  }
};

/** How often the text occurs, counted up to 2. */
const occurrences = (text: string, answer: string, ignoreCase = false): number => {
  const [part, whole] = ignoreCase ? [text.toLowerCase(), answer.toLowerCase()] : [text, answer];
  const first = whole.indexOf(part);
  return first < 0 ? 0 : whole.includes(part, first + 1) ? 2 : 1;
};
