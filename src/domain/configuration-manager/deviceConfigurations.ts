import { type Static, type TObject, Type } from 'typebox';
import { aggregate, type Context, type EventOf, type SchemaData } from '../engine/core.ts';
import { defined } from '../engine/defined.ts';
import { RequestError } from '../engine/requestError.ts';
import type { Sealed } from '../engine/sealed.ts';
import { moment, sealed, text, textOrNull, topicsOf, whole } from '../engine/topics.ts';

/**
 * Facts about a configuration text, never the text itself. `digest` is keyed. `inventory`: the id of the inventory that the
 * device comes from, null if it comes from an adapter; earlier events have the name of either alone.
 */
const about = {
  adapter: text,
  device: text,
  digest: text,
  lines: whole,
  inventory: Type.Optional(textOrNull),
};
type About = SchemaData<TObject<typeof about>>;

const lines = Type.Array(text);

/** The facts about a change beside the adapter's answer. Secrets of the configuration are masked. */
const account = {
  /** The configuration shows every line; null if it could not be read, or does not tell. */
  verified: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
  output: Type.Optional(text),
  unrecognized: Type.Optional(lines),
  warnings: Type.Optional(lines),
  refused: Type.Optional(Type.Object({ line: whole, text })),
  /** The lines before the refused one that stay on the device; null if that is not known. */
  left: Type.Optional(Type.Union([lines, Type.Null()])),
  /** The lines that differ between before and after, as `diff -u` shows them; null if that is not known. */
  diff: Type.Optional(textOrNull),
  /** The device takes it back at this time, unless it is confirmed before. */
  confirmUntil: Type.Optional(moment),
  /** The ids of the copies before and after. */
  backups: Type.Optional(Type.Object({ before: textOrNull, after: textOrNull })),
};
export const changeAccountSchema = Type.Object(account);

/**
 * `status` and `answer` (JSON text) are the adapter's answer; null if there was none. `unverified`: nobody knows whether
 * the device took everything.
 */
const outcome = Type.Object({
  ...about,
  status: Type.Union([Type.Integer(), Type.Null()]),
  answer: Type.Union([sealed, Type.Null()]),
  reason: Type.Optional(text),
  unverified: Type.Optional(Type.Literal(true)),
  ...account,
});
type Outcome = Omit<SchemaData<typeof outcome>, keyof About>;

const topics = topicsOf({
  /** Stored before the device is called. If none of the other events follows, the outcome is unknown. */
  deviceConfigurationAttempted: ['A device is about to be configured', Type.Object(about)],
  deviceConfigurationApplied: ['A device took a configuration', outcome],
  deviceConfigurationConfirmed: [
    'A configuration was confirmed, which the device would have taken back',
    Type.Object({ adapter: text, device: text }),
  ],
  deviceConfigurationFailed: ['A device did not take a configuration', outcome],
});
export type DeviceConfigurationEvent = EventOf<typeof topics>;

export type DeviceConfigurationState = {
  readonly about?: About;
  readonly outcome?: Outcome & { readonly applied: boolean };
  /** The change waits until this time for a confirmation. */
  readonly confirmUntil?: number;
};

/** One attempt to apply a configuration to a device (docs/southbound.md). */
export const deviceConfiguration = aggregate<DeviceConfigurationState, DeviceConfigurationEvent>({
  area: 'configuration-manager',
  category: 'deviceConfiguration',
  topics,
  initial: {},
  evolve: {
    deviceConfigurationAttempted: (_, about) => ({ about }),
    deviceConfigurationApplied: (state, { status, answer, confirmUntil }) => ({
      ...state,
      outcome: { applied: true, status, answer },
      ...defined({ confirmUntil }),
    }),
    deviceConfigurationConfirmed: ({ confirmUntil: _, ...state }) => state,
    deviceConfigurationFailed: (state, { status, answer, reason }) => ({
      ...state,
      outcome: { applied: false, status, answer, ...defined({ reason }) },
    }),
  },
  exists: ({ about }) => about !== undefined,
});

export const attemptSchema = Type.Object({
  adapter: Type.String(),
  device: Type.String(),
  digest: Type.String(),
  lines: Type.Integer(),
  inventory: Type.Union([Type.String(), Type.Null()]),
});

/** The outcome of a call: the answer, or the reason why there is none. `unverified`: whether it was all taken is not known. */
export const outcomeSchema = Type.Object({
  status: Type.Union([Type.Integer(), Type.Null()]),
  text: Type.Union([Type.String(), Type.Null()]),
  reason: Type.Optional(Type.String()),
  unverified: Type.Optional(Type.Literal(true)),
  account: Type.Optional(changeAccountSchema),
});

export const attempt = (_: unknown, about: About): readonly DeviceConfigurationEvent[] => [
  { topic: 'deviceConfigurationAttempted', data: about },
];

/** True if the answer with this status says that the device took the configuration. */
export const isApplied = (status: number | null): boolean => status !== null && status >= 200 && status < 300;

/** `answer` is the sealed text of the answer. Only the first outcome counts. */
export const conclude = (
  { about, outcome }: DeviceConfigurationState,
  { status, reason, unverified, account }: Omit<Static<typeof outcomeSchema>, 'text'>,
  { refs }: Context<{ readonly answer: Sealed | null }>,
): readonly DeviceConfigurationEvent[] => {
  if (!about || outcome) return [];
  const data = { ...about, status, answer: refs.answer, ...defined({ reason, unverified }), ...account };
  return [{ topic: isApplied(status) ? 'deviceConfigurationApplied' : 'deviceConfigurationFailed', data }];
};

/** True if the device waits for a confirmation of the change. */
export const waitsForConfirmation = ({ confirmUntil }: DeviceConfigurationState, now: number): boolean =>
  confirmUntil !== undefined && now < confirmUntil;

export const noneWaits = (): RequestError =>
  new RequestError('conflict', 'No change of this device waits to be confirmed', { path: '/change' });

export const confirm = (state: DeviceConfigurationState): readonly DeviceConfigurationEvent[] => {
  const { about, confirmUntil } = state;
  if (!about || confirmUntil === undefined) throw noneWaits();
  const { adapter, device } = about;
  return [{ topic: 'deviceConfigurationConfirmed', data: { adapter, device } }];
};
