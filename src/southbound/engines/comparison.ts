import {
  asTemplate,
  compareLines,
  configurationBounds,
  type Golden,
  goldenLines,
  type LexRule,
  type Mask,
  masking,
  mergeGoldens,
  nestedLines,
  type Rules,
  readConfiguration,
  readGolden,
  requiredLines,
  specLines,
  TextFault,
  type TextForm,
  withoutMarks,
  wordsOf,
  writeLines,
} from '@automation-platform/configurations';
import { checkTemplate, newJob, TemplateError } from '@automation-platform/jinja';
import { RE2JS } from 're2js';
import type { Evaluated } from '../jsonata/evaluate.ts';
import type {
  Compared,
  ComparisonRun,
  Generated,
  GenerationRun,
  SpecificationRun,
  Specified,
  Translated,
  TranslationRun,
} from '../port.ts';

const mostInstructions = 5000;

/** A search in n characters takes at most n times as many steps as there are instructions. */
const compile = (source: string): ((text: string) => boolean) => {
  const expression = RE2JS.compile(source);
  if (expression.programSize() > mostInstructions) throw new Error(`The regular expression ${source} is too large`);
  return (text) => expression.matcher(text).find();
};

/** A text of a node after Jinja2. It uses no other templates. */
const renderedText = (template: string, variables: ComparisonRun['variables']): string => {
  const job = newJob({ template, variables });
  for (let outcome = job.attempt(); ; outcome = job.attempt()) {
    if ('text' in outcome) return outcome.text;
    job.add(outcome.wanted.map((name) => [name, null]));
  }
};

/** Nothing is masked in what is made of a golden text, or of a configuration that was sent. */
const unmasked: Mask = (words) => words.map(withoutMarks);

type Fault = Extract<Compared, { readonly reason: string }>;

/** The result of a work; a fault if a text cannot be read. `text` is the place of the text, null for the configuration. */
const orFault = <T>(text: number | null, mask: Mask, work: () => T): T | Fault => {
  try {
    return work();
  } catch (error) {
    if (error instanceof TextFault || error instanceof TemplateError)
      return { reason: mask(wordsOf(error.message)).join(' '), line: error.line, text };
    throw error;
  }
};

/** The form of texts: that of a built-in type, or rules. */
const formOf = ({ deviceType, parser }: Pick<ComparisonRun, 'deviceType' | 'parser'>): TextForm => {
  if (!parser) return { type: deviceType };
  const { template: type, lexRules } = parser;
  return { type, rules: lexRules.length > 0 ? usableRules(lexRules) : undefined };
};

const usableRules = (lexRules: readonly LexRule[]): Rules =>
  lexRules.map(([expression, action]) => {
    const pattern = RE2JS.compile(`^(?:${expression})`);
    return {
      action,
      begins: (text) => {
        const matcher = pattern.matcher(text);
        return matcher.lookingAt() ? matcher.end() : undefined;
      },
    };
  });

type Texts = Pick<ComparisonRun, 'texts' | 'variables'>;

/** The texts of the nodes as one. */
const mergedGolden = ({ texts, variables }: Texts, { type, rules }: TextForm, mask: Mask): Golden | Fault => {
  const goldens: Golden[] = [];
  for (const [i, text] of texts.entries()) {
    const golden = orFault(i, mask, () => readGolden(renderedText(text, variables), type, compile, { rules }));
    if ('reason' in golden) return golden;
    goldens.push(golden);
  }
  return mergeGoldens(goldens);
};

const comparison = ({ configuration, secrets, grading, ...texts }: ComparisonRun): Compared => {
  const form = formOf(texts);
  const mask = masking(secrets);
  const golden = mergedGolden(texts, form, mask);
  if ('reason' in golden) return golden;
  const lines = orFault(null, mask, () => readConfiguration(configuration, form.type, form.rules));
  return 'reason' in lines ? lines : compareLines(golden, lines, mask, grading);
};

/** Compares configurations. Time and memory are limited by whoever runs this process. */
export const compared = (runs: readonly ComparisonRun[]): Evaluated => ({ json: JSON.stringify(runs.map(comparison)) });

const specification = ({ template, variables, ...of }: SpecificationRun): Specified => {
  const { type, rules } = formOf(of);
  let when: Extract<Specified, { readonly reason: string }>['when'] = 'parsing';
  try {
    checkTemplate(template);
    when = 'rendering';
    const text = renderedText(template, variables);
    when = 'reading';
    return { lines: specLines(readGolden(text, type, compile, { rules }).section, unmasked) };
  } catch (error) {
    if (error instanceof TextFault || error instanceof TemplateError)
      return { reason: error.message, line: error.line, when };
    throw error;
  }
};

/** Reads a golden text, which says the same as its lines: nothing of it is masked. */
export const specified = (run: SpecificationRun): Evaluated => ({ json: JSON.stringify(specification(run)) });

const generation = ({ nativeConfig, ...of }: GenerationRun): Generated => {
  const { type, rules } = formOf(of);
  const lines = orFault(null, unmasked, () => readConfiguration(nativeConfig, type, rules));
  if ('reason' in lines) return { reason: lines.reason, line: lines.line };
  const text = writeLines(goldenLines(nestedLines(lines)), { type, paths: lines.paths });
  const golden = orFault(null, unmasked, () => readGolden(text, type, compile, { rules, bounds: configurationBounds }));
  if ('reason' in golden) return { reason: golden.reason, line: golden.line };
  if (rules && compareLines(golden, lines, unmasked).issues.length > 0)
    return { reason: `The rules do not read what is written in the form of ${type}`, line: 1 };
  return { template: asTemplate(text), lines: specLines(golden.section, unmasked) };
};

/** Makes the golden text that a configuration fits. */
export const evaluateGeneration = (run: GenerationRun): Evaluated => ({ json: JSON.stringify(generation(run)) });

const translation = (run: TranslationRun): Translated => {
  const form = formOf(run);
  const golden = mergedGolden(run, form, unmasked);
  if ('reason' in golden) return { reason: golden.reason, line: golden.line, text: golden.text ?? 0 };
  const { section, paths } = golden;
  return { config: writeLines(requiredLines(section), { type: form.type, paths }) };
};

/** Writes the lines that golden texts require, as a device writes them. */
export const evaluateTranslation = (run: TranslationRun): Evaluated => ({ json: JSON.stringify(translation(run)) });
