import { type Comparison, noTotals } from '@automation-platform/configurations';
import type { Members } from '@automation-platform/json';
import { Type } from 'typebox';
import { objectId, time } from '../engine/authors.ts';
import { aggregate, type Context, type EventOf } from '../engine/core.ts';
import { defined } from '../engine/defined.ts';
import { withMembers } from '../engine/exactMembers.ts';
import { orNull } from '../engine/schemas.ts';
import { text, textOrNull, texts, topicsOf } from '../engine/topics.ts';
import { type Line, lastOf, pathOf } from './treeNodes.ts';
import type { TreeVersion } from './treeSchemas.ts';
import type { TreeState } from './trees.ts';

/** The facts about a device that is checked. `attributes` are those of its node in an inventory. */
export type CheckedDevice = {
  readonly name: string;
  readonly ostype?: string;
  readonly host?: string;
  readonly adapter?: string;
  readonly attributes?: Members;
};

/** The node that a device is checked against: its version, and the nodes from the root down to it. */
export type Checked = { readonly treeId: string; readonly version: TreeVersion; readonly line: Line };

/**
 * The texts of the nodes from the root down, with the variables that they see: those of the version, those of the plan
 * over them, and `device` unless one of them has that name. Secrets are sealed.
 */
export const checkOf = (
  { deviceType }: Pick<TreeState, 'deviceType'>,
  { version, line }: Checked,
  { attributes = {}, ...device }: CheckedDevice,
  ofPlan: Members = {},
) => ({
  texts: line.map(({ template = '' }) => template),
  variables: withMembers(withMembers({ device: withMembers(attributes, device) }, version.variables), ofPlan),
  deviceType: deviceType ?? device.ostype ?? '',
});

/** Why texts of a type are not compared; undefined: they are. */
export const whyNotCompared = (type: string): string | undefined =>
  type === 'json' ? 'Configurations of the type json are kept, but not checked' : undefined;

/** A comparison, or why there is none. `text` is the place of the text that has the line; null: the configuration. */
export type Outcome =
  | Comparison
  | { readonly reason: string; readonly line: number; readonly text: number | null }
  | { readonly reason: string };

type About = Checked & {
  readonly device: string;
  readonly deviceType: string;
  readonly timestamp: string;
  /** A keyed digest of the configuration, and the number of its lines; null if it could not be read. */
  readonly configuration: { readonly digest: string; readonly lines: number } | null;
};

const reasonWithPlace = (outcome: Extract<Outcome, { readonly reason: string }>, line: Line): string => {
  if (!('line' in outcome)) return outcome.reason;
  const place =
    outcome.text === null
      ? 'The configuration'
      : `The text of ${pathOf(line.slice(0, outcome.text + 1) as readonly Line[number][] as Line)}`;
  return `${place}, line ${outcome.line}: ${outcome.reason}`;
};

type Report = ReturnType<typeof reportOf>;
/** `inventory`: that of the device; null: an adapter's device, or none. Reports of earlier versions do not say it. */
export type StoredReport = Omit<Report, 'id' | 'batchId' | 'planId' | 'inheritedSpecIds'> & {
  readonly inventory?: string | null;
  readonly inheritedSpecIds: readonly string[];
  readonly id: string;
  readonly batchId: string;
  readonly planId: string | null;
  readonly backupId?: string;
};

/** The report on one device and one node. One that could not be compared has no score: it never counts as compliant. */
export const reportOf = (about: About, outcome: Outcome) => {
  const { treeId, version, line, device, deviceType, timestamp, configuration } = about;
  const isFailure = 'reason' in outcome;
  return {
    id: null,
    batchId: null,
    planId: null,
    treeId,
    version: version.name,
    nodePath: pathOf(line),
    nodeId: lastOf(line).configId,
    deviceName: device,
    deviceType,
    timestamp,
    status: isFailure ? ('error' as const) : ('complete' as const),
    ...(isFailure && { reason: reasonWithPlace(outcome, line) }),
    specId: lastOf(line).configId,
    inheritedSpecIds: line.slice(0, -1).map(({ configId }) => configId),
    totals: isFailure ? noTotals : outcome.totals,
    score: isFailure ? null : outcome.score,
    grade: isFailure ? null : outcome.grade,
    issues: isFailure ? [] : outcome.issues,
    ...(!isFailure && defined({ truncated: outcome.truncated })),
    configuration,
  };
};

const count = Type.Integer({ minimum: 0 });

/** A line of a specification or of an issue. */
export const specLineSchema = Type.Object(
  {
    id: Type.String(),
    words: Type.Array(
      Type.Object({ type: Type.Union([Type.Literal('literal'), Type.Literal('regex')]), value: Type.String() }),
    ),
    lines: Type.Array(Type.Any(), { description: 'Lines below it, of the same form' }),
    evalMode: Type.Enum(['required', 'disallowed', 'ignored']),
    severity: Type.Enum(['error', 'warning', 'info']),
    ordering: Type.Enum(['none', 'strict', 'loose']),
    fixMode: Type.Literal('manual'),
    membership: Type.Literal('default'),
  },
  { title: 'GoldenLine', description: 'Line of a golden configuration' },
);

