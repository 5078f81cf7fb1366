import { addTotals, type Grading, gradeOf, noTotals, type Parser, remedyOf } from '@automation-platform/configurations';
import { type Static, Type } from 'typebox';
import { parsing } from '../../commands/configuration-manager/configurationParsers.ts';
import type { Tools } from '../../commands/engine/define.ts';
import { perRevision } from '../../commands/engine/perRevision.ts';
import { perTools } from '../../commands/engine/perTools.ts';
import { reportSchema, type StoredReport } from '../../domain/configuration-manager/complianceReports.ts';
import { gradingSchema } from '../../domain/configuration-manager/planSchemas.ts';
import { refuseGrading } from '../../domain/configuration-manager/plans.ts';
import { lastOf, lineAt } from '../../domain/configuration-manager/treeNodes.ts';
import { versionOf } from '../../domain/configuration-manager/trees.ts';
import type { Actor } from '../../domain/engine/core.ts';
import { defined } from '../../domain/engine/defined.ts';
import { refuseUnknownIds } from '../../domain/engine/references.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { closed, name } from '../../domain/engine/schemas.ts';
import {
  anyTree,
  complianceReports,
  newestOfNode,
  type ReportDoc,
  reportIn,
} from '../../projections/configuration-manager/complianceReports.ts';
import { plans } from '../../projections/configuration-manager/plans.ts';
import { trees } from '../../projections/configuration-manager/trees.ts';
import { documentIn, pageOf, pagesOf, readableDocuments } from '../../projections/engine/documents.ts';
import { readableBy } from '../../projections/engine/guards.ts';
import type { Where } from '../../projections/engine/port.ts';
import type { Route } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';
import type { Service } from '../engine/service.ts';

type Field = keyof (typeof complianceReports)['filters'] & string;
type Is = Where<Field>;

const is = (field: Field, value: string): Is => ({ field, op: 'equals', value });

/** The newest reports that the caller may read, at most `limit`. */
const newestReports = async (all: Is[], limit: number, actor: Actor, { model }: Service): Promise<ReportDoc[]> => {
  const page = { where: { all }, sort: 'timestamp', order: -1, skip: 0, limit } as const;
  const { entries } = await pageOf(model, complianceReports, { ...page, ...readableBy(actor, model) });
  return entries.map((entry) => documentIn(complianceReports, entry));
};

/** A report without its issues, and the ids of the golden lines that they are about. */
type Outline = Omit<ReportDoc, 'issues' | 'configuration'> & { readonly lines: readonly string[] };

/** Sums look at all newest reports, so each is read once. */
const outlinesBy = perTools(() =>
  perRevision({
    make: (text: string): Outline => {
      const { issues, configuration: _, ...report } = documentIn(complianceReports, { text });
      return { ...report, lines: [...new Set(issues.map(({ spec }) => spec.id))] };
    },
    sizeOf: ({ lines }) => 2000 + 50 * lines.length,
    most: 64 * 1024 * 1024,
  }),
);

type Latest = { readonly report: Outline; readonly text: string };

/**
 * The newest report of each device and node among those that the caller may read. `of`: a tree, or a node. Several plans may
 * have one each.
 */
const latestEntries = async (of: string, actor: Actor, { model, tools }: Service): Promise<readonly Latest[]> => {
  const outlines = outlinesBy(tools);
  const latest = new Map<string, Latest>();
  const where = is('newestOf', of);
  const query = { where, sort: 'timestamp', order: -1, length: 100, ...readableBy(actor, model) } as const;
  for await (const entries of pagesOf(model, complianceReports, query))
    for (const entry of entries) {
      const report = outlines.of(entry, () => entry.text);
      const key = JSON.stringify([report.version, report.nodeId, report.deviceName]);
      if (!latest.has(key)) latest.set(key, { report, text: entry.text });
    }
  return [...latest.values()];
};

const latestReports = async (...of: Parameters<typeof latestEntries>): Promise<readonly Outline[]> =>
  (await latestEntries(...of)).map(({ report }) => report);

type NodeNamed = { readonly treeId: string; readonly version: string; readonly nodePath: string };

const nodeIn = async ({ treeId, version, nodePath }: NodeNamed, actor: Actor, { entry }: Service) => {
  const tree = documentIn(trees, await entry(trees, treeId, actor));
  const { configId } = lastOf(lineAt(versionOf(tree, version).root, nodePath, 'nodePath'));
  return { treeId: tree._id, version, nodeId: configId };
};

