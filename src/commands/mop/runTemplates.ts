import { oneByOne, runAtOnce } from '@automation-platform/concurrency';
import { type Fault, RequestError } from '../../domain/engine/requestError.ts';
import {
  type AnalyticRuleResult,
  analyticRuleResult,
  refuseUnknown as refuseUnknownWords,
} from '../../domain/mop/analyticEvaluation.ts';
import {
  type AnalyticTemplateContent,
  type CommandPair,
  patternsIn as patternsOfPairs,
} from '../../domain/mop/analyticTemplates.ts';
import { type CommandTemplateContent, faultsIn, patternsIn } from '../../domain/mop/commandTemplates.ts';
import { type ReadyCommand, type RuleResult, ready, ruleResult } from '../../domain/mop/ruleEvaluation.ts';
import type { Variables } from '../../domain/mop/templateVariables.ts';
import { commandsPass, rulesPass } from '../../domain/mop/verdicts.ts';
import { patternFaults, searching } from './searches.ts';

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** HTML that shows the text literally: all markup in it is escaped. */
const preformatted = (text: string): string =>
  `<pre>${text.replace(/[&<>"']/g, (character) => entities[character] ?? '')}</pre>`;

/** Access to devices. `find` throws if no adapter has the device. `run` returns the output of a command. */
export type Ways = { find(device: string): Promise<unknown>; run(device: string, command: string): Promise<string> };

/**
 * One command on one device. `response` is the output, or the reason why there is none. `all_pass_flag` is the
 * command's passRule.
 */
type CommandResult = {
  readonly raw: string;
  readonly evaluated: string;
  readonly device: string;
  readonly response: string;
  readonly result: boolean;
  readonly all_pass_flag: boolean;
  readonly rules: readonly RuleResult[];
};
/** A run of a command template. Results are grouped by device, in the order of the commands. */
export type CommandTemplateRun = {
  readonly name: string;
  readonly result: boolean;
  readonly all_pass_flag: boolean;
  readonly commands_results: readonly CommandResult[];
};

const atOnce = 8;
const longestAnswer = 1024 * 1024;
const mostAnswered = 64 * 1024 * 1024;

/**
 * Runs a command template on at most 8 devices at once. The commands of one device run one after the other. A failure
 * of a device is part of its results. Throws before any command runs: `not_found` with all unknown devices, or
 * `unprocessable` with all missing variables.
 */
export const runCommandTemplate = async (
  template: CommandTemplateContent,
  names: readonly string[],
  variables: Variables,
  ways: Ways,
): Promise<CommandTemplateRun> => {
  await refuseUnusable(faultsIn(template), patternsIn(template));
  const commands = ready(template, variables);
  const devices = [...new Set(names)];
  await refuseUnknown(devices, ways);
  const find = searching();
  let room = mostAnswered;

  const answerOf = async (
    device: string,
    command: string,
  ): Promise<{ readonly text: string; readonly failed: boolean }> => {
    try {
      if (room <= 0) throw new RequestError('unprocessable', 'Not asked: the answers before it are too large together');
      const text = await answersOf(device, command, ways);
      if (text.length > longestAnswer)
        throw new RequestError('unprocessable', `The answer has more than ${longestAnswer} characters`);
      room -= text.length;
      return { text, failed: false };
    } catch (error) {
      if (error instanceof RequestError) return { text: error.message, failed: true };
      throw error;
    }
  };
  const run = async (device: string, { rules: wanted, passRule, ...command }: ReadyCommand): Promise<CommandResult> => {
    const { text: response, failed } = await answerOf(device, command.evaluated);
    const answer = unixLines(response);
    const rules = await oneByOne(wanted, (rule) =>
      failed ? { ...rule, result: false } : ruleResult(rule, answer, find),
    );
    return {
      ...command,
      device,
      response,
      result: !failed && rulesPass(passRule, rules),
      all_pass_flag: passRule,
      rules,
    };
  };

  const results = await runAtOnce(devices, atOnce, async (device) => {
    const ofDevice: CommandResult[] = [];
    for (const command of commands) ofDevice.push(await run(device, command));
    return ofDevice;
  });
  const { name, passRule } = template;
  return {
    name,
    result: results.every((ofDevice) => commandsPass(passRule, ofDevice)),
    all_pass_flag: passRule,
    commands_results: results.flat(),
  };
};

