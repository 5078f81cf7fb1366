import { type Auth, plainText } from '@automation-platform/client';
import { isObject, type Members } from '@automation-platform/json';
import { defined } from '../../domain/engine/defined.ts';
import type { DocumentKind, ImportOptions } from '../../domain/engine/documentKinds.ts';
import { stopSignal } from '../../process/program.ts';
import {
  type Access,
  accessFrom,
  askOptions,
  messageOf,
  type Platform,
  passwordFrom,
  platformAt,
} from '../askService.ts';
import { argument, command, flag, optionOr } from '../engine/command.ts';
import type { Entry } from '../migrate/kinds.ts';
import { progressLine, type Terminal } from '../progress.ts';

export const migrate = command({
  name: 'migrate',
  about: 'Import the documents of a folder, a file, or another platform (its URL) into the running service',
  args: { source: argument('a folder, a file or a URL') },
  options: {
    ...askOptions,
    sourceUser: optionOr('<name>', 'the account to read the other platform with', 'admin'),
    dryRun: flag('only say what would be imported'),
    overwrite: flag('replace other content under a used id or name'),
  },
  help: `\
Documents are imported in the order in which they name each other. Each is reported: as a line of JSON, or on a terminal in
words if it is refused. Documents that are there already are no change, so run the same command again to go on after a stop.
Passwords come from AUTOMATION_PLATFORM_PASSWORD and AUTOMATION_PLATFORM_SOURCE_PASSWORD, or are asked for. A token is
sent to the running service alone.
The exit status is 3 if a document of a known kind, or a part of a package, stayed out.`,
  run: async ({ source, sourceUser, dryRun, overwrite, ...asking }) => {
    const target = await accessFrom(asking);
    const sourcePassword = /^https?:/.test(source)
      ? await passwordFrom('AUTOMATION_PLATFORM_SOURCE_PASSWORD', `Password of ${sourceUser} at ${source}: `)
      : '';
    const sourceAuth = { username: sourceUser, password: sourcePassword };
    const signal = stopSignal('Stopped; run the same command again to go on');
    const leftOut = await migrateAll({ source, sourceAuth, target, dryRun, overwrite }, signal);
    return leftOut > 0 ? 3 : 0;
  },
});

/** The outcome for one document. */
export type Report = {
  readonly from: string;
  readonly kind: string | null;
  readonly name: string;
  /** `found`: in a dry run, a document that would be imported. `skipped`: no kind has such documents. */
  readonly outcome: 'imported' | 'found' | 'refused' | 'skipped';
  readonly reason?: string;
  readonly missingSecrets?: unknown;
  /** Schedules that never run. */
  readonly warnings?: unknown;
  /** The outcome for each document of a package or a project. */
  readonly package?: unknown;
};

type Migration = {
  /** A folder, a file, or the URL of another platform. */
  readonly source: string;
  /** How to log in at the other platform; needed only for a URL. */
  readonly sourceAuth: Auth;
  readonly target: Access;
  readonly dryRun: boolean;
  readonly overwrite: boolean;
};

// They are sorted before the first is imported.
const mostCharacters = 512 * 1024 * 1024;

type Output = { readonly report: Terminal; readonly progress: Terminal };

/**
 * Imports documents into a running platform, in the order in which they name each other. Every document is reported: as
 * NDJSON, or on a terminal in sentences, with a line of progress. Documents that are there already are no change, so a
 * second run goes on where the first one stopped. Returns the number of documents of known kinds that stayed out, in whole
 * or in part.
 */
export const migrateAll = async (
  { source, sourceAuth, target, dryRun, overwrite }: Migration,
  signal: AbortSignal,
  output: Output = { report: process.stdout, progress: process.stderr },
): Promise<number> => {
  const { kinds } = await import('../migrate/kinds.ts');
  const { documentsInFiles, documentsOfPlatform } = await import('../migrate/kinds.ts');
  const to = platformAt(target, signal);
  await checkLogin(to);
  const isUrl = /^https?:\/\//.test(source);
  const entries = isUrl
    ? documentsOfPlatform(platformAt({ url: source, auth: sourceAuth }, signal))
    : documentsInFiles(source);
  const found = await inOrder(entries, kinds);
  const { show, end } = progressLine(output.progress);
  const reports: Report[] = [];
  for (const [i, entry] of found.entries()) {
    signal.throwIfAborted();
    show(() => `${i} of ${found.length} documents`);
    const report = await take(entry, to, { dryRun, overwrite });
    reports.push(report);
    if (!output.report.isTTY) output.report.write(`${JSON.stringify(report)}\n`);
    else for (const sentence of inWords(report)) output.report.write(`${plainText(sentence)}\n`);
  }
  end();
  output.progress.write(`${summaryOf(reports) || 'There are no documents'}\n`);
  return reports.filter(isLeftOut).length;
};