/** The reports on a node have these values. */
const ofNode = async (...of: Parameters<typeof nodeIn>): Promise<[Is, Is, Is]> => {
  const { treeId, version, nodeId } = await nodeIn(...of);
  return [is('treeId', treeId), is('version', version), is('nodeId', nodeId)];
};

const latestOfNode = async (...of: Parameters<typeof nodeIn>): Promise<readonly Outline[]> => {
  const [, actor, service] = of;
  return latestReports(newestOfNode(await nodeIn(...of)), actor, service);
};

const count = (of: string) => Type.Integer({ minimum: 0, description: of });

const summarySchema = Type.Object(
  {
    errors: count('Errors'),
    warnings: count('Warnings'),
    infos: count('Infos'),
    passes: count('Passes'),
    deviceWithErrors: count('Devices with errors'),
    deviceWithWarnings: count('Devices with warnings'),
    deviceWithInfos: count('Devices with infos'),
    fullyCompliantDevices: count('Devices that were checked and have no issue'),
    numDevices: count('Devices that have a report'),
    failedDevices: count('Devices that could not be checked'),
  },
  { title: 'ComplianceSummary', description: 'Sums of the newest report of each device and node' },
);

const summaryOf = (reports: readonly Outline[]): Static<typeof summarySchema> => {
  const totals = reports.map(({ totals }) => totals).reduce(addTotals, noTotals);
  const devicesOf = (fits: (report: Outline) => boolean): Set<string> =>
    new Set(reports.filter(fits).map(({ deviceName }) => deviceName));
  const all = devicesOf(() => true);
  const wanting = devicesOf(
    ({ status, totals: { errors, warnings, infos } }) => status === 'error' || errors + warnings + infos > 0,
  );
  return {
    ...totals,
    deviceWithErrors: devicesOf(({ totals: { errors } }) => errors > 0).size,
    deviceWithWarnings: devicesOf(({ totals: { warnings } }) => warnings > 0).size,
    deviceWithInfos: devicesOf(({ totals: { infos } }) => infos > 0).size,
    fullyCompliantDevices: all.size - wanting.size,
    numDevices: all.size,
    failedDevices: devicesOf(({ status }) => status === 'error').size,
  };
};

const path = '/compliance_reports';
const access = ['operators', 'readers'] as const;

const grading = Type.Optional(gradingSchema);
const gradeOptions = Type.Optional(closed({ grading }, { description: 'How to grade; as the plan does unless given' }));
const node = {
  treeId: name('Id or name of the tree'),
  version: name('Version of the tree'),
  nodePath: Type.String({ minLength: 1, maxLength: 4096, description: 'Path of the node' }),
};
const limit = Type.Integer({ minimum: 1, maximum: 1000, default: 25, description: 'How many to give' });

type GradeOptions = { readonly grading?: Grading };

/** Score and grade of a report: those that it has, or by another grading. */
const graded = (report: Outline | ReportDoc, { grading }: GradeOptions = {}): Pick<ReportDoc, 'score' | 'grade'> => {
  refuseGrading(grading, '/options/grading');
  const { score, grade } = grading ? gradeOf(report.totals, grading) : report;
  return { score, grade };
};

const { id, batchId, planId, score, grade, timestamp, deviceName, nodePath, status, totals } = reportSchema.properties;
const reportRecord = Type.Object(
  { id, batchId, planId, nodePath, deviceName, timestamp, status, totals, score, grade },
  { title: 'ComplianceRecord', description: 'Report without its issues' },
);
const recordMembers = Object.keys(reportRecord.properties) as (keyof typeof reportRecord.properties)[];
const recordOf = (report: ReportDoc) => Object.fromEntries(recordMembers.map((member) => [member, report[member]]));

const gradesSchema = Type.Array(
  Type.Object({
    grade,
    total: count('Reports of this grade'),
    devices: count('Devices of this grade'),
    records: Type.Array(Type.Object({ deviceName, reportId: Type.String(), nodePath, timestamp, score })),
  }),
  { description: 'A grade each, with the newest report of each device; null: it could not be checked' },
);

