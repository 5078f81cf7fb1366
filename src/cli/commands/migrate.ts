import { writeFileSync } from 'node:fs';
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
import { argument, command, flag, option, optionOr } from '../engine/command.ts';
import type { Forecast } from '../migrate/dryRun.ts';
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
    report: option('<file>', 'write all outcomes, and what is missing, as JSON into a file'),
    overwrite: flag('replace other content under a used id or name'),
  },
  help: `\
Documents are imported in the order in which they name each other. Each is reported: as a line of JSON, or on a terminal in
words if it is refused. A table at the end counts the outcomes, and says which workflows can run and what they miss. Documents that are there already are no change, so run the same command again to go on after a stop.
Passwords come from AUTOMATION_PLATFORM_PASSWORD and AUTOMATION_PLATFORM_SOURCE_PASSWORD, or are asked for. A token is
sent to the running service alone.
The exit status is 3 if a document of a known kind, or a part of a package, stayed out.`,
  run: async ({ source, sourceUser, dryRun, overwrite, report, ...asking }) => {
    const target = await accessFrom(asking);
    const sourcePassword = /^https?:/.test(source)
      ? await passwordFrom('AUTOMATION_PLATFORM_SOURCE_PASSWORD', `Password of ${sourceUser} at ${source}: `)
      : '';
    const sourceAuth = { username: sourceUser, password: sourcePassword };
    const signal = stopSignal('Stopped; run the same command again to go on');
    const summary = await migrateAll({ source, sourceAuth, target, dryRun, overwrite }, signal);
    if (report !== undefined) writeFileSync(report, `${JSON.stringify(summary, null, 2)}\n`);
    return summary.documents.some(isLeftOut) ? 3 : 0;
  },
});

/** The outcome for one document. */
export type Report = {
  readonly from: string;
  readonly kind: string | null;
  readonly name: string;
  /** `kept`: the package keeps it and installs nothing of it. `skipped`: no import takes such a document. */
  readonly outcome: 'installed' | 'unchanged' | 'kept' | 'refused' | 'skipped';
  readonly why?: string;
  readonly missingSecrets?: unknown;
  /** Schedules that never run. */
  readonly warnings?: unknown;
  /** The outcome for each document of a package or a project. */
  readonly package?: unknown;
};

type MissingPart = { readonly in: string; readonly kind: string; readonly name: string };

/** The outcomes of a migration. */
export type Summary = {
  readonly documents: readonly Report[];
  /** How many documents of each kind came to which outcome. */
  readonly kinds: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** The things that the platform does not have, and without which something cannot run. */
  readonly missing: readonly MissingPart[];
  /** The names of the workflows that miss nothing. */
  readonly ready: readonly string[];
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
 * second run goes on where the first one stopped. A dry run has the outcomes of the import and changes nothing.
 */
export const migrateAll = async (
  { source, sourceAuth, target, dryRun, overwrite }: Migration,
  signal: AbortSignal,
  output: Output = { report: process.stdout, progress: process.stderr },
): Promise<Summary> => {
  const { kinds } = await import('../migrate/kinds.ts');
  const { documentsInFiles, documentsOfPlatform } = await import('../migrate/kinds.ts');
  const { forecast } = await import('../migrate/dryRun.ts');
  const to = platformAt(target, signal);
  await checkLogin(to);
  const isUrl = /^https?:\/\//.test(source);
  const entries = isUrl
    ? documentsOfPlatform(platformAt({ url: source, auth: sourceAuth }, signal))
    : documentsInFiles(source);
  const found = await inOrder(entries, kinds);
  const { show, end } = progressLine(output.progress);
  const documents = found.filter(isDocument);
  const forecasts = await forecast(documents, overwrite, to);
  const forecastOf = new Map<Entry, Forecast | undefined>(documents.map((one, i) => [one, forecasts[i]]));
  const reports: Report[] = [];
  const [missing, ready]: [MissingPart[], string[]] = [[], []];
  for (const [i, entry] of found.entries()) {
    signal.throwIfAborted();
    show(() => `${i} of ${found.length} documents`);
    const { report, readiness } = await take(entry, to, { dryRun, overwrite, expected: forecastOf.get(entry) });
    reports.push(report);
    missing.push(...missingSecretsOf(report));
    if (readiness) {
      const { of, parts } = await readinessAt(readiness, to);
      missing.push(...parts);
      if (of) ready.push(report.name);
    }
    if (!output.report.isTTY) output.report.write(`${JSON.stringify(report)}\n`);
    else for (const sentence of inWords(report)) output.report.write(`${plainText(sentence)}\n`);
  }
  end();
  const summary = { documents: reports, kinds: kindsOf(reports), missing: once(missing), ready };
  output.progress.write(`${summaryOf(reports) || 'There are no documents'}\n${tableOf(summary)}`);
  return summary;
};

type Document = Extract<Entry, { readonly text: string }> & { readonly kind: DocumentKind };

const isDocument = (entry: Entry): entry is Document => 'text' in entry && entry.kind !== undefined;

const once = (parts: readonly MissingPart[]): readonly MissingPart[] => [
  ...new Map(parts.map((part) => [JSON.stringify(part), part])).values(),
];

const kindsOf = (reports: readonly Report[]): Summary['kinds'] =>
  Object.fromEntries(
    countsOf(reports.map(({ kind }) => kind ?? 'document')).map(([kind]) => [
      kind,
      Object.fromEntries(
        countsOf(reports.filter((one) => (one.kind ?? 'document') === kind).map(({ outcome }) => outcome)),
      ),
    ]),
  );

const outcomes = ['installed', 'unchanged', 'kept', 'refused', 'skipped'] as const;
const mostShown = 20;

/** The outcomes by kind, and what can run and what cannot, as lines for a reader. */
const tableOf = ({ kinds, missing, ready }: Summary): string => {
  const rows = Object.entries(kinds).map(([kind, counts]) => [
    kind,
    ...outcomes.map((one) => String(counts[one] ?? 0)),
  ]);
  if (rows.length === 0) return '';
  const all = [['', ...outcomes], ...rows];
  const widths = all[0]?.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0))) ?? [];
  const lines = all.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  '),
  );
  const wanting = countsOf(missing.map((part) => part.in));
  const shownParts = missing.slice(0, mostShown).map((part) => `${part.in}: ${part.kind} ${part.name}`);
  if (missing.length > mostShown) shownParts.push(`and ${missing.length - mostShown} more (--report)`);
  return `${[
    ...lines,
    ...(ready.length > 0 ? [`${ready.length} can run`] : []),
    ...(wanting.length > 0 ? [`${wanting.length} miss something:`, ...shownParts] : []),
  ]
    .map(plainText)
    .join('\n')}\n`;
};

