import { type Static, Type } from 'typebox';
import { aggregate, type Context, type Event } from '../engine/core.ts';
import { defined } from '../engine/defined.ts';
import type { Sealed } from '../engine/sealed.ts';

/** Facts about a configuration text, never the text itself. `digest` is keyed. */
type About = { readonly adapter: string; readonly device: string; readonly digest: string; readonly lines: number };

/**
 * `status` and `answer` (JSON text) are the adapter's answer; null if there was none. `unverified`: nobody knows whether
 * the device took everything.
 */
type Outcome = {
  readonly status: number | null;
  readonly answer: Sealed | null;
  readonly reason?: string;
  readonly unverified?: true;
};

export type DeviceConfigurationEvent =
  /** Stored before the device is called. If none of the other events follows, the outcome is unknown. */
  | Event<'deviceConfigurationAttempted', About>
  | Event<'deviceConfigurationApplied', About & Outcome>
  | Event<'deviceConfigurationFailed', About & Outcome>;

export type DeviceConfigurationState = {
  readonly about?: About;
  readonly outcome?: Outcome & { readonly applied: boolean };
};

/** One attempt to apply a configuration to a device (docs/southbound.md). */
export const deviceConfiguration = aggregate<DeviceConfigurationState, DeviceConfigurationEvent>({
  area: 'configuration-manager',
  category: 'deviceConfiguration',
  initial: {},
  evolve: {
    deviceConfigurationAttempted: (_, about) => ({ about }),
    deviceConfigurationApplied: (state, { status, answer }) => ({
      ...state,
      outcome: { applied: true, status, answer },
    }),
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
});

/** The outcome of a call: the answer, or the reason why there is none. `unverified`: whether it was all taken is not known. */
export const outcomeSchema = Type.Object({
  status: Type.Union([Type.Integer(), Type.Null()]),
  text: Type.Union([Type.String(), Type.Null()]),
  reason: Type.Optional(Type.String()),
  unverified: Type.Optional(Type.Literal(true)),
});

export const attempt = (_: unknown, about: About): readonly DeviceConfigurationEvent[] => [
  { topic: 'deviceConfigurationAttempted', data: about },
];

/** `answer` is the sealed text of the answer. Only the first outcome counts. */
export const conclude = (
  { about, outcome }: DeviceConfigurationState,
  { status, reason, unverified }: Omit<Static<typeof outcomeSchema>, 'text'>,
  { refs }: Context<{ readonly answer: Sealed | null }>,
): readonly DeviceConfigurationEvent[] => {
  if (!about || outcome) return [];
  const data = { ...about, status, answer: refs.answer, ...defined({ reason, unverified }) };
  const applied = status !== null && status >= 200 && status < 300;
  return [{ topic: applied ? 'deviceConfigurationApplied' : 'deviceConfigurationFailed', data }];
};