const gradesOf = (reports: readonly Outline[], options?: GradeOptions): Static<typeof gradesSchema> => {
  const records = reports.map((report) => ({ ...report, ...graded(report, options) }));
  return (['pass', 'review', 'fail', null] as const).flatMap((grade) => {
    const own = records.filter((one) => one.grade === grade);
    const ofGrade = own.map(({ deviceName, _id, nodePath, timestamp, score }) => ({
      deviceName,
      reportId: _id,
      nodePath,
      timestamp,
      score,
    }));
    const devices = new Set(own.map(({ deviceName }) => deviceName)).size;
    return own.length > 0 ? [{ grade, total: own.length, devices, records: ofGrade }] : [];
  });
};

const summaryRoutes: readonly Route[] = [
  actionRoute({
    name: 'getTreeCompliance',
    method: 'get',
    reads: true,
    path: `${path}/tree/:treeId`,
    access,
    summary: 'Sum up the compliance with a tree',
    description: 'By the newest report of each device and node, among those that you may read.',
    answer: summarySchema,
    run: async ({ params, actor }, service) => {
      const { id } = await service.entry(trees, params.treeId, actor);
      return { body: summaryOf(await latestReports(id, actor, service)) };
    },
  }),
  actionRoute({
    name: 'getNodeCompliance',
    method: 'get',
    reads: true,
    path: `${path}/node/:treeId/:nodePath`,
    access,
    summary: 'Sum up the compliance with a node of a tree',
    description: 'By the newest report of each device, among those that you may read. The nodes below it do not count.',
    query: { version: Type.Optional(name('Version of the tree; the first one unless given')) },
    answer: summarySchema,
    run: async ({ params, query, actor }, service) => {
      const { versions } = documentIn(trees, await service.entry(trees, params.treeId, actor));
      const version = query.version ?? versions[0]?.name ?? '';
      return { body: summaryOf(await latestOfNode({ ...params, version }, actor, service)) };
    },
  }),
];

const gradeRoutes: readonly Route[] = [
  actionRoute({
    name: 'gradeNode',
    method: 'post',
    reads: true,
    path: `${path}/grade`,
    access,
    summary: 'Grade the devices of a node',
    description: 'By the newest report of each device.',
    body: closed({ ...node, options: gradeOptions }),
    answer: gradesSchema,
    run: async ({ body, actor }, service) => {
      const reports = await latestOfNode(body, actor, service);
      return { body: gradesOf(reports, body.options) };
    },
  }),
  actionRoute({
    name: 'gradeComplianceReport',
    method: 'post',
    reads: true,
    path: `${path}/grade/single`,
    access,
    summary: 'Grade a report anew',
    description: 'The report as it is stays.',
    body: closed({ reportId: name('Id of the report'), options: gradeOptions }),
    answer: reportSchema,
    run: async ({ body: { reportId, options }, actor }, { entryById }) => {
      const report = documentIn(complianceReports, await entryById(complianceReports, reportId, actor));
      return { body: { ...reportIn(report), ...graded(report, options) } };
    },
  }),
];

const proposed = Type.Array(
  Type.Object({
    parents: Type.Array(Type.String(), { description: 'The lines that it is below' }),
    line: Type.String({ description: 'The line to send, or the one that it is about' }),
    why: Type.String({ description: 'Why, as a sentence' }),
  }),
);

type Broken = Pick<StoredReport, 'issues' | 'deviceType'> & { readonly parser?: Parser };

/** Lines of a type with a parser are written in the form of the parser's template. */
const remedyWith = (tools: Pick<Tools, 'query'>) =>
  parsing(tools)(async ({ issues, deviceType, parser }: Broken, _: undefined) =>
    remedyOf({ issues, deviceType: parser?.template ?? deviceType }),
  );

const remediation = actionRoute({
  name: 'proposeRemediation',
  method: 'post',
  reads: true,
  path: `${path}/:id/remediation`,
  access,
  summary: 'Propose what would mend a device',
  description:
    'Missing lines below theirs, and the negation of lines that must not be there. byHand has what no line can be proposed ' +
    'for: expressions, masked secrets, texts of several lines, order. Nothing is sent. 409: the device was not compared.',
  answer: Type.Object(
    {
      config: Type.String({ description: 'All lines, as the device takes them' }),
      lines: { ...proposed, description: 'The lines' },
      byHand: { ...proposed, description: 'Lines that a person must see to' },
      truncated: Type.Optional(Type.Literal(true, { description: 'The report does not have all issues' })),
    },
    { title: 'Remediation' },
  ),
  run: async ({ params, actor }, { entryById, tools }) => {
    const report = documentIn(complianceReports, await entryById(complianceReports, params.id, actor));
    if (report.status === 'error') throw new RequestError('conflict', 'The device was not compared', { path: '/id' });
    const { issues, deviceType, truncated } = report;
    return { body: { ...(await remedyWith(tools)({ issues, deviceType }, undefined)), ...defined({ truncated }) } };
  },
});