const missingSecretsOf = ({ name, missingSecrets }: Report): readonly MissingPart[] =>
  Array.isArray(missingSecrets)
    ? missingSecrets.map((place: unknown) => ({ in: name, kind: 'secret', name: String(place) }))
    : [];

/** The things that an imported resource misses. Platforms of earlier versions cannot say it. */
const readinessAt = async (
  path: string,
  { ask }: Platform,
): Promise<{ readonly of: boolean; readonly parts: readonly MissingPart[] }> => {
  const { status, body } = await ask({ method: 'GET', path });
  if (status !== 200 || !isObject(body) || !Array.isArray(body.missing)) return { of: false, parts: [] };
  return { of: body.ready === true, parts: body.missing as MissingPart[] };
};

/** The documents of a package or a project that were refused. */
const refusedOf = ({ package: result }: Report): readonly Members[] =>
  isObject(result) && Array.isArray(result.refused) ? result.refused.filter(isObject) : [];

/** True if the document, or a part of it, is of a known kind and stayed out. */
export const isLeftOut = (report: Report): boolean =>
  report.outcome === 'refused' ||
  (report.outcome === 'skipped' && report.kind !== null) ||
  refusedOf(report).length > 0;

/** How many documents came to what, and of which kinds those are that were left out. */
const summaryOf = (reports: readonly Report[]): string => {
  const parts = countsOf(reports.map(({ outcome }) => outcome)).map(([outcome, count]) => {
    const some = reports.filter((report) => report.outcome === outcome);
    const kinds = countsOf(some.map(({ kind }) => kind ?? 'document'));
    const named = kinds.map(([kind, of]) => `${of} ${kind}${of === 1 ? '' : 's'}`).join(', ');
    return outcome === 'installed' || outcome === 'unchanged' ? `${count} ${outcome}` : `${count} ${outcome}: ${named}`;
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

type Import = ImportOptions & { readonly expected: Forecast | undefined };

/** The report on one document, and the path that says what it misses. */
type Outcome = { readonly report: Report; readonly readiness?: string | undefined };

const take = async (entry: Entry, to: Platform, how: Import): Promise<Outcome> => {
  if ('unreadable' in entry)
    return { report: { from: entry.from, kind: null, name: '', outcome: 'refused', why: entry.unreadable } };
  const { from, kind, name, leftOut } = entry;
  const about = { from, kind: kind?.name ?? leftOut, name };
  if (!kind) return { report: { ...about, outcome: 'skipped', why: 'No import takes such a document' } };
  const { expected, ...options } = how;
  if (how.dryRun && kind.name !== 'package') {
    const { outcome = 'installed', why, components } = expected ?? { why: 'A dry run does not try such documents' };
    return { report: { ...about, outcome, ...defined({ why, package: components && { refused: components } }) } };
  }
  const { status, body } = await to.ask(kind.importing(entry.text, options));
  const result = resultIn(body);
  if (status !== 200) return { report: { ...about, outcome: 'refused', why: messageOf(body, status) } };
  const isUnchanged = expected?.outcome === 'unchanged' || / already$/.test(messageOf(body, status));
  const parts = kind.name === 'package' ? result : componentsOf(body);
  const isKept = kind.name === 'package' && lengthOf(parts?.installed) === 0 && lengthOf(parts?.kept) > 0;
  const outcome = isKept ? 'kept' : 'installed';
  return {
    report: {
      ...about,
      outcome: isUnchanged ? 'unchanged' : outcome,
      ...defined({ missingSecrets: result.missingSecrets, warnings: result.warnings, package: parts }),
    },
    readiness: how.dryRun ? undefined : readinessPath(kind, idIn(body)),
  };
};

const lengthOf = (list: unknown): number => (Array.isArray(list) ? list.length : 0);

const idIn = (body: unknown): string | undefined => {
  const { _id, data } = resultIn(body);
  const id = _id ?? (isObject(data) ? data._id : undefined);
  return typeof id === 'string' ? id : undefined;
};

/** The path that says what a resource misses; undefined for kinds without one. */
const readinessPath = ({ name, list }: DocumentKind, id: string | undefined): string | undefined =>
  id !== undefined && ['package', 'project', 'workflow'].includes(name) ? `${list}/${id}/readiness` : undefined;

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
  const { outcome, kind, name, from, why } = report;
  const about = `${kind ?? 'document'} ${JSON.stringify(name)} of ${from}`;
  if (outcome === 'refused' || outcome === 'skipped') return [`${outcome}: ${about}: ${why}`];
  return refusedOf(report).map(
    (part) => `refused: ${part.type} ${JSON.stringify(part.name ?? part.id ?? '')} within ${about}: ${part.reason}`,
  );
};
