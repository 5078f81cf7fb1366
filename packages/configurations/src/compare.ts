import { fittingLines } from './fitting.ts';
import { type Golden, type GoldenLine, goldenPaths, type Section, type SpecLine, specLine } from './golden.ts';
import { type Lines, leavesOf } from './lines.ts';
import type { Mask } from './masking.ts';
import { type Placed, standings } from './order.ts';
import { type Graded, type Grading, gradeOf, noTotals, type Totals } from './score.ts';
import { type DeviceSection, deviceSection } from './sections.ts';
import type { Ordering, Severity } from './tags.ts';
import { wordsOf } from './words.ts';

const mostIssues = 2000;
/** Of a line in an issue. */
const mostCharacters = 4000;

const messages = {
  required: 'Required config not found',
  disallowed: 'Disallowed config found',
  order: 'Config out of order',
};

type Issue = {
  readonly severity: Severity;
  readonly type: keyof typeof messages;
  readonly message: string;
  /** The lines that it is below: the device's where they are there, golden ones else. */
  readonly parents: readonly string[];
  readonly spec: SpecLine;
  /** The device's line. */
  readonly found: string | null;
};

/** `truncated`: there are more issues than those listed; the totals count all. */
export type Comparison = Graded & {
  readonly totals: Totals;
  readonly issues: readonly Issue[];
  readonly truncated?: true;
};

/** Where lines are compared: the golden lines and the texts that a section is below. */
type Where = { readonly above: readonly GoldenLine[]; readonly parents: readonly string[] };

const counted: Readonly<Record<Severity, 'errors' | 'warnings' | 'infos'>> = {
  error: 'errors',
  warning: 'warnings',
  info: 'infos',
};

/** Collects what a comparison finds. Only what is kept is masked and shown. */
const findings = (mask: Mask) => {
  const totals = { ...noTotals };
  const issues: Issue[] = [];
  const masked = (text: string): string => {
    if (text.length <= mostCharacters) return mask(wordsOf(text)).join(' ');
    // The last word is left out: where it is cut, a secret would not be known any more.
    const words = wordsOf(text.slice(0, mostCharacters)).slice(0, -1);
    return [...mask(words), '…'].join(' ');
  };
  return {
    totals,
    issues,
    pass: (): void => {
      totals.passes++;
    },
    issue: (type: Issue['type'], line: GoldenLine, { above, parents }: Where, found: string | null): void => {
      totals[counted[line.severity]]++;
      if (issues.length >= mostIssues) return;
      issues.push({
        severity: line.severity,
        type,
        message: messages[type],
        parents: parents.map(masked),
        spec: { ...specLine(line, above, mask), lines: [] },
        found: found === null ? null : masked(found),
      });
    },
  };
};

type Below = { readonly ordering: Ordering; readonly section: Section };

/**
 * Compares a configuration with golden lines, each among the lines of its section. Each golden line costs what it may
 * fit: an index by words finds literal lines, and the lines that begin as an expression's line does.
 */
export const compareLines = (golden: Golden, configuration: Lines, mask: Mask, grading?: Grading): Comparison => {
  const paths = golden.paths || configuration.paths;
  const lines = paths && !configuration.paths ? leavesOf(configuration) : configuration;
  const { section } = paths ? goldenPaths(golden) : golden;
  const { totals, issues, pass, issue } = findings(mask);
  const textAt = (place: number | undefined): string => lines.texts[place ?? -1] ?? '';

  const reportMissing = (line: GoldenLine, where: Where): void => {
    issue('required', line, where, null);
    const below = belowOf(where, line, line.text);
    for (const one of line.section.lines.values()) if (one.mode === 'required') reportMissing(one, below);
  };

  const compareSection = ({ ordering, section }: Below, device: DeviceSection, where: Where): void => {
    const fitting = [...section.lines.values()].map((line) => ({ line, equal: fittingLines(line, device, paths) }));
    const placed = new Map<string, Placed>(
      fitting.map(({ line, equal }) => [line.text, { line, places: ordering === 'none' ? [] : equal.flat() }]),
    );
    const found = ordering === 'none' ? undefined : standings(ordering === 'strict', section, device, placed);
    for (const { line, equal } of fitting) {
      if (line.mode === 'disallowed')
        if (equal.length === 0) pass();
        else for (const [place] of equal) issue('disallowed', line, where, textAt(place));
      if (line.mode === 'required' && equal.length === 0) reportMissing(line, where);
      if (line.mode === 'required' && equal.length > 0)
        for (const standing of found?.get(line.text) ?? ['inPlace'])
          if (standing === 'inPlace') pass();
          else if (standing === 'missing') issue('required', line, where, null);
          else issue('order', line, where, textAt(equal[0]?.[0]));
      if (line.section.lines.size > 0)
        for (const places of equal)
          compareSection(line, deviceSection(lines, places), belowOf(where, line, textAt(places[0])));
    }
  };

  compareSection({ ordering: 'none', section }, deviceSection(lines), { above: [], parents: [] });
  return {
    totals,
    ...gradeOf(totals, grading),
    issues,
    ...(totals.errors + totals.warnings + totals.infos > issues.length && { truncated: true as const }),
  };
};

const belowOf = ({ above, parents }: Where, line: GoldenLine, text: string): Where => ({
  above: [...above, line],
  parents: [...parents, text],
});