const dayMs = 86_400_000;

const trendSchema = Type.Array(
  Type.Object({
    date: Type.String({ format: 'date', description: 'Day, UTC' }),
    score: Type.Number({ description: 'Mean of the scores, to two decimals' }),
    reports: count('Reports of that day with a score'),
  }),
  { description: 'The oldest day first; days without a score are left out' },
);

const days = Type.Integer({ minimum: 1, maximum: 366, default: 7, description: 'How many days, with today' });

/** The mean score of each day, of reports that the caller may read. */
const trendOf = async (all: Where<Field>[], days: number, actor: Actor, { model, moment, tools }: Service) => {
  const outlines = outlinesBy(tools);
  const first = new Date((Math.floor(moment().now / dayMs) - days + 1) * dayMs).toISOString();
  const sums = new Map<string, { sum: number; reports: number }>();
  const query = { where: { all }, sort: 'timestamp', order: -1, length: 100, ...readableBy(actor, model) } as const;
  pages: for await (const entries of pagesOf(model, complianceReports, query))
    for (const entry of entries) {
      const { timestamp, score } = outlines.of(entry, () => entry.text);
      if (timestamp < first) break pages;
      if (score === null) continue;
      const date = timestamp.slice(0, 10);
      const { sum, reports } = sums.get(date) ?? { sum: 0, reports: 0 };
      sums.set(date, { sum: sum + score, reports: reports + 1 });
    }
  return [...sums]
    .reverse()
    .map(([date, { sum, reports }]) => ({ date, score: Math.round((sum / reports) * 100) / 100, reports }));
};

const trendRoutes: readonly Route[] = [
  actionRoute({
    name: 'getDeviceScoreTrend',
    method: 'get',
    reads: true,
    path: `${path}/score_trend/:deviceName`,
    access,
    summary: 'Show how the score of a device went',
    description: 'A mean each day, of the reports that you may read.',
    query: {
      days: Type.Optional(days),
      planIds: Type.Optional(
        Type.String({ maxLength: 4096, description: 'Ids of plans, between commas; all unless given' }),
      ),
    },
    answer: trendSchema,
    run: async ({ params, query: { days = 7, planIds }, actor }, service) => {
      const any = planIds?.split(',').map((plan) => is('planId', plan.trim()));
      const all = [is('deviceName', params.deviceName), ...(any ? [{ any }] : [])];
      return { body: await trendOf(all, days, actor, service) };
    },
  }),
  actionRoute({
    name: 'getPlanScoreTrend',
    method: 'get',
    reads: true,
    path: '/compliance_plans/:planId/compliance-score-trend',
    access,
    summary: 'Show how the score of a plan went',
    description: 'A mean each day, of the reports of its runs.',
    query: { days: Type.Optional(days) },
    answer: trendSchema,
    run: async ({ params, query: { days = 7 }, actor }, service) => {
      const { id } = await service.entry(plans, params.planId, actor);
      return { body: await trendOf([is('planId', id)], days, actor, service) };
    },
  }),
];

const gradeRecord = Type.Object({
  id: Type.String({ description: 'Id of the report' }),
  nodePath,
  deviceName,
  timestamp,
  error: count('Errors'),
  warning: count('Warnings'),
  info: count('Infos'),
  pass: count('Passes'),
  score,
  grade,
});

const topIssue = Type.Object({
  id: Type.String({ description: 'Id of the golden line' }),
  specWords: reportSchema.properties.issues.items.properties.spec.properties.words,
  count: count('Reports that have an issue with it'),
});

/** The words are those of one report with an issue about the line. */
const topIssuesOf = (latest: readonly Latest[], limit: number): readonly Static<typeof topIssue>[] => {
  const found = new Map<string, { count: number; readonly text: string }>();
  for (const { report, text } of latest)
    for (const line of report.lines) {
      const before = found.get(line);
      if (before) before.count++;
      else found.set(line, { count: 1, text });
    }
  const most = [...found].sort(([a, one], [b, other]) => other.count - one.count || (a < b ? -1 : 1)).slice(0, limit);
  return most.map(([id, { count, text }]) => {
    const { issues } = documentIn(complianceReports, { text });
    const words = issues.find(({ spec }) => spec.id === id)?.spec.words ?? [];
    return { id, specWords: [...words], count };
  });
};

