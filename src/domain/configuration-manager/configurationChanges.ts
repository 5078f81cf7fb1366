import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { aggregate, type Context, type EventOf, type SchemaData } from '../engine/core.ts';
import { defined } from '../engine/defined.ts';
import { empty, entriesIn, get, type Layers, withAll } from '../engine/layeredMap.ts';
import { name } from '../engine/schemas.ts';
import { isSealed, type Sealed } from '../engine/sealed.ts';
import { nothing, text, textOrNull, texts, topicsOf, typed, whole } from '../engine/topics.ts';
import { type ChangeOptions, changeOptionsSchema } from './changeOptions.ts';

/**
 * - `waiting`: its turn has not come.
 * - `sent`: the device took all of it; `unverified`: it is not known whether it did; `failed`: it refused it.
 * - `unknown`: it was sent and no answer came; it is never sent again.
 * - `notSent`: the device was not called; `dryRun`: it was only tried out.
 */
export const rowStatuses = ['waiting', 'sent', 'unverified', 'failed', 'unknown', 'notSent', 'dryRun'] as const;
export type RowStatus = (typeof rowStatuses)[number];

const status = typed<RowStatus>()(text);

/** The outcome at one device. `change`: the id of the change that was sent to it. The diff is masked. */
const row = Type.Object({
  device: text,
  status,
  reason: Type.Optional(text),
  change: Type.Optional(text),
  backups: Type.Optional(Type.Object({ before: textOrNull, after: textOrNull })),
  diff: Type.Optional(textOrNull),
});
export type ChangeRow = SchemaData<typeof row>;

/** `template`: the device template that makes the texts, as it is when the change begins. */
const template = Type.Optional(Type.Object({ id: text, revision: whole }));

const start = Type.Object({ job: text, devices: texts, template });

export type ChangeStart = SchemaData<typeof start>;

const topics = topicsOf({
  configurationChangeStarted: ['A configuration is about to be sent to devices, one after the other', start],
  configurationChangeTriedOut: ['A configuration was tried out on all its devices, and none refused it', nothing],
  /** `was`: the status before. */
  configurationChangeReported: [
    'Devices were sent a configuration, or were left out',
    Type.Object({ rows: Type.Array(Type.Object({ ...row.properties, was: status })) }),
  ],
  configurationChangeEnded: ['No device waits for a configuration any more', nothing],
});
export type ConfigurationChangeEvent = EventOf<typeof topics>;

/** `failures`: how many devices did not take it since it began, or was begun again. */
export type ConfigurationChangeState = {
  readonly devices?: readonly string[];
  readonly template?: ChangeStart['template'];
  readonly statuses: Layers<RowStatus>;
  readonly triedOut: boolean;
  readonly failures: number;
  readonly ended: boolean;
};

const failing: readonly RowStatus[] = ['failed', 'unknown', 'notSent'];
const failuresIn = (rows: readonly Pick<ChangeRow, 'status'>[]): number =>
  rows.filter(({ status }) => failing.includes(status)).length;

const initial: ConfigurationChangeState = {
  statuses: empty,
  triedOut: false,
  failures: 0,
  ended: false,
};

/** A configuration that a job sends to many devices: a row for each. The id is that of the job. */
export const configurationChange = aggregate<ConfigurationChangeState, ConfigurationChangeEvent>({
  area: 'configuration-manager',
  category: 'configurationChange',
  topics,
  initial,
  evolve: {
    configurationChangeStarted: (_, { devices, template }) => ({ ...initial, devices, ...defined({ template }) }),
    configurationChangeTriedOut: (state) => ({ ...state, triedOut: true, ended: false }),
    configurationChangeReported: (state, { rows }) => ({
      ...state,
      statuses: withAll(
        state.statuses,
        rows.map(({ device, status }) => [device, status]),
      ),
      failures: state.failures + failuresIn(rows),
      ended: false,
    }),
    configurationChangeEnded: (state) => ({ ...state, triedOut: false, failures: 0, ended: true }),
  },
  exists: ({ devices }) => devices !== undefined,
});

/** A run that is taken up again has begun before: its devices stay. */
export const begin = (
  { devices }: ConfigurationChangeState,
  input: ChangeStart,
): readonly ConfigurationChangeEvent[] => (devices ? [] : [{ topic: 'configurationChangeStarted', data: input }]);

export const noteTrial = ({ triedOut }: ConfigurationChangeState): readonly ConfigurationChangeEvent[] =>
  triedOut ? [] : [{ topic: 'configurationChangeTriedOut', data: {} }];

const statusOf = ({ statuses }: ConfigurationChangeState, device: string): RowStatus =>
  get(statuses, device) ?? 'waiting';

/** The answer of a device counts for good. No answer is better than that it was called; nothing else changes that. */
const isNews = (was: RowStatus, { status }: ChangeRow): boolean => {
  if (was === 'sent' || was === 'unverified' || was === 'failed') return false;
  return was !== 'unknown' || status === 'sent' || status === 'unverified' || status === 'failed';
};

