import { maskedLine, shownDiff } from '@automation-platform/configurations';
import { cut } from '@automation-platform/json';
import type { ChangeAccount, DeviceAnswer, SshProperties } from '../device.ts';
import { cliLines } from '../texts/cliLines.ts';
import { maskingOf } from '../texts/maskedQuotes.ts';
import { type ReadBack, readBack, readBackWhole, verdictOf, warningsOf } from '../texts/readBack.ts';
import type { DeviceType } from '../types/type.ts';
import { isCommit, isProvisional, type Judged, judge, refusalIn, showsCandidate } from './cliAnswers.ts';
import { SshFailure } from './sshConnection.ts';
import type { Cli } from './sshSession.ts';

/** A change of a device. `effect` is called before something is sent that takes effect. */
type Change = {
  readonly cli: Cli;
  readonly type: DeviceType;
  readonly device: string;
  readonly properties: SshProperties;
  readonly options: Readonly<Record<string, unknown>>;
  readonly effect: () => void;
};

/** A line to send. `number` counts those of its part from 1. `load`: a text that the line makes the device read. */
type Step = {
  readonly part: 'enter' | 'lines' | 'leave' | 'save';
  readonly number: number;
  readonly text: string;
  readonly load?: string;
};

const stepsOf = (part: Step['part'], lines: readonly string[]): readonly Step[] =>
  lines.map((text, i) => ({ part, number: i + 1, text }));

/** The outcome of some steps. `answers`: the words of the device to each that was sent. */
type Sent = {
  readonly answers: readonly { readonly step: Step; readonly text: string }[];
  readonly refused?: { readonly step: Step; readonly message: string; readonly output: string };
  readonly unrecognized: readonly string[];
};

const mostLines = 20;
const mostOutput = 64 * 1024;

/** Shows the running configuration; undefined where nobody knows how. */
export const showRunning = async (
  cli: Cli,
  type: DeviceType,
  { show, enter, leave }: SshProperties,
): Promise<string | undefined> => {
  const command = show ?? type.running;
  if (command === undefined) return undefined;
  if (show !== undefined || !type.showsWithin) return cli.read(command);
  for (const line of enter ?? type.enter) await cli.run(line);
  const text = await cli.read(command);
  for (const line of leave ?? type.leave) if (!isCommit(line, type)) await cli.run(line);
  return text;
};

/** Judges an answer to a line: by its words, and by its exit status where it has one. */
const judgeAnswer = async (text: string, { cli, type, properties, options }: Change): Promise<Judged> => {
  const judged = judge(text, properties, type);
  if (judged.refusal !== undefined) return judged;
  const [word] = judged.unrecognized;
  if (type.exitStatus === undefined) return options.strict === true ? { ...judged, refusal: word } : judged;
  const status = (await cli.run(type.exitStatus)).output.trim();
  return { refusal: status === '0' ? undefined : (word ?? `The exit status is ${status}`), unrecognized: [] };
};

/** Sends the steps up to the first one that the device refuses. */
const send = async (steps: readonly Step[], isCandidate: boolean, change: Change): Promise<Sent> => {
  const { cli, type, effect } = change;
  const answers: { readonly step: Step; readonly text: string }[] = [];
  const unrecognized: string[] = [];
  const refusalOf = async (step: Step, text: string): Promise<Sent['refused']> => {
    answers.push({ step, text });
    const judged = await judgeAnswer(text, change);
    unrecognized.push(...judged.unrecognized);
    return judged.refusal === undefined ? undefined : { step, message: judged.refusal, output: text };
  };
  let before: Step | undefined;
  for (const step of steps) {
    if (isCandidate ? isCommit(step.text, type) : step.part === 'lines') effect();
    const { output, late } =
      step.load === undefined
        ? await cli.run(step.text, true)
        : { output: await cli.load(step.text, step.load), late: '' };
    // Text after something that looked like a prompt still answers the line before.
    const isLate = before !== undefined && late.trim() !== '';
    const refused = (before && isLate && (await refusalOf(before, late))) || (await refusalOf(step, output));
    if (refused) return { answers, refused, unrecognized };
    before = step;
  }
  const late = await cli.settle();
  const refused = before && late.trim() !== '' ? await refusalOf(before, late) : undefined;
  return { answers, unrecognized, ...(refused && { refused }) };
};

/** Reads the configuration back; undefined where there is none, or none that can be read. A text is the whole of it. */
const readBackOf = async (
  config: readonly string[] | string,
  { cli, type, properties }: Change,
): Promise<{ readonly text: string; readonly back: ReadBack | undefined } | undefined> => {
  try {
    const text = await showRunning(cli, type, properties);
    if (text === undefined || refusalIn(text, properties, type) !== undefined) return undefined;
    return {
      text,
      back: typeof config === 'string' ? readBackWhole(config, text, type) : readBack(config, text, type),
    };
  } catch (error) {
    // The change itself is over, and its outcome must not be lost.
    if (error instanceof SshFailure) return undefined;
    throw error;
  }
};