/** The documents of a package or a project that were refused. */
const refusedOf = ({ package: result }: Report): readonly Members[] =>
  isObject(result) && Array.isArray(result.refused) ? result.refused.filter(isObject) : [];

/** True if the document, or a part of it, is of a known kind and stayed out. */
const isLeftOut = (report: Report): boolean =>
  report.outcome === 'refused' ||
  (report.outcome === 'skipped' && report.kind !== null) ||
  refusedOf(report).length > 0;

/** How many documents came to what, and of which kinds those are that were left out. */
const summaryOf = (reports: readonly Report[]): string => {
  const parts = countsOf(reports.map(({ outcome }) => outcome)).map(([outcome, count]) => {
    const some = reports.filter((report) => report.outcome === outcome);
    const kinds = countsOf(some.map(({ kind }) => kind ?? 'document'));
    const named = kinds.map(([kind, of]) => `${of} ${kind}${of === 1 ? '' : 's'}`).join(', ');
    return outcome === 'imported' || outcome === 'found' ? `${count} ${outcome}` : `${count} ${outcome}: ${named}`;
  });
  const within = reports.flatMap(refusedOf).length;
  return [...parts, ...(within > 0 ? [`${within} refused within packages`] : [])].join('; ');
};

/** How often each word occurs, in the order of their first places. */
const countsOf = <Word extends string>(words: readonly Word[]): readonly (readonly [Word, number])[] =>
  [...new Set(words)].map((word) => [word, words.filter((one) => one === word).length]);

const checkLogin = async ({ ask, url }: Platform): Promise<void> => {
  const { status, body } = await ask({ method: 'GET', path: '/authorization/whoami' });
  if (status !== 200) throw new Error(`${url} does not let you in: ${messageOf(body, status)}`);
};

/** All entries, sorted by the order of kinds. Packages come first, as they bring what single documents change. */
const inOrder = async (
  entries: AsyncIterable<Entry> | Iterable<Entry>,
  kinds: readonly DocumentKind[],
): Promise<readonly Entry[]> => {
  const found: Entry[] = [];
  let length = 0;
  for await (const entry of entries) {
    length += 'text' in entry ? entry.text.length : 0;
    if (length > mostCharacters)
      throw new Error('There are more documents than fit into memory; migrate them in parts');
    found.push(entry);
  }
  const rank = (entry: Entry): number => ('kind' in entry && entry.kind ? kinds.indexOf(entry.kind) : kinds.length);
  return found.sort((a, b) => rank(a) - rank(b));
};

const take = async (entry: Entry, to: Platform, how: ImportOptions): Promise<Report> => {
  if ('unreadable' in entry)
    return { from: entry.from, kind: null, name: '', outcome: 'refused', reason: entry.unreadable };
  const { from, kind, name, leftOut } = entry;
  const about = { from, kind: kind?.name ?? leftOut, name };
  if (!kind) return { ...about, outcome: 'skipped', reason: 'No import takes such a document' };
  if (how.dryRun && kind.name !== 'package') return { ...about, outcome: 'found' };
  const { status, body } = await to.ask(kind.importing(entry.text, how));
  const result = resultIn(body);
  if (status !== 200) return { ...about, outcome: 'refused', reason: messageOf(body, status) };
  return {
    ...about,
    outcome: how.dryRun ? 'found' : 'imported',
    ...defined({
      missingSecrets: result.missingSecrets,
      warnings: result.warnings,
      package: kind.name === 'package' ? result : componentsOf(body),
    }),
  };
};

/** The outcome for each component of a project; undefined for other documents. */
const componentsOf = (body: unknown): Members | undefined => {
  const metadata = isObject(body) ? body.metadata : undefined;
  if (!isObject(metadata) || !Array.isArray(metadata.failedComponents)) return undefined;
  const { failedComponents: refused, installed, kept } = metadata;
  return { installed, kept, refused };
};

/** The part of an answer that is about the one document. */
const resultIn = (body: unknown): Members => {
  if (!isObject(body)) return {};
  const { data, missingSecrets } = body;
  if (Array.isArray(data)) return isObject(data[0]) ? data[0] : {};
  const about = isObject(data) ? data : {};
  return defined({ missingSecrets, ...about });
};

/** Sentences about the documents that were left out. */
const inWords = (report: Report): readonly string[] => {
  const { outcome, kind, name, from, reason } = report;
  const about = `${kind ?? 'document'} ${JSON.stringify(name)} of ${from}`;
  if (outcome === 'refused' || outcome === 'skipped') return [`${outcome}: ${about}: ${reason}`];
  return refusedOf(report).map(
    (part) => `refused: ${part.type} ${JSON.stringify(part.name ?? part.id ?? '')} within ${about}: ${part.reason}`,
  );
};