const newsIn = (state: ConfigurationChangeState, rows: readonly ChangeRow[]): readonly ConfigurationChangeEvent[] => {
  const news = rows.map((one) => ({ ...one, was: statusOf(state, one.device) })).filter((one) => isNews(one.was, one));
  return news.length > 0 ? [{ topic: 'configurationChangeReported', data: { rows: news } }] : [];
};

export const report = (
  state: ConfigurationChangeState,
  { rows }: { readonly rows: readonly ChangeRow[] },
): readonly ConfigurationChangeEvent[] => newsIn(state, rows);

/** The devices that are still to be sent the configuration. */
export const devicesToSend = (state: ConfigurationChangeState): readonly string[] =>
  (state.devices ?? []).filter((device) => ['waiting', 'notSent'].includes(statusOf(state, device)));

export const devicesWaiting = (state: ConfigurationChangeState): readonly string[] =>
  (state.devices ?? []).filter((device) => statusOf(state, device) === 'waiting');

/** How many devices have each status. */
export const totalsOf = (state: ConfigurationChangeState): Readonly<Record<RowStatus, number>> => {
  const totals: Record<RowStatus, number> = { ...noRows, waiting: state.devices?.length ?? 0 };
  for (const status of entriesIn(state.statuses).values()) {
    totals[status]++;
    totals.waiting--;
  }
  return totals;
};

export const noRows = Object.fromEntries(rowStatuses.map((status) => [status, 0])) as Readonly<
  Record<RowStatus, number>
>;

/** Devices that still wait are left out; of those that were called no answer is known. `calls`: the ids of their changes. */
export const end = (
  state: ConfigurationChangeState,
  _: object,
  { refs: { calls } }: Context<{ readonly calls: ReadonlyMap<string, string> }>,
): readonly ConfigurationChangeEvent[] => {
  if (!state.devices || state.ended) return [];
  const rows = devicesWaiting(state).map((device): ChangeRow => {
    const change = calls.get(device);
    return change === undefined ? { device, status: 'notSent' } : unknownRow(device, change);
  });
  return [...newsIn(state, rows), { topic: 'configurationChangeEnded', data: {} }];
};

/** The row of a device that was called and whose answer nobody has heard. */
export const unknownRow = (device: string, change: string): ChangeRow => ({
  device,
  status: 'unknown',
  reason: 'It was sent, and the outcome is not known. Look at the device',
  change,
});

const devices = Type.Optional(
  Type.Array(name('Name of a device'), { minItems: 1, maxItems: 10_000, description: 'Devices' }),
);
const deviceGroups = Type.Optional(
  Type.Array(name('Id or name of a device group'), { minItems: 1, maxItems: 1000, description: 'Device groups' }),
);

const optionsSchema = Type.Object(
  {
    ...changeOptionsSchema.properties,
    dryRunFirst: Type.Optional(
      Type.Boolean({ description: 'Try it out on all devices first; nothing is sent if one of them refuses it' }),
    ),
  },
  { additionalProperties: true, title: 'ChangesOptions', description: 'Options; adapters may understand more' },
);
export type ChangesOptions = ChangeOptions & { readonly dryRunFirst?: boolean };

/** A change of many devices. */
export const changesSchema = Type.Object(
  {
    devices,
    deviceGroups,
    config: Type.Optional(Type.String({ description: 'Configuration text', minLength: 1 })),
    template: Type.Optional(name('Id or name of a device template, in the place of a text')),
    variables: Type.Optional(
      Type.Unsafe<Readonly<Record<string, unknown>>>(
        Type.Object({}, { additionalProperties: true, description: 'Variables of the template by name' }),
      ),
    ),
    options: Type.Optional(Type.Unsafe<ChangesOptions>(optionsSchema)),
    throttle: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 50, default: 5, description: 'How many devices are changed at once' }),
    ),
    stopAfterFailures: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 10_000, description: 'The rest is not sent after so many failures' }),
    ),
  },
  { additionalProperties: false, title: 'ConfigurationChanges', description: 'Devices to change, and how' },
);
export type Changes = Static<typeof changesSchema>;

const compiled = Compile(changesSchema);

/** The fault of a change without a text, or with two. */
export const oneText = 'Either config or template is needed';

/** The variables of a job as a change, whose text may be sealed; else where they are wrong, and how. */
export const changesIn = (
  variables: Readonly<Record<string, unknown>>,
):
  | { readonly changes: Omit<Changes, 'config'> & { readonly config?: string | Sealed } }
  | { readonly fault: string } => {
  const members = Object.keys(changesSchema.properties).filter((member) => variables[member] !== undefined);
  const wish = Object.fromEntries(members.map((member) => [member, variables[member]]));
  const plain = isSealed(wish.config) ? { ...wish, config: 'sealed' } : wish;
  const [error] = compiled.Check(plain) ? [] : compiled.Errors(plain);
  if (!error && (wish.config === undefined) === (wish.template === undefined)) return { fault: oneText };
  return error ? { fault: `${error.instancePath} ${error.message}`.trim() } : { changes: wish as Changes };
};
