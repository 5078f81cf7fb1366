import { type Static, Type } from 'typebox';
import { aggregate, type Context, type EventOf, type SchemaData } from '../engine/core.ts';
import { closed, name } from '../engine/schemas.ts';
import { nothing, object, text, textOrNull, texts, topicsOf, typed, whole } from '../engine/topics.ts';
import { gradingSchema as grading } from './planSchemas.ts';

const count = Type.Integer({ minimum: 0 });
const totals = Type.Object(
  { errors: count, warnings: count, infos: count, passes: count },
  { description: 'Sums of the reports' },
);

const failure = Type.Object({ device: text, reason: text });

/**
 * A node of a golden configuration that devices are checked against. `revision`: of the tree as the run began. `copies`: the
 * copies that are checked in place of the devices, one for each.
 */
const batchNode = Type.Object({
  treeId: text,
  version: text,
  nodeId: text,
  nodePath: text,
  revision: whole,
  variables: Type.Optional(object),
  devices: texts,
  copies: Type.Optional(texts),
});

/** The inventories of the devices: whoever may read the run may read these. */
const inventories = Type.Optional(texts);

const start = Type.Object({
  job: text,
  plan: textOrNull,
  nodes: Type.Array(batchNode),
  failed: Type.Array(failure),
  throttle: Type.Optional(whole),
  grading: Type.Optional(grading),
  inventories,
});
export type BatchStart = SchemaData<typeof start>;
export type BatchNode = BatchStart['nodes'][number];

const end = Type.Object({
  plan: textOrNull,
  batch: text,
  job: text,
  totals,
  grade: textOrNull,
  devices: whole,
  failed: Type.Array(failure),
  inventories,
});
export type BatchEnd = SchemaData<typeof end>;

const request = Type.Object({ job: text, plan: textOrNull, inventories });
export type BatchRequest = SchemaData<typeof request>;

/** How a run stops before its end. */
export type RunStop = 'canceled' | 'error';

const topics = topicsOf({
  complianceRunRequested: ['A run of compliance checks was started; its job waits', request],
  complianceRunStarted: ['A run of compliance checks began', start],
  complianceRunStopped: [
    'The job of a run of compliance checks was canceled, ended in error, or is not offered any more',
    Type.Object({ status: typed<RunStop>()(text) }),
  ],
  complianceRunResumed: ['A run of compliance checks that had stopped goes on', nothing],
  compliancePlanRan: ['A run of compliance checks ended', end],
});
export type ComplianceBatchEvent = EventOf<typeof topics>;

export type ComplianceBatchState = {
  readonly requested?: true;
  readonly started?: BatchStart;
  readonly stopped?: true;
  readonly ended?: BatchEnd;
};

/** One run of compliance checks: the pairs of devices and nodes as it began, and the sums as it ended. */
export const complianceBatch = aggregate<ComplianceBatchState, ComplianceBatchEvent>({
  area: 'configuration-manager',
  category: 'complianceBatch',
  topics,
  initial: {},
  evolve: {
    complianceRunRequested: () => ({ requested: true }),
    complianceRunStarted: (state, started) => ({ ...state, started }),
    complianceRunStopped: (state) => ({ ...state, stopped: true }),
    complianceRunResumed: ({ stopped: _, ...state }) => state,
    compliancePlanRan: (state, ended) => ({ ...state, ended }),
  },
  exists: ({ requested = false, started }) => requested || started !== undefined,
});

/** So that a batch is there before its job has begun. */
export const requestBatch = (
  { requested, started }: ComplianceBatchState,
  input: BatchRequest,
): readonly ComplianceBatchEvent[] => (requested || started ? [] : [{ topic: 'complianceRunRequested', data: input }]);

/** A run that is taken up again has begun before: its pairs stay. */
export const beginBatch = ({ started }: ComplianceBatchState, input: BatchStart): readonly ComplianceBatchEvent[] =>
  started ? [] : [{ topic: 'complianceRunStarted', data: input }];

/** Carries out what became of the job. `stop` is null if it goes on. */
export const stopBatch = (
  { requested, started, stopped, ended }: ComplianceBatchState,
  _: object,
  { refs: { stop } }: Context<{ readonly stop: RunStop | null }>,
): readonly ComplianceBatchEvent[] => {
  if ((!requested && !started) || ended || (stopped ?? false) === (stop !== null)) return [];
  return [
    stop ? { topic: 'complianceRunStopped', data: { status: stop } } : { topic: 'complianceRunResumed', data: {} },
  ];
};

export const endBatch = (
  { started, ended }: ComplianceBatchState,
  input: Omit<BatchEnd, 'batch' | 'job' | 'plan'>,
  { id }: Context,
): readonly ComplianceBatchEvent[] =>
  !started || ended
    ? []
    : [{ topic: 'compliancePlanRan', data: { ...input, batch: id, job: started.job, plan: started.plan } }];

/** A run in the read models. `started`, `finished`: ISO times; one that stopped has finished, too. `devices`: their number. */
export type BatchDoc = {
  readonly _id: string;
  readonly job: string;
  readonly planId: string | null;
  readonly started: string;
  readonly finished: string | null;
  readonly nodes: readonly (Pick<BatchNode, 'treeId' | 'nodeId'> & {
    readonly status: 'running' | 'completed' | 'canceled' | 'error';
    readonly devices: number;
  })[];
  readonly devices: number;
  readonly totals: BatchEnd['totals'] | null;
  readonly grade: 'pass' | 'review' | 'fail' | null;
  readonly failed: BatchEnd['failed'];
  readonly inventories?: readonly string[];
};

const devices = Type.Optional(Type.Array(name('Name of a device'), { maxItems: 10_000, description: 'Devices' }));

const nodePath = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 4096,
    description: 'Names from the root, joined by /; the root unless given',
  }),
);

/** The checks of copies. */
export const copyChecksSchema = closed(
  {
    treeInfo: closed(
      { treeId: name('Id or name of the tree'), version: name('Name of the version'), nodePath },
      { description: 'The node' },
    ),
    backupIds: Type.Array(name('Id of a copy'), {
      minItems: 1,
      maxItems: 10_000,
      uniqueItems: true,
      description: 'Copies of configurations',
    }),
  },
  { title: 'CopyChecks', description: 'Copies to check, and against which node' },
);

/** The checks of a run that follows no plan. */
export const checksSchema = closed(
  {
    treeId: name('Id or name of the tree'),
    version: name('Name of the version'),
    nodePath,
    devices,
    deviceGroups: Type.Optional(
      Type.Array(name('Id or name of a device group'), { maxItems: 1000, description: 'Device groups' }),
    ),
    variables: Type.Optional(Type.Object({}, { additionalProperties: true, description: 'Variables by name' })),
  },
  { title: 'ComplianceChecks', description: 'Devices to check, and against which node' },
);
/** `backupIds`: copies that are checked in place of devices. */
export type Checks = Static<typeof checksSchema> & { readonly backupIds?: readonly string[] };
