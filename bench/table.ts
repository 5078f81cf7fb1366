import { type Comparison, median } from './compare.ts';

const columns = ['what', 'ours', 'compared with', 'their figure', 'ratio (median, min..max)', 'goal', 'met'];

const said = (met: boolean): string => (met ? 'yes' : '**no**');

const cells = ({ what, comparedWith, ours, theirs, shown, goal }: Comparison): string[] => {
  const ratios = ours.map((figure, round) => figure / theirs[round]!);
  const ratio = median(ratios);
  const goals =
    goal === undefined
      ? ['', '']
      : 'least' in goal
        ? [`>= ${goal.least}`, said(ratio >= goal.least)]
        : [`<= ${goal.most}`, said(ratio <= goal.most)];
  const digits = ratio < 0.1 ? 3 : 2;
  return [
    what,
    shown(median(ours)),
    comparedWith,
    shown(median(theirs)),
    `${ratio.toFixed(digits)} (${Math.min(...ratios).toFixed(digits)}..${Math.max(...ratios).toFixed(digits)})`,
    ...goals,
  ];
};

const line = (texts: readonly string[]): string => `| ${texts.join(' | ')} |`;

/** Comparisons as a Markdown table: medians over the rounds, the ratio worked out round by round. */
export const table = (comparisons: readonly Comparison[]): string =>
  [line(columns), line(columns.map(() => '---')), ...comparisons.map((comparison) => line(cells(comparison)))].join(
    '\n',
  );