/** A report in answers. */
export const reportSchema = Type.Object(
  {
    id: orNull(objectId('Id; null if it is not stored')),
    batchId: orNull(objectId('Id of the batch; null if there is none')),
    planId: orNull(objectId('Id of the plan; null if there is none')),
    backupId: Type.Optional(objectId('Id of the copy that was compared; without one, the device was read')),
    treeId: objectId('Id of the tree'),
    version: Type.String({ description: 'Name of the version' }),
    nodePath: Type.String({ description: 'Path of the node' }),
    nodeId: objectId('configId of the node'),
    deviceName: Type.String({ description: 'Name of the device' }),
    deviceType: Type.String({ description: 'Type by which both texts were read' }),
    timestamp: time('When it was compared'),
    status: Type.Enum(['complete', 'error'], { description: 'error: it could not be read or compared' }),
    reason: Type.Optional(Type.String({ description: 'Why it could not be compared' })),
    specId: Type.String({ description: 'configId of the text of the node' }),
    inheritedSpecIds: Type.Array(Type.String(), { description: 'configIds of the texts above, the root first' }),
    totals: Type.Object({ errors: count, warnings: count, infos: count, passes: count }),
    score: orNull(Type.Number({ description: 'Of 100, to two decimals; null if nothing was compared' })),
    grade: orNull(Type.Enum(['pass', 'review', 'fail'])),
    issues: Type.Array(
      Type.Object({
        severity: Type.Enum(['error', 'warning', 'info']),
        type: Type.Enum(['required', 'disallowed', 'order']),
        message: Type.String(),
        parents: Type.Array(Type.String(), { description: 'The lines that it is below' }),
        spec: specLineSchema,
        found: orNull(Type.String({ description: "The device's line" })),
      }),
      { description: '2,000 at most; secrets are masked' },
    ),
    truncated: Type.Optional(Type.Literal(true, { description: 'There are more issues; the totals count all' })),
    configuration: orNull(Type.Object({ digest: Type.String(), lines: count })),
  },
  { title: 'ComplianceReport', description: 'Differences between a device and its golden configuration' },
);

/** A report in events. `follows`: in earlier versions the reports that it takes the place of as the newest. */
const storedReport = Type.Unsafe<StoredReport & { readonly follows?: readonly string[] }>(
  Type.Object({
    ...reportSchema.properties,
    inventory: Type.Optional(textOrNull),
    follows: Type.Optional(texts),
  }),
);

const change = Type.Object({
  device: text,
  treeId: text,
  version: text,
  nodeId: text,
  nodePath: text,
  plan: textOrNull,
  report: text,
  from: textOrNull,
  to: textOrNull,
});

const topics = topicsOf({
  complianceReported: ['A device was compared with a golden configuration', storedReport],
  deviceComplianceChanged: ['The grade of a device against a node differs from that of the report before', change],
  complianceReportFollowed: ['A newer report on the same device and node is there', Type.Object({ by: text })],
});
export type ComplianceReportEvent = EventOf<typeof topics>;

/** `changed`: its grade differs from that of the report before. `by`: the next report on the same device and node. */
export type ComplianceReportState = { readonly report?: StoredReport; readonly changed?: true; readonly by?: string };

/** A report that is stored. It never changes, but for the note that a newer one is there. */
export const complianceReport = aggregate<ComplianceReportState, ComplianceReportEvent>({
  area: 'configuration-manager',
  category: 'complianceReport',
  topics,
  initial: {},
  evolve: {
    complianceReported: (_, { follows: _follows, ...report }) => ({ report }),
    deviceComplianceChanged: (state) => ({ ...state, changed: true }),
    complianceReportFollowed: (state, { by }) => ({ ...state, by }),
  },
  exists: ({ report }) => report !== undefined,
});

type Subject = Pick<StoredReport, 'deviceName' | 'treeId' | 'version' | 'nodeId' | 'planId' | 'inventory'>;

/**
 * The device, the node, the plan and the inventory of a report: reports of another plan or inventory have other readers, so
 * they do not count.
 */
export const subjectOf = ({ deviceName, treeId, version, nodeId, planId, inventory }: Subject): string =>
  `${deviceName}\n${JSON.stringify([treeId, version, nodeId, planId, ...(inventory == null ? [] : [inventory])])}`;

/** The grade of a report as changes name it: a device that could not be checked has a grade of its own. */
export const gradeIn = ({ status, grade }: StoredReport): string | null => (status === 'error' ? 'error' : grade);

/** Each pair of a run has one report: one that is there stays. */
export const storeReport = (
  { report }: ComplianceReportState,
  input: StoredReport,
): readonly ComplianceReportEvent[] => (report ? [] : [{ topic: 'complianceReported', data: input }]);

/** Says that the grade differs from that of the report before, once. */
export const compareGrades = (
  { report, changed }: ComplianceReportState,
  _: { readonly after: string },
  { refs: before }: Context<StoredReport | undefined>,
): readonly ComplianceReportEvent[] => {
  if (!report || !before || changed || gradeIn(before) === gradeIn(report)) return [];
  const { id, deviceName: device, treeId, version, nodeId, nodePath, planId: plan } = report;
  const places = { device, treeId, version, nodeId, nodePath, plan, report: id };
  return [{ topic: 'deviceComplianceChanged', data: { ...places, from: gradeIn(before), to: gradeIn(report) } }];
};

/** Notes a newer report. The first one counts. */
export const followReport = (
  { report, by }: ComplianceReportState,
  input: { readonly by: string },
): readonly ComplianceReportEvent[] =>
  report && by === undefined ? [{ topic: 'complianceReportFollowed', data: { by: input.by } }] : [];