/** Leaves the mode after a refusal. Returns true if a candidate was forgotten. */
const abandon = async (isCandidate: boolean, { cli, type, properties }: Change): Promise<boolean> => {
  const { leave = type.leave } = properties;
  const instead = isCandidate ? (type.candidate?.discard ?? []) : (type.abandon ?? leave);
  try {
    let isForgotten = isCandidate && instead.length > 0;
    for (const line of instead) {
      const { output } = await cli.run(line, true);
      isForgotten &&= judge(output, properties, type).refusal === undefined;
    }
    return isForgotten;
  } catch (error) {
    if (error instanceof SshFailure) return false;
    throw error;
  }
};

/** The lines before the refused one that stay on the device; null if nobody knows. */
const leftOf = async (
  outcome: Sent,
  lines: readonly string[],
  isForgotten: boolean,
  change: Change,
): Promise<readonly string[] | null> => {
  const { refused, answers } = outcome;
  const isCommitted = answers.some(({ step }) => step !== refused?.step && isCommit(step.text, change.type));
  if (isForgotten && !isCommitted) return [];
  const accepted = refused?.step.part === 'lines' ? lines.slice(0, refused.step.number - 1) : lines;
  if (refused?.step.part === 'enter' || accepted.length === 0) return [];
  return (await readBackOf(accepted, change))?.back?.present ?? null;
};

const answerOf = (status: number, body: object, account: ChangeAccount): DeviceAnswer => ({
  status,
  text: JSON.stringify(body),
  account,
});

/** True if the lines go into a candidate. */
const takesCandidate = ({ type, properties }: Change, enter: readonly string[], leave: readonly string[]): boolean => {
  const { candidate } = type;
  if (!candidate) return properties.leave !== undefined && leave.some((line) => isCommit(line, type));
  return candidate.entered === undefined || enter.some((line) => candidate.entered?.test(line));
};

const twoDigits = (n: number): string => String(n).padStart(2, '0');

/** The commit that the options ask for in the place of the plain one. */
const commitOf = ({ type: { candidate }, options: { confirm, replace } }: Change): string | undefined => {
  if (typeof confirm === 'number')
    return candidate?.confirmed
      ?.replace('{minutes}', String(confirm))
      .replace('{hh}', twoDigits(Math.floor(confirm / 60)))
      .replace('{mm}', twoDigits(confirm % 60));
  return replace === true ? candidate?.replace?.commit : undefined;
};

/** A line that has the name of a change. */
const named = (line: string, { options: { change } }: Change): string =>
  line.replace('{change}', String(change).slice(0, 12));

/** The steps of a change, in order, and the lines of its configuration. */
const planOf = (change: Change, config: string) => {
  const { type, properties, options } = change;
  const { candidate } = type;
  const commit = commitOf(change);
  const namedEnter = options.confirm === undefined ? undefined : candidate?.namedEnter;
  const replacement = options.replace === true ? candidate?.replace : undefined;
  const enter = [
    ...(properties.enter ?? namedEnter?.map((line) => named(line, change)) ?? type.enter),
    ...(replacement?.enter ?? []),
  ];
  const leave = (properties.leave ?? [...(candidate ? [candidate.commit] : []), ...type.leave]).map((line) =>
    commit !== undefined && isCommit(line, type) ? commit : line,
  );
  const lines = cliLines(config).filter((line) => !type.comment.test(line.trimStart()));
  const load = replacement?.load;
  return {
    lines,
    isCandidate: takesCandidate(change, enter, leave),
    enter: stepsOf('enter', enter),
    body:
      load === undefined
        ? stepsOf('lines', lines)
        : [{ part: 'lines', number: 1, text: load, load: config } satisfies Step],
    leave: [...stepsOf('leave', leave), ...(options.save === true ? stepsOf('save', type.save) : [])],
  };
};

/** The answer to a configuration of which the device refused a line. */
const refusalOf = async (
  outcome: Sent & Required<Pick<Sent, 'refused'>>,
  { lines, isCandidate }: Pick<ReturnType<typeof planOf>, 'lines' | 'isCandidate'>,
  change: Change,
): Promise<DeviceAnswer> => {
  const { step, message, output } = outcome.refused;
  const mask = maskingOf(lines);
  // Once it is committed, there is nothing to be forgotten.
  const isForgotten = step.part !== 'save' && (await abandon(isCandidate, change));
  const remaining = await leftOf(outcome, lines, isForgotten, change);
  const account = { output: cut(mask.text(output), mostOutput), left: remaining?.map(mask.text) ?? null };
  const refused = { line: step.number, text: step.text };
  const body = { device: change.device, status: 'error', message: mask.words(message), refused, ...account };
  return answerOf(422, body, { ...account, refused: { ...refused, text: mask.text(step.text) } });
};