const historyRoutes: readonly Route[] = [
  actionRoute({
    name: 'getGradeHistory',
    method: 'post',
    reads: true,
    path: `${path}/grade/history`,
    access,
    summary: 'List the grades of a device against a node',
    description: 'The newest come first.',
    body: closed({
      ...node,
      deviceName: name('Name of the device'),
      options: Type.Optional(
        closed({ limit: Type.Optional(limit), grading }, { description: 'How many, and how to grade' }),
      ),
    }),
    answer: Type.Array(gradeRecord),
    run: async ({ body: { options = {}, deviceName, ...node }, actor }, service) => {
      const all = [...(await ofNode(node, actor, service)), is('deviceName', deviceName)];
      const reports = await newestReports(all, options.limit ?? 25, actor, service);
      return {
        body: reports.map((report) => {
          const { id, nodePath, deviceName, timestamp, totals } = report;
          const { errors: error, warnings: warning, infos: info, passes: pass } = totals;
          const { score, grade } = graded(report, options);
          return { id, nodePath, deviceName, timestamp, error, warning, info, pass, score, grade };
        }),
      };
    },
  }),
  actionRoute({
    name: 'getComplianceHistory',
    method: 'post',
    reads: true,
    path: `${path}/history`,
    access,
    summary: 'List the reports on a node in time',
    description: 'The newest come first.',
    body: closed({
      options: closed(
        {
          ...node,
          devices: Type.Optional(
            Type.Array(name('Name of a device'), {
              minItems: 1,
              maxItems: 100,
              description: 'Which; all unless given',
            }),
          ),
          limit: Type.Optional(limit),
        },
        { description: 'Which reports' },
      ),
    }),
    answer: Type.Array(reportRecord),
    run: async ({ body: { options }, actor }, service) => {
      const { devices, limit = 25, ...node } = options;
      const any = devices?.map((device) => is('deviceName', device));
      const all = [...(await ofNode(node, actor, service)), ...(any ? [{ any }] : [])];
      return { body: (await newestReports(all, limit, actor, service)).map(recordOf) };
    },
  }),
  actionRoute({
    name: 'getTopIssues',
    method: 'post',
    reads: true,
    path: `${path}/topissues`,
    access,
    summary: 'List the golden lines that most devices do not fit',
    description:
      'By the issues in the newest report of each device and node that you may read. The most frequent come first.',
    body: closed({
      options: Type.Optional(
        closed(
          {
            treeId: Type.Optional(name('Id or name of the tree; all trees unless given')),
            limit: Type.Optional(limit),
          },
          { description: 'Which issues' },
        ),
      ),
    }),
    answer: Type.Array(topIssue),
    run: async ({ body: { options = {} }, actor }, service) => {
      const { treeId, limit = 25 } = options;
      const of = treeId === undefined ? anyTree : (await service.entry(trees, treeId, actor)).id;
      return { body: topIssuesOf(await latestEntries(of, actor, service), limit) };
    },
  }),
  actionRoute({
    name: 'getComplianceReports',
    method: 'post',
    reads: true,
    path: `${path}/details`,
    access,
    summary: 'Get compliance reports, all or none',
    description: 'In the order of the ids. Those that are not there are 404, naming all.',
    body: closed({
      reportIds: Type.Array(name('Id of a report'), {
        minItems: 1,
        maxItems: 100,
        description: 'Ids of the reports',
      }),
    }),
    answer: Type.Array(reportSchema),
    run: async ({ body: { reportIds }, actor }, { model }) => {
      const reports = await readableDocuments(model, complianceReports, reportIds, actor);
      const found = new Set(reports.map(({ _id }) => _id));
      refuseUnknownIds(
        reportIds.filter((id) => !found.has(id)),
        'compliance report',
        '/reportIds',
      );
      return { body: reports.map(reportIn) };
    },
  }),
];

/** Sums, grades and histories of compliance reports. */
export const complianceSummaryRoutes: readonly Route[] = [
  ...summaryRoutes,
  ...gradeRoutes,
  ...historyRoutes,
  ...trendRoutes,
  remediation,
];
