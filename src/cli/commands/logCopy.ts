import { readConfig } from '../../config.ts';
import { defined } from '../../domain/engine/defined.ts';
import { stopSignal } from '../../process/program.ts';
import type { CopyEnd } from '../../store/moving/appends.ts';
import type { Copied } from '../../store/moving/copyLog.ts';
import type { OpenEnd } from '../../store/moving/ends.ts';
import { type LogUrl, logUrl } from '../../store/url.ts';
import { argument, command, flag, option, UsageError } from '../engine/command.ts';
import { timeFault } from '../faults.ts';
import type { RewriteConfig } from '../law/beginAnew.ts';
import type { Asked } from '../law/plan.ts';
import { progressLine, type Terminal } from '../progress.ts';

const inUtc = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : new Date(text.toUpperCase()).toISOString();

export const copy = command({
  name: 'log copy',
  about: 'Copy the log of a stopped service to another place; run it again to go on after a stop',
  args: {
    from: argument('sqlite:<file> or esdb://...'),
    to: argument('the same; it may hold a part of the log already'),
  },
  options: {
    skipIncomplete: flag(
      'leave out streams of other tools that have lost events, as by scavenging; without it such a stream ends the copy',
    ),
    forget: option('<account id>', 'replace the names of a deleted account by (forgotten)'),
    withoutJobsBefore: { ...option('<time>', 'leave out jobs that had ended before'), fault: timeFault },
    withoutEventsBefore: { ...option('<time>', 'leave out events that others published before'), fault: timeFault },
  },
  help: `\
Events are copied byte by byte, those of other tools with their content types. Streams that were deleted, or deleted for
ever, are so in the copy. Not copied: streams and events of EventStoreDB's own (names and types that begin with $), but
for the metadata of streams of other tools. The end of the output names all that stays behind.

With --forget or --without-..., the copy begins its signatures anew: it says what was removed, and is signed with AUDIT_KEY
or <DATA_DIR>/audit.key. AUDIT_ANCHOR is told. Times are RFC 3339: 2026-01-31T00:00:00Z (docs/tampering.md).`,
  run: async ({ from, to, skipIncomplete, forget, withoutJobsBefore, withoutEventsBefore }) => {
    const copyOptions = { forget, jobsBefore: inUtc(withoutJobsBefore), eventsBefore: inUtc(withoutEventsBefore) };
    const isRewritten = Object.values(copyOptions).some((value) => value !== undefined);
    const rewrite = isRewritten ? { asked: copyOptions, config: readConfig(process.env) } : undefined;
    const signal = stopSignal('Stopped; run the same command again to go on');
    await logCopy(from, to, signal, { skipIncomplete, ...defined({ rewrite }) });
    return 0;
  },
});

const named = (name: string, text: string): LogUrl => {
  try {
    return logUrl(text);
  } catch (error) {
    throw new UsageError(`${name} ${(error as Error).message}`);
  }
};

type Choices = {
  readonly output?: Terminal;
  /** Leaves out tools' streams that have lost events. */
  readonly skipIncomplete?: boolean | undefined;
  /** The events that the copy is to lack. Then the target begins its signatures anew. */
  readonly rewrite?: { readonly asked: Asked; readonly config: RewriteConfig };
};

/** The source as it is to be copied, what is left out, and the work that ends the copy. */
type Prepared = {
  readonly from: CopyEnd;
  readonly without: ReadonlySet<string>;
  /** Throws if the target has what is to be left out. */
  readonly check: (to: OpenEnd) => Promise<void>;
  readonly finish: (to: OpenEnd) => Promise<readonly string[]>;
};

const prepared = async (
  from: CopyEnd,
  { asked, config }: NonNullable<Choices['rewrite']>,
  signal: AbortSignal,
): Promise<Prepared> => {
  const { planOf, refuseOther } = await import('../law/plan.ts');
  const { withoutNames } = await import('../law/plan.ts');
  const { beginAnew } = await import('../law/beginAnew.ts');
  const plan = await planOf(from, asked, signal);
  const { forgotten, replaced } = plan;
  return {
    from: forgotten ? withoutNames(from, forgotten, replaced) : from,
    without: plan.skipped,
    check: (to) => refuseOther(to, plan),
    finish: (to) => beginAnew({ from, to, plan, config, signal }),
  };
};

const summary = ({ copied, found, source, target, leftOut, unfit }: Copied): readonly string[] => [
  `${copied} events copied, ${found} were there already; both logs were compared event by event`,
  `source: ${source.events} events, SHA-256 ${source.digest}`,
  `target: ${target.events} events, SHA-256 ${target.digest}`,
  ...[...leftOut].map(([what, times]) => `left out: ${what}${times > 1 ? ` (${times} times)` : ''}`),
  ...unfit,
];

/**
 * Copies the log at one URL to another, which may hold a part of it already. Writes its progress and a summary to
 * `output`. The service must be stopped: if it holds a log in a file, an Error is thrown. A second run goes on where
 * the first one stopped.
 */
export const logCopy = async (
  fromUrl: string,
  toUrl: string,
  signal: AbortSignal,
  { output = process.stderr, skipIncomplete = false, rewrite }: Choices = {},
): Promise<void> => {
  const [source, target] = [named('<from>', fromUrl), named('<to>', toUrl)];
  const { openSource, openTarget } = await import('../../store/moving/ends.ts');
  const { copyLog } = await import('../../store/moving/copyLog.ts');
  const opened: OpenEnd[] = [];
  const progress = progressLine(output);
  const log = (message: string): void => void output.write(`${message}\n`);
  try {
    const ours = await openSource(source, target, log);
    opened.push(ours);
    const rewritten = rewrite && (await prepared(ours, rewrite, signal));
    const to = await openTarget(target, log);
    opened.push(to);
    if (ours.id === to.id) throw new Error('<from> and <to> are the same log');
    await rewritten?.check(to);
    const copyResult = await copyLog({
      from: rewritten?.from ?? ours,
      to,
      skipIncomplete,
      ...defined({ without: rewritten?.without }),
      signal,
      report: ({ step, position, head, events }) =>
        progress.show(() => `${step} ${Math.floor((100 * position) / head)} % (${events} events)`),
    });
    progress.end();
    for (const line of summary(copyResult)) log(line);
    for (const line of (await rewritten?.finish(to)) ?? []) log(line);
    log('Secrets in it open with the SECRET_KEY or secret.key of the service that it is from');
  } finally {
    progress.end();
    for (const end of opened.reverse()) await end.close();
  }
};