/**
 * Sends a configuration, judges what the device says, and reads back what it shows. Throws `SshFailure` when the session
 * is lost before that is known.
 */
export const applyChange = async (change: Change, config: string): Promise<DeviceAnswer> => {
  const { cli, type, options, device } = change;
  const plan = planOf(change, config);
  const { lines, isCandidate } = plan;
  const steps = [...plan.enter, ...plan.body, ...plan.leave];
  const { refused, ...outcome } = await send(steps, isCandidate, change);
  if (refused) return refusalOf({ ...outcome, refused }, plan, change);
  const mask = maskingOf(lines);
  const after =
    options.verify === false ? undefined : await readBackOf(options.replace === true ? config : lines, change);
  const back = after?.back;
  const words = outcome.answers.map(({ text }) => text).join('\n');
  const open = commitWarnings(steps, type, isCandidate || (!type.candidate && showsCandidate(cli.prompt(), words)));
  const verified = verdictOf(back);
  // The options ask for a commit that the device takes back without a confirmation.
  const isMeant = options.confirm !== undefined && steps.some(({ text }) => isProvisional(text, type));
  const isOpen = (open.length > 0 && !isMeant) || (outcome.unrecognized.length > 0 && verified !== true);
  const output = outcome.answers.flatMap(({ step, text }) =>
    step.part === 'lines' && text !== '' ? [`${text}\n`] : [],
  );
  const lists = {
    unrecognized: outcome.unrecognized.slice(0, mostLines).map(mask.text),
    warnings: [...open, ...warningsOf(back).map(mask.text)],
  };
  const account: ChangeAccount = {
    ...(options.verify !== false && { verified }),
    output: cut(mask.text(output.join('')), mostOutput),
    ...Object.fromEntries(Object.entries(lists).filter(([, list]) => isOpen || list.length > 0)),
  };
  const answer = {
    ...answerOf(200, { device, status: isOpen ? 'unverified' : 'success', ...account }, account),
    ...(after && { running: after.text }),
  };
  return isOpen ? { ...answer, unverified: true } : answer;
};

/** Asks the device itself for the difference that a configuration makes. Nothing of it stays there. Undefined where it cannot say so. */
export const tryChange = async (change: Change, config: string): Promise<DeviceAnswer | undefined> => {
  const { cli, type, properties, device } = change;
  const { check, compare } = type.candidate ?? {};
  const plan = planOf(change, config);
  if (!plan.isCandidate || compare === undefined) return undefined;
  const steps = [...plan.enter, ...plan.body, ...(check === undefined ? [] : stepsOf('leave', [check]))];
  const { refused, ...outcome } = await send(steps, true, change);
  if (refused) return refusalOf({ ...outcome, refused }, plan, change);
  const comparison = await cli.read(compare);
  if (!(await abandon(true, change))) throw new SshFailure('the device does not forget what it was to try');
  if (refusalIn(comparison, properties, type) !== undefined) return undefined;
  const mask = maskingOf(plan.lines);
  const diff = comparison.split('\n').map((line) => {
    const [sign = ''] = /^[+-]*/.exec(line) ?? [];
    return sign + mask.words(maskedLine(line.slice(sign.length)));
  });
  const lists = { unrecognized: outcome.unrecognized.slice(0, mostLines).map(mask.text), warnings: [] };
  return answerOf(200, { device, status: 'dryRun', diff: shownDiff(diff.join('\n')), predicted: false, ...lists }, {});
};

/** Confirms a change that the device would take back. Anything that is not known to be harmless is a refusal. */
export const confirmChange = async (change: Change): Promise<DeviceAnswer> => {
  const { type, device, properties } = change;
  const { confirm = '', confirmsOutside = false } = type.candidate ?? {};
  const enter = confirmsOutside ? [] : (properties.enter ?? type.enter);
  const leave = confirmsOutside ? [] : type.leave;
  change.effect();
  const steps = [...stepsOf('enter', enter), ...stepsOf('leave', [named(confirm, change), ...leave])];
  const { refused } = await send(steps, true, { ...change, options: { ...change.options, strict: true } });
  if (!refused) return answerOf(200, { status: 'confirmed' }, {});
  await abandon(!confirmsOutside, change);
  const { step, message, output } = refused;
  const body = { device, status: 'error', message, refused: { line: step.number, text: step.text }, output };
  return answerOf(422, body, {});
};

/** Why the lines may not be, or not stay, the running configuration of a device with a candidate. */
const commitWarnings = (steps: readonly Step[], type: DeviceType, isCandidate: boolean): readonly string[] => {
  const commit = steps.findLast(({ text }) => isCommit(text, type));
  if (!commit) return isCandidate ? ['No line commits the configuration'] : [];
  return isProvisional(commit.text, type)
    ? ['The device goes back by itself, unless the commit is confirmed in time']
    : [];
};
