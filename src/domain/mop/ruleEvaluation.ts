import { type Fault, RequestError, refuseFaults } from '../engine/requestError.ts';
import { type CommandTemplateContent, type Evaluation, evaluationOf, type Rule } from './commandTemplates.ts';
import { compare, withinPercentage } from './comparisons.ts';
import { extracted, type Find, isPattern, searchOf } from './searches.ts';
import { quoted, refuseMissing, substituted, type Variables, variablesIn } from './templateVariables.ts';
import { type Verdict, verdict } from './verdicts.ts';

/** A rule with its variables replaced. `raw` is the text before. */
export type ReadyRule = Rule & { readonly raw: string; readonly eval: Evaluation };
export type ReadyCommand = {
  readonly raw: string;
  readonly evaluated: string;
  readonly passRule: boolean;
  readonly rules: readonly ReadyRule[];
};
export type RuleResult = ReadyRule & Verdict;

/**
 * The commands with their variables replaced. In patterns, a value matches only itself. Throws `unprocessable` with all
 * rules whose `eval` is unknown, or with all missing variables. The same for a value that would add a line to a
 * command.
 */
export const ready = ({ commands }: CommandTemplateContent, variables: Variables): readonly ReadyCommand[] => {
  refuseUnknown(commands);
  refuseMissing(variablesIn(commands.flatMap(({ command, rules }) => [command, ...rules.flatMap(textsOf)])), variables);
  return commands.map(({ command: raw, passRule, rules }) => {
    return {
      raw,
      evaluated: substituted(raw, variables, inOneLine),
      passRule,
      rules: rules.flatMap((rule) => readyRule(rule, variables)),
    };
  });
};

/** The texts of a rule that count. Only a comparison looks at `ruleB`. */
const textsOf = ({ rule, eval: how, ruleB = '' }: Rule): readonly string[] =>
  how === '#comparison' ? [rule, ruleB] : [rule];

const refuseUnknown = (commands: CommandTemplateContent['commands']): void => {
  const faults = commands.flatMap(({ rules }, i) =>
    rules.flatMap((rule, j): Fault[] => {
      const at = `/commands/${i}/rules/${j}/eval`;
      return evaluationOf(rule.eval)
        ? []
        : [{ message: `Nobody knows the eval ${JSON.stringify(rule.eval)} (${at})`, path: '/template', at }];
    }),
  );
  refuseFaults('unprocessable', faults, { most: 20, characters: 1000 });
};

const inOneLine = (value: string): string => {
  if (!/[\u0000-\u001f\u007f]/.test(value)) return value;
  throw new RequestError('unprocessable', 'A variable in a command holds a line break or control character', {
    path: '/variables',
  });
};

/** The rule with its variables replaced; empty if its `eval` is unknown. */
const readyRule = ({ result: _, ...rule }: Rule, variables: Variables): readonly ReadyRule[] => {
  const how = evaluationOf(rule.eval);
  if (!how) return [];
  const isText = how === 'contains' || how === '!contains' || how === 'contains1';
  const ready = {
    ...rule,
    eval: how,
    rule: substituted(rule.rule, variables, isText ? undefined : quoted),
    raw: rule.rule,
  };
  if (how !== '#comparison' || rule.ruleB === undefined) return [ready];
  return [{ ...ready, ruleB: substituted(rule.ruleB, variables, isPattern(rule.ruleB) ? quoted : undefined) }];
};

/** Applies the rule to an answer, whose lines must end with \n. */
export const ruleResult = (rule: ReadyRule, answer: string, find: Find): RuleResult => ({
  ...rule,
  ...verdict(() => holds(rule, answer, find)),
});

/** An empty rule is no condition. One that is empty only once its variables are in would let everything pass. */
const holds = ({ rule, raw, eval: how, flags = {}, ...comparison }: ReadyRule, answer: string, find: Find): boolean => {
  if (raw === '') return true;
  if (rule === '') throw new RequestError('unprocessable', 'The rule is empty');
  switch (how) {
    case 'contains':
      return occurrences(rule, answer, flags.case) > 0;
    case '!contains':
      return occurrences(rule, answer, flags.case) === 0;
    case 'contains1':
      return occurrences(rule, answer, flags.case) === 1;
    case 'RegEx':
      return find(searchOf(rule, flags), answer) !== undefined;
    case '!RegEx':
      return find(searchOf(rule, flags), answer) === undefined;
    case '#comparison': {
      const { ruleB = '', evaluator = '=', percentage = 100 } = comparison;
      const matchedIn = (pattern: string): string => {
        const found = find(searchOf(pattern, flags), answer);
        if (!found) throw new RequestError('unprocessable', `Nothing matches ${pattern}`);
        return extracted(found);
      };
      const leftValue = matchedIn(rule);
      const rightValue = isPattern(ruleB) ? matchedIn(ruleB) : ruleB.trim();
      return evaluator === '%'
        ? withinPercentage(leftValue, rightValue, percentage)
        : compare(leftValue, evaluator, rightValue);
    }
  }
};

/** How often the text occurs; 2 stands for more than once. */
const occurrences = (text: string, answer: string, ignoreCase = false): number => {
  const [part, whole] = ignoreCase ? [text.toLowerCase(), answer.toLowerCase()] : [text, answer];
  const first = whole.indexOf(part);
  if (first < 0) return 0;
  return whole.includes(part, first + 1) ? 2 : 1;
};