/** Throws `unprocessable` for rules that no run can use. Imported templates may have some. */
const refuseUnusable = async (
  faulty: readonly Fault[],
  patterns: Parameters<typeof patternFaults>[0],
): Promise<void> => {
  const faults = [...faulty, ...(await patternFaults(patterns))].slice(0, 20);
  if (faults[0])
    throw new RequestError('unprocessable', `The template cannot be run: ${faults[0].message}`, { faults });
};

/** Sends the lines of a command one after the other and returns the device's answers. */
const answersOf = async (device: string, command: string, { run }: Ways): Promise<string> => {
  const written = unixLines(command)
    .split('\n')
    .filter((line) => line.trim() !== '');
  const lines = written.length > 0 ? written : [''];
  const answers: string[] = [];
  for (const line of lines) answers.push(await run(device, line));
  return answers.join('\n');
};

const refuseUnknown = async (devices: readonly string[], { find }: Ways): Promise<void> => {
  const unknown = (
    await runAtOnce(devices, atOnce, async (device) => {
      try {
        await find(device);
        return [];
      } catch (error) {
        if (error instanceof RequestError && error.code === 'not_found') return [device];
        throw error;
      }
    })
  ).flat();
  if (unknown.length > 0)
    throw new RequestError('not_found', `No such devices: ${unknown.join(', ')}`, {
      faults: unknown.map((name) => ({
        message: `No adapter knows a device ${JSON.stringify(name)}`,
        path: '/devices',
        name,
      })),
    });
};

const unixLines = (text: string): string => text.replace(/\r\n?/g, '\n');

/** The result of a pair. The answers are HTML that shows them literally. */
type PairResult = Pick<CommandPair, 'preRawCommand' | 'postRawCommand' | 'preCommandResHTML' | 'postCommandResHTML'> & {
  readonly result: boolean;
  readonly all_pass_flag: boolean;
  readonly rules: readonly AnalyticRuleResult[];
};
export type AnalyticTemplateRun = {
  readonly name: string;
  readonly result: boolean;
  readonly all_pass_flag: boolean;
  readonly commands_results: readonly PairResult[];
};

/**
 * Compares answers before and after. Needs one text for each pair of commands, in the same order, else throws
 * `unprocessable`. Asks no device.
 */
export const runAnalyticTemplate = async (
  template: AnalyticTemplateContent,
  pre: readonly string[],
  post: readonly string[],
): Promise<AnalyticTemplateRun> => {
  const { name, passRule, prepostCommands } = template;
  refuseUnknownWords(template);
  await refuseUnusable([], patternsOfPairs(template));
  const faults = Object.entries({ pre, post })
    .filter(([, texts]) => texts.length !== prepostCommands.length)
    .map(([member, { length }]) => ({
      message: `The template has ${prepostCommands.length} pairs of commands, ${member} has ${length} texts`,
      path: `/${member}`,
    }));
  if (faults[0]) throw new RequestError('unprocessable', faults[0].message, { faults });
  const find = searching();
  const results: PairResult[] = [];
  for (const [i, { preRawCommand, postRawCommand, passRule: all, rules: wanted }] of prepostCommands.entries()) {
    const [before, after] = [unixLines(pre[i] ?? ''), unixLines(post[i] ?? '')];
    const rules = await oneByOne(wanted, (rule) => analyticRuleResult(rule, before, after, find));
    results.push({
      preRawCommand,
      postRawCommand,
      result: rulesPass(all, rules),
      all_pass_flag: all,
      rules,
      preCommandResHTML: preformatted(before),
      postCommandResHTML: preformatted(after),
    });
  }
  return { name, result: commandsPass(passRule, results), all_pass_flag: passRule, commands_results: results };
};
